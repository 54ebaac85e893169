"""Findings for eyes: what is wrong, the line where it is written, the nodes, and what to do."""

from collections.abc import Container, Iterable

from rich.console import Console
from rich.text import Text

from gitcfg.check.checked import Checked
from gitcfg.cli.plain import counted, safe
from gitcfg.git.tree import Tree
from gitcfg.model import Finding, Origin, Severity
from gitcfg.nodeset import fold

_COLOR = {Severity.ERROR: "bold red", Severity.WARNING: "bold yellow"}
_LONGEST_LINE = 160


def show(console: Console, tree: Tree, findings: Iterable[Finding], others: Iterable[Finding] = ()) -> None:
    """Each finding as a paragraph, errors first; `others` are known as well, and not told."""
    told = sorted(findings, key=lambda finding: not finding.is_error)
    veiled = _veiled((*told, *others))
    for finding in told:
        console.print(_paragraph(tree, finding, veiled))


def paragraph(tree: Tree, finding: Finding) -> Text:
    """One finding in full."""
    return _paragraph(tree, finding, _veiled([finding]))


def _veiled(findings: Iterable[Finding]) -> set[tuple[str, int]]:
    """The lines that may hold secrets."""
    return {_line(place) for finding in findings if finding.veiled for place in finding.origins}


def _line(origin: Origin) -> tuple[str, int]:
    return origin.file, origin.line


def _paragraph(tree: Tree, finding: Finding, veiled: Container[tuple[str, int]]) -> Text:
    text = Text()
    text.append(f"{finding.severity}[{finding.code}]", _COLOR[finding.severity])
    text.append(f" {safe(finding.message)}\n", "bold")
    for index, origin in enumerate(finding.origins):
        text.append("  --> " if index == 0 else "      ", "blue")
        text.append(f"{safe(str(origin))}\n", "blue")
        if index == 0 and _line(origin) not in veiled:
            text.append_text(_excerpt(tree, origin))
    if finding.nodes:
        text.append(f"  on {counted(len(finding.nodes), 'node')}: ")
        text.append(f"{fold(finding.nodes)}\n", "magenta")
    if finding.hint:
        text.append("  hint: ", "cyan")
        text.append(f"{safe(finding.hint)}\n")
    return text


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


def summary(console: Console, checked: Checked) -> None:
    """How it stands, in one line."""
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
        console.print(f"Nothing is wrong: {size}.", style="green")
