"""`gitcfg solve`: decide where rules place features and who gets which values, and write allocations."""

from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli import editing as say
from gitcfg.cli.session import Output, Session

if TYPE_CHECKING:
    from gitcfg.cli.solving.decision import Decision

EPILOG = """What stands changes as little as can be. Exit code 1: there is no answer, or it would add errors.

Examples:

  gitcfg solve --dry-run                        what would be decided

  gitcfg solve && git add -A && git commit      the decision and its reasons

  gitcfg solve --dry-run -o json"""

_DRY_RUN = typer.Option("--dry-run", help="Tell it, and write nothing.")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    dry_run: Annotated[bool, _DRY_RUN] = False,
    force: say.Force = False,
    commit: say.Commit = False,
    message: say.Message = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """Decide what rules leave open, and write it to allocations/."""
    from gitcfg.cli.edited import carried, tell, wish
    from gitcfg.cli.solving.decision import Decision, decide_worktree
    from gitcfg.cli.solving.told import print_decision

    session: Session = context.obj
    found: list[Decision] = []

    def shows(decision: Decision) -> None:
        found.append(decision)
        if output is Output.TEXT:
            print_decision(session, decision)

    if dry_run:
        shows(decide_worktree(session))
        done = None
    else:
        wished = wish(force, commit, message, "Decide what rules leave open", solve=True)
        done = carried(session, lambda draft: None, wished, shows)
    if output is not Output.TEXT:
        _record(found[0], output)
    elif done is not None and done.files:
        tell(session, done)
    return 0 if found[0].holds and (dry_run or done is not None) else 1


def _record(decision: "Decision", output: Output) -> None:
    from gitcfg.cli.records import write_record
    from gitcfg.cli.solving.record import decision_to_json

    write_record(decision_to_json(decision), output)
