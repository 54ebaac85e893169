"""`gitcfg undo`: a commit that takes others back, once it is known what that does."""

from typing import Annotated

import typer

from gitcfg.cli.session import Session

EPILOG = """Examples:

  gitcfg undo                                  the last commit, after it was shown what that changes

  gitcfg undo main~3..main --yes -m 'Too early'    three commits, as one commit

  gitcfg undo main~5 --theirs group/Workers    ... and what was changed since in a group goes, too"""

_REV = typer.Argument(help="The commit, or A..B: what B has and A has not.", metavar="REV|REV..REV")
_MESSAGE = typer.Option("-m", "--message", help="What the commit's message says at its end.", metavar="TEXT")
_MAINLINE = typer.Option(help="Of a merge: the parent to go back to, from 1 on.", metavar="N", min=1)
_OURS = typer.Option(help="In a conflict, leave this as it is now, such as group/Workers.", metavar="ENTITY")
_THEIRS = typer.Option(help="In a conflict, make this as it was, such as group/Workers.", metavar="ENTITY")
YES = typer.Option("-y", "--yes", help="Do not ask.")
DRY_RUN = typer.Option("--dry-run", help="Only show what would change, and what would be wrong.")
FORCE = typer.Option("--force", help="Even if there are errors then that HEAD has not.")
NO_VERIFY = typer.Option("--no-verify", help="Go around the hooks pre-commit and commit-msg.")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    revision: Annotated[str, _REV] = "HEAD",
    message: Annotated[str | None, _MESSAGE] = None,
    mainline: Annotated[int | None, _MAINLINE] = None,
    ours: Annotated[list[str] | None, _OURS] = None,
    theirs: Annotated[list[str] | None, _THEIRS] = None,
    yes: Annotated[bool, YES] = False,
    dry_run: Annotated[bool, DRY_RUN] = False,
    force: Annotated[bool, FORCE] = False,
    no_verify: Annotated[bool, NO_VERIFY] = False,
) -> int:
    """Take commits back by one commit on top, unless that brings errors; what changes is shown first."""
    from gitcfg.cli.conflicts import Undoing, answered
    from gitcfg.cli.proposed import Asked, Proposal, settle
    from gitcfg.edit.snapshots import undoing
    from gitcfg.git.reverting import Side
    from gitcfg.git.spans import present, span
    from gitcfg.model import GitcfgError

    asked = Asked(yes, dry_run, force, no_verify)
    session: Session = context.obj
    source = session.open()
    head = present(source.repository)
    found = span(source.repository, revision, mainline, head)
    asked.refuse_unasked("gitcfg undo")
    both = sorted({*(ours or ())} & {*(theirs or ())})
    if both:
        raise GitcfgError(f"{both[0]} cannot be both --ours and --theirs.", "Say one of them.")
    sides = dict.fromkeys(ours or (), Side.OURS) | dict.fromkeys(theirs or (), Side.THEIRS)
    undo = Undoing(source.repository, found, head)
    proposed = undo.proposed(sides, answered if asked.interactive else None)
    done = f"{revision} is undone already: nothing is left of it."
    text = undoing(found, message)
    return settle(session, source, Proposal(head, proposed, text, "Undo?", "gitcfg undo", done), asked)
