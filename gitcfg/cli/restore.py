"""`gitcfg snapshot restore`: a commit that makes everything as it was in a snapshot."""

from typing import Annotated

import typer

from gitcfg.cli.session import Session
from gitcfg.cli.undo import DRY_RUN, FORCE, NO_VERIFY, YES

EPILOG = """Examples:

  gitcfg snapshot restore before-upgrade --dry-run    what that would change

  gitcfg snapshot restore before-upgrade

  gitcfg snapshot restore 2026/spring --yes -m 'The upgrade failed'"""

NAME = typer.Argument(help="The snapshot.", metavar="SNAPSHOT")
_MORE = typer.Option("-m", "--message", help="What the commit's message says at its end.", metavar="TEXT")


def command(
    context: typer.Context,
    name: Annotated[str, NAME],
    message: Annotated[str | None, _MORE] = None,
    yes: Annotated[bool, YES] = False,
    dry_run: Annotated[bool, DRY_RUN] = False,
    force: Annotated[bool, FORCE] = False,
    no_verify: Annotated[bool, NO_VERIFY] = False,
) -> int:
    """Make everything as it was, by one commit on top, unless that brings errors; history stays."""
    from gitcfg.cli.proposed import Asked, Proposal, settle
    from gitcfg.edit.snapshots import restoring
    from gitcfg.git.reverting import restored
    from gitcfg.git.spans import present
    from gitcfg.git.tags import Snapshots

    asked = Asked(yes, dry_run, force, no_verify)
    session: Session = context.obj
    source = session.open()
    head = present(source.repository)
    found = Snapshots(source.repository).named(name)
    asked.refuse_unasked("gitcfg snapshot restore")
    proposed = restored(source.repository, found.commit, head)
    done = f"Everything is as in snapshot {name} already."
    text = restoring(found, message)
    return settle(
        session, source, Proposal(head, proposed, text, "Restore?", "gitcfg snapshot restore", done), asked
    )
