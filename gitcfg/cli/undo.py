"""`gitcfg undo`: a commit that takes others back, once it is known what that does."""

from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli import proposals as say
from gitcfg.cli.declaration import command
from gitcfg.cli.session import Session

if TYPE_CHECKING:
    from gitcfg.cli.proposals import Proposal
    from gitcfg.git.repository import Repository
    from gitcfg.git.revert import Side

EPILOG = """Examples:

  gitcfg undo                                  the last commit, after it was shown what that changes

  gitcfg undo main~3..main --yes -m 'Too early'    three commits, as one commit

  gitcfg undo main~5 --theirs group/Workers --ours group/Workers:START    the group as it was, but START"""

_REV = typer.Argument(help="The commit, or A..B: what B has and A has not.", metavar="REV|REV..REV")
_MAINLINE = typer.Option(help="Of a merge: the parent to go back to, from 1 on.", metavar="N", min=1)
_OURS = typer.Option(
    help="In a conflict, leave this as it is now: group/Workers, or of it group/Workers:START.",
    metavar="ENTITY",
)
_THEIRS = typer.Option(
    help="In a conflict, make this as it was: group/Workers, or of it group/Workers:START.", metavar="ENTITY"
)


@command(EPILOG)
def undo(
    context: typer.Context,
    revision: Annotated[str, _REV] = "HEAD",
    message: say.Message = None,
    mainline: Annotated[int | None, _MAINLINE] = None,
    ours: Annotated[list[str] | None, _OURS] = None,
    theirs: Annotated[list[str] | None, _THEIRS] = None,
    yes: say.Yes = False,
    dry_run: say.DryRun = False,
    force: say.Force = False,
    no_verify: say.NoVerify = False,
) -> int:
    """Take commits back by one commit on top, unless that brings errors; what changes is shown first."""
    from gitcfg.cli.proposals import Proposal, carry_out_proposal
    from gitcfg.cli.undo_conflicts import Undo, ask_side
    from gitcfg.git.revert import find_span, revert_message

    asked = say.ProposalOptions(yes, dry_run, force, no_verify)

    def proposal(repository: "Repository", head: str) -> "Proposal":
        found = find_span(repository, revision, mainline, head)
        return Proposal(
            lambda: Undo(repository, found, head).proposed(
                _sides(ours or (), theirs or ()), ask_side if asked.interactive else None
            ),
            revert_message(found, message),
            "Undo?",
            f"{revision} is undone already: nothing is left of it.",
        )

    session: Session = context.obj
    return carry_out_proposal(session, "gitcfg undo", proposal, asked)


def _sides(ours: "list[str] | tuple[()]", theirs: "list[str] | tuple[()]") -> "dict[str, Side]":
    """Which side counts, by entity. GitcfgError: both are said of one."""
    from gitcfg.git.revert import Side
    from gitcfg.model import GitcfgError

    both = sorted({*ours} & {*theirs})
    if both:
        raise GitcfgError(f"{both[0]} cannot be both --ours and --theirs.", "Say one of them.")
    return dict.fromkeys(ours, Side.OURS) | dict.fromkeys(theirs, Side.THEIRS)
