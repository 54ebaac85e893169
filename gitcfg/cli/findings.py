"""Findings for people: the cause first, the line in its file, the nodes, and what to do."""

from collections.abc import Container, Iterable

import msgspec
from rich.console import Console
from rich.text import Text

from gitcfg.check.results import Checked
from gitcfg.git.tree import Tree
from gitcfg.model import Finding, Ignore, Origin, Severity
from gitcfg.model.text import counted, safe
from gitcfg.nodeset import IN_JSON, abridged

_COLOR = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}
_LONGEST_LINE = 160
_FEW = 5
"""The number of paragraphs of a code that are shown."""
_PLACES = 10


class Detail(msgspec.Struct, frozen=True):
    """How to see what is left out: all findings, and all nodes of one. `whole`: nothing is left out."""

    findings: str = ""
    nodes: str = ""
    whole: bool = False


ALONE = Detail()
HERE = Detail("--all shows them", IN_JSON)
STAGED = Detail("`gitcfg check --staged --all` shows them", "`gitcfg check --staged -o json` lists all")


class Paragraph(msgspec.Struct):
    """Findings that are shown together: the first of them, others like it, and their consequences."""

    first: Finding
    others: list[Finding] = []
    following: list[Finding] = []
    nodes: set[str] = set()

    @property
    def size(self) -> int:
        """The number of findings in the paragraph."""
        return 1 + len(self.others) + len(self.following)


def print_findings(
    console: Console,
    tree: Tree,
    findings: Iterable[Finding],
    others: Iterable[Finding] = (),
    detail: Detail = ALONE,
) -> None:
    """Print findings, errors first. `others` are known as well, and not shown."""
    ordered = sorted(findings, key=lambda finding: not finding.is_error)
    veiled = _find_veiled((*ordered, *others))
    if detail.whole:
        for each in paragraphs(ordered):
            for finding in (each.first, *each.others, *each.following):
                console.print(_format_paragraph(tree, Paragraph(finding), veiled, detail))
        return
    codes: dict[tuple[Severity, str], list[Paragraph]] = {}
    for each in paragraphs(ordered):
        codes.setdefault((each.first.severity, each.first.code), []).append(each)
    for (severity, code), found in codes.items():
        for each in found[:_FEW]:
            console.print(_format_paragraph(tree, each, veiled, detail))
        if more := sum(each.size for each in found[_FEW:]):
            how = f" ({detail.findings})" if detail.findings else ""
            console.print(Text(f"... and {more:,} more {severity}s {code}{how}\n", _COLOR[severity]))


def paragraphs(findings: Iterable[Finding]) -> list[Paragraph]:
    """Return findings in order, each with its consequences and with those that differ only in their nodes."""
    findings = tuple(findings)
    causes = {finding.fact: finding.cause for finding in findings}
    found: list[Paragraph] = []
    alike: dict[tuple[str, ...], Paragraph] = {}
    following: list[Finding] = []
    for finding in findings:
        if finding.cause in causes:
            following.append(finding)
            continue
        known = alike.get(_alike(finding))
        if known is not None and finding.nodes and known.nodes.isdisjoint(finding.nodes):
            known.others.append(finding)
        else:
            known = alike[_alike(finding)] = Paragraph(finding)
            found.append(known)
        known.nodes.update(finding.nodes)
    roots = {one.fact: each for each in found for one in (each.first, *each.others)}
    for finding in following:
        fact, left = finding.fact, len(causes)
        while fact not in roots and left:
            fact, left = causes[fact], left - 1
        roots[fact].following.append(finding)
    return found


def _alike(finding: Finding) -> tuple[str, ...]:
    """Return a key that is equal for findings of one paragraph.

    It has their subjects or, for findings about one node each, the message without the node's name.
    """
    if len(finding.nodes) == 1 and finding.subjects == finding.nodes:
        return finding.severity, finding.code, "", finding.message.replace(finding.nodes[0], "NODE")
    return finding.severity, *finding.fact, finding.hint


def print_ignored(console: Console, tree: Tree, checked: Checked, detail: Detail) -> None:
    """Print the ignored warnings, grouped by their entry in gitcfg.yaml, each with its reason."""
    veiled = _find_veiled(checked.every)
    entries: dict[Ignore, list[Finding]] = {}
    for one in checked.ignored:
        entries.setdefault(one.by, []).append(one.finding)
    for entry, found in entries.items():
        until = f" (until {entry.until})" if entry.until is not None else ""
        for finding in found if detail.whole else found[:_FEW]:
            text = _format_paragraph(tree, Paragraph(finding), veiled, detail)
            text.append("  ignored: ", "cyan")
            console.print(text.append(f"{safe(entry.reason)}{until}\n"))
        if len(found) > _FEW and not detail.whole:
            how = f" ({detail.findings})" if detail.findings else ""
            console.print(f"... and {len(found) - _FEW:,} more {entry.code} that are ignored{how}\n")


def finding_text(tree: Tree, finding: Finding) -> Text:
    """Return the text of one finding in full."""
    return _format_paragraph(tree, Paragraph(finding), _find_veiled([finding]), ALONE)


def _find_veiled(findings: Iterable[Finding]) -> set[tuple[str, int]]:
    """Return the lines that may contain secrets."""
    return {_line(place) for finding in findings if finding.veiled for place in finding.origins}


def _line(origin: Origin) -> tuple[str, int]:
    return origin.file, origin.line


def _format_paragraph(
    tree: Tree, paragraph: Paragraph, veiled: Container[tuple[str, int]], detail: Detail
) -> Text:
    finding = paragraph.first
    text = _format_head(finding).append("\n")
    text.append_text(_format_places(tree, finding, veiled, detail.whole))
    if finding.nodes:
        text.append(f"  on {counted(len(finding.nodes), 'node')}: ")
        text.append(f"{safe(abridged(finding.nodes, detail.nodes))}\n", "magenta")
    if finding.hint:
        text.append("  hint: ", "cyan")
        text.append(f"{safe(finding.hint)}\n")
    text.append_text(_format_others(paragraph, detail))
    codes: dict[tuple[Severity, str], list[Finding]] = {}
    for one in paragraph.following:
        codes.setdefault((one.severity, one.code), []).append(one)
    for first, *rest in codes.values():
        more = f" And {len(rest):,} more {first.code}." if rest else ""
        line = _format_head(first).append(more, "not bold")
        text.append("  consequence: ", "dim").append_text(line).append("\n")
    return text


def _format_head(finding: Finding) -> Text:
    text = Text().append(f"{finding.severity}[{finding.code}]", _COLOR[finding.severity])
    return text.append(f" {safe(finding.message)}", "bold")


def _format_places(tree: Tree, finding: Finding, veiled: Container[tuple[str, int]], whole: bool) -> Text:
    text = Text()
    shown = finding.origins if whole else finding.origins[:_PLACES]
    for index, origin in enumerate(shown):
        text.append("  --> " if index == 0 else "      ", "blue")
        text.append(f"{safe(str(origin))}\n", "blue")
        if index == 0 and _line(origin) not in veiled:
            text.append_text(_excerpt(tree, origin))
    if more := len(finding.origins) - len(shown):
        text.append(f"      and {counted(more, 'more place')}\n", "blue")
    return text


def _format_others(paragraph: Paragraph, detail: Detail) -> Text:
    """Format the same finding on other nodes, with their messages if these differ."""
    words: dict[str, list[str]] = {}
    same = _alike(paragraph.first)[2] == ""
    for finding in paragraph.others:
        words.setdefault("" if same else finding.message, []).extend(finding.nodes)
    text = Text()
    for message, nodes in list(words.items())[:_FEW]:
        many = f"{counted(len(nodes), 'node')}" if message else counted(len(nodes), "more node")
        text.append(f"  also on {many}: ").append(safe(abridged(nodes, detail.nodes)), "magenta")
        text.append(f"\n    {safe(message)}\n" if message else "\n")
    if rest := list(words)[_FEW:]:
        text.append(f"  and {len(rest):,} more like it\n")
    return text


def _excerpt(tree: Tree, origin: Origin) -> Text:
    """Return the line that an origin points to, with a mark under its column."""
    entry = tree.entry(origin.file)
    if entry is None or entry.size > 1 << 20:
        return Text()
    lines = tree.read(entry).decode("utf-8", "replace").split("\n")
    line = lines[origin.line - 1].rstrip() if origin.line <= len(lines) else ""
    if not line.strip() or len(line) > _LONGEST_LINE or not line.isprintable():
        return Text()
    number = str(origin.line)
    mark = " " * (origin.column - 1) + "^"
    return Text(f"  {number} | {line}\n  {' ' * len(number)} | {mark}\n", "dim")


def print_summary(console: Console, checked: Checked, nothing: str = "Nothing is wrong") -> None:
    """Print the numbers of findings in one line; `nothing` is the text without any."""
    findings = checked.findings
    errors = sum(finding.is_error for finding in findings)
    warnings = len(findings) - errors
    numbers = {
        "node": checked.nodes,
        "group": checked.groups,
        "feature": checked.features,
        "parameter": checked.parameters,
    }
    size = ", ".join(counted(number, noun) for noun, number in numbers.items())
    if findings:
        console.print(
            f"{counted(errors, 'error')}, {counted(warnings, 'warning')} in {size}. "
            f"`gitcfg help {findings[0].code}` explains a code.",
            style="red" if errors else "yellow",
        )
    else:
        console.print(f"{nothing}: {size}.", style="green")
    if checked.ignored:
        verb, them = ("is", "it") if len(checked.ignored) == 1 else ("are", "them")
        number = counted(len(checked.ignored), "warning")
        console.print(f"{number} {verb} ignored: `gitcfg check --ignored` lists {them}.")
