"""`gitcfg check`: everything that is wrong, for every node."""

from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.session import Output, Session
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.check.checked import Checked
    from gitcfg.library import Fleet

EPILOG = """Examples:

  gitcfg check                 the work tree, as it lies there

  gitcfg check --staged        what would be committed

  gitcfg check --at main~3 -o json --folded"""


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    staged: Annotated[bool, typer.Option("--staged", help="The index instead of the work tree.")] = False,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
    folded: Annotated[
        bool, typer.Option("--folded", help="JSON: only node sets, no lists of nodes.")
    ] = False,
    parsers: Annotated[
        bool,
        typer.Option(
            "--parsers/--no-parsers", help="Let targets' own parsers read what is rendered (GC307)."
        ),
    ] = True,
) -> int:
    """Check every definition and every node. Exits 1 if there are errors."""
    session: Session = context.obj
    if at is not None and staged:
        raise GitcfgError("--at and --staged do not go together.", "Say one of them.")
    with session.fleet(at, staged) as fleet:
        return tell(session, fleet, fleet.all_checked if parsers else fleet.checked, output, folded)


def tell(
    session: Session, fleet: "Fleet", checked: "Checked", output: Output = Output.TEXT, folded: bool = False
) -> int:
    """Write what a check found, and return the exit code."""
    if checked.unjudged:
        from gitcfg.cli.unjudged import tell_unjudged

        tell_unjudged(session.console(stderr=True), checked.unjudged)
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record
        from gitcfg.explain.records import findings_record

        write_record(findings_record(fleet.commit, checked.findings, folded), output)
    else:
        from gitcfg.cli.findings import show, summary

        show(session.console(), fleet.tree, checked.findings)
        summary(session.console(stderr=True), checked)
    return int(checked.grave)
