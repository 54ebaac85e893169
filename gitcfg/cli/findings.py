"""Findings for people: the cause first, the line where it is written, the nodes, and what to do."""

from collections.abc import Container, Iterable, Iterator

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
"""So many paragraphs of a code are shown."""
_PLACES = 10


class Ways(msgspec.Struct, frozen=True):
    """How to see what is left out: all findings, and all nodes of one. `whole`: every finding is shown."""

    findings: str = ""
    nodes: str = ""
    whole: bool = False


ALONE = Ways()
HERE = Ways("--all shows them", IN_JSON)
STAGED = Ways("`gitcfg check --staged --all` shows them", "`gitcfg check --staged -o json` lists all")


class Paragraph(msgspec.Struct):
    """Findings that are told together: the first of them, others like it, and what follows from them."""

    first: Finding
    others: list[Finding] = []
    following: list[Finding] = []
    nodes: set[str] = set()

    @property
    def size(self) -> int:
        """How many findings it stands for."""
        return 1 + len(self.others) + len(self.following)


def print_findings(
    console: Console,
    tree: Tree,
    findings: Iterable[Finding],
    others: Iterable[Finding] = (),
    ways: Ways = ALONE,
) -> None:
    """Print findings, errors first. `others` are known as well, and not shown."""
    ordered = sorted(findings, key=lambda finding: not finding.is_error)
    veiled = _veiled((*ordered, *others))
    if ways.whole:
        for each in paragraphs(ordered):
            for finding in (each.first, *each.others, *each.following):
                console.print(_written(tree, Paragraph(finding), veiled, ways))
        return
    codes: dict[tuple[Severity, str], list[Paragraph]] = {}
    for each in paragraphs(ordered):
        codes.setdefault((each.first.severity, each.first.code), []).append(each)
    for (severity, code), found in codes.items():
        for each in found[:_FEW]:
            console.print(_written(tree, each, veiled, ways))
        if more := sum(each.size for each in found[_FEW:]):
            how = f" ({ways.findings})" if ways.findings else ""
            console.print(Text(f"... and {more:,} more {severity}s {code}{how}\n", _COLOR[severity]))


def paragraphs(findings: Iterable[Finding]) -> list[Paragraph]:
    """Findings in order, below each those that follow from it or differ from it in their nodes alone."""
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
    """What findings have in common that are told as one: what they are about, or all but the node's name."""
    if len(finding.nodes) == 1 and finding.subjects == finding.nodes:
        return finding.severity, finding.code, "", finding.message.replace(finding.nodes[0], "NODE")
    return finding.severity, *finding.fact, finding.hint


def print_ignored(console: Console, tree: Tree, checked: Checked, ways: Ways) -> None:
    """Print the warnings that are left out, each entry's together, and why they are."""
    veiled = _veiled(checked.every)
    entries: dict[Ignore, list[Finding]] = {}
    for one in checked.ignored:
        entries.setdefault(one.by, []).append(one.finding)
    for entry, found in entries.items():
        until = f" (until {entry.until})" if entry.until is not None else ""
        for finding in found if ways.whole else found[:_FEW]:
            text = _written(tree, Paragraph(finding), veiled, ways)
            text.append("  ignored: ", "cyan")
            console.print(text.append(f"{safe(entry.reason)}{until}\n"))
        if len(found) > _FEW and not ways.whole:
            how = f" ({ways.findings})" if ways.findings else ""
            console.print(f"... and {len(found) - _FEW:,} more {entry.code} that are ignored{how}\n")


def finding_text(tree: Tree, finding: Finding) -> Text:
    """One finding in full."""
    return _written(tree, Paragraph(finding), _veiled([finding]), ALONE)


def _veiled(findings: Iterable[Finding]) -> set[tuple[str, int]]:
    """The lines that may hold secrets."""
    return {_line(place) for finding in findings if finding.veiled for place in finding.origins}


def _line(origin: Origin) -> tuple[str, int]:
    return origin.file, origin.line


def _written(tree: Tree, told: Paragraph, veiled: Container[tuple[str, int]], ways: Ways) -> Text:
    finding = told.first
    text = _head(finding).append("\n")
    text.append_text(_places(tree, finding, veiled, ways.whole))
    if finding.nodes:
        text.append(f"  on {counted(len(finding.nodes), 'node')}: ")
        text.append(f"{safe(abridged(finding.nodes, ways.nodes))}\n", "magenta")
    if finding.hint:
        text.append("  hint: ", "cyan")
        text.append(f"{safe(finding.hint)}\n")
    text.append_text(_others(told, ways))
    for line in _following(told.following):
        text.append("  and so ", "dim").append_text(line).append("\n")
    return text


def _head(finding: Finding) -> Text:
    text = Text().append(f"{finding.severity}[{finding.code}]", _COLOR[finding.severity])
    return text.append(f" {safe(finding.message)}", "bold")


def _places(tree: Tree, finding: Finding, veiled: Container[tuple[str, int]], whole: bool) -> Text:
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


def _others(told: Paragraph, ways: Ways) -> Text:
    """The same of other nodes: what differs in words is told with them."""
    words: dict[str, list[str]] = {}
    same = _alike(told.first)[2] == ""
    for finding in told.others:
        words.setdefault("" if same else finding.message, []).extend(finding.nodes)
    text = Text()
    for message, nodes in list(words.items())[:_FEW]:
        many = f"{counted(len(nodes), 'node')}" if message else counted(len(nodes), "more node")
        text.append(f"  also on {many}: ").append(safe(abridged(nodes, ways.nodes)), "magenta")
        text.append(f"\n    {safe(message)}\n" if message else "\n")
    if rest := list(words)[_FEW:]:
        text.append(f"  and {len(rest):,} more like it\n")
    return text


def _following(found: Iterable[Finding]) -> Iterator[Text]:
    """A line for each code that follows: the first finding of it, and how many more."""
    codes: dict[tuple[Severity, str], list[Finding]] = {}
    for finding in found:
        codes.setdefault((finding.severity, finding.code), []).append(finding)
    for same in codes.values():
        more = len(same) - 1
        yield _head(same[0]).append(f" And {more:,} more {same[0].code}." if more else "", "not bold")


def _excerpt(tree: Tree, origin: Origin) -> Text:
    """The line that an origin points to, with a mark under its column."""
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
    """How it stands, in one line; `nothing` says that all is well."""
    findings = checked.findings
    errors = sum(finding.is_error for finding in findings)
    warnings = len(findings) - errors
    size = ", ".join(
        [
            counted(checked.nodes, "node"),
            counted(checked.groups, "group"),
            counted(checked.features, "feature"),
            counted(checked.parameters, "parameter"),
        ]
    )
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
