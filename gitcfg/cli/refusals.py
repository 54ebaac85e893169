"""The errors that concern what was rendered: they are told beside it, and are the exit code."""

from gitcfg.cli.session import Session
from gitcfg.library import Fleet
from gitcfg.model import Finding


def print_errors_of(session: Session, fleet: Fleet, names: tuple[str, ...]) -> int:
    """Tell the errors that concern these nodes; 1 if there are any."""
    return print_errors(session, fleet, errors_of(fleet, names))


def errors_of(fleet: Fleet, names: tuple[str, ...]) -> list[Finding]:
    """The errors that concern these nodes."""
    grave = [finding for finding in fleet.findings if finding.is_error]
    made_from = _files(fleet, names) if grave else frozenset()
    return [finding for finding in grave if _concerns(finding, names, made_from)]


def print_errors(session: Session, fleet: Fleet, errors: list[Finding]) -> int:
    """Tell errors that concern what was rendered; 1 if there are any."""
    if errors:
        from gitcfg.cli.findings import print_findings
        from gitcfg.model.text import counted

        console = session.console(stderr=True)
        print_findings(console, fleet.compiled.tree, errors, fleet.checked.every)
        verb = "concerns" if len(errors) == 1 else "concern"
        console.print(f"{counted(len(errors), 'error')} {verb} what was rendered.", style="red")
    return int(bool(errors))


def _files(fleet: Fleet, names: tuple[str, ...]) -> frozenset[str] | None:
    """The repository's files that nodes are made from; None: all of them, for all nodes."""
    if fleet.whole and len(names) == len(fleet):
        return None
    from gitcfg.compile.subset import find_source_files

    return frozenset[str]().union(*(find_source_files(fleet.compiled, name) for name in names))


def _concerns(finding: Finding, names: tuple[str, ...], made_from: frozenset[str] | None) -> bool:
    """Is a finding about one of these nodes, or about a file that one of them is made from?"""
    if finding.nodes:
        return not set(finding.nodes).isdisjoint(names)
    return made_from is None or not made_from.isdisjoint(origin.file for origin in finding.origins)
