"""`gitcfg snapshot restore`: a commit that makes everything as it was in a snapshot."""

from typing import TYPE_CHECKING

import typer

from gitcfg.cli import asked as say
from gitcfg.cli.session import Session
from gitcfg.cli.snapshots.headline import _SnapshotName

if TYPE_CHECKING:
    from gitcfg.cli.proposed import Proposal
    from gitcfg.git.repository import Repository

_RESTORE_EPILOG = """Examples:

  gitcfg snapshot restore before-upgrade --dry-run    what that would change

  gitcfg snapshot restore before-upgrade

  gitcfg snapshot restore 2026/spring --yes -m 'The upgrade failed'"""


def restore(
    context: typer.Context,
    name: _SnapshotName,
    message: say.Message = None,
    yes: say.Yes = False,
    dry_run: say.DryRun = False,
    force: say.Force = False,
    no_verify: say.NoVerify = False,
) -> int:
    """Make everything as it was, by one commit on top, unless that brings errors; history stays."""
    from gitcfg.cli.proposed import Proposal, carry
    from gitcfg.edit.snapshots import restore_message
    from gitcfg.git.refs import Snapshots
    from gitcfg.git.revert import restore

    def proposal(repository: "Repository", head: str) -> "Proposal":
        found = Snapshots(repository).named(name)
        return Proposal(
            lambda: restore(repository, found.commit, head),
            restore_message(found, message),
            "Restore?",
            f"Everything is as in snapshot {name} already.",
        )

    session: Session = context.obj
    return carry(session, "gitcfg snapshot restore", proposal, say.Asked(yes, dry_run, force, no_verify))
