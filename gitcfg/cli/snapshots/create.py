"""`gitcfg snapshot create`: a name for a commit."""

import os
from typing import Annotated

import typer

from gitcfg.cli.session import Session
from gitcfg.cli.snapshots.headline import _format_snapshot

_CREATE_EPILOG = """Examples:

  gitcfg snapshot create before-upgrade                        the last commit

  gitcfg snapshot create 2026/spring -m 'Agreed on 3 March'    ... and what for

  gitcfg snapshot create known-good --at main~3"""

_NAME = typer.Argument(help="What the snapshot is to be called.", metavar="NEW")
_TEXT = typer.Option("-m", "--message", help="What it is for.", metavar="TEXT")
_AT = typer.Option(help="The commit; the last one if nothing is said.", metavar="REV")


def create(
    context: typer.Context,
    name: Annotated[str, _NAME],
    message: Annotated[str | None, _TEXT] = None,
    at: Annotated[str, _AT] = "HEAD",
) -> None:
    """Name a commit. What is not committed is not in it."""
    from gitcfg.git.program import Git
    from gitcfg.git.refs import Snapshots
    from gitcfg.load.repository import settings_entry

    session: Session = context.obj
    repository = session.open().repository
    snapshots = Snapshots(repository)
    tree = repository.at(at)
    settings_entry(tree)
    assert tree.commit is not None
    text = (message or "").strip() or f"Snapshot {name}"
    found = snapshots.create(Git(repository, os.environ), name, tree.commit, text)
    session.write(f"{_format_snapshot(found)}\n")
