"""`gitcfg snapshot delete`: a snapshot's name taken away."""

import os

import typer

from gitcfg.cli.session import Session
from gitcfg.cli.snapshots.headline import _SnapshotName
from gitcfg.model.text import ABBREVIATED, safe

_DELETE_EPILOG = """Examples:

  gitcfg snapshot delete before-upgrade

  gitcfg snapshot delete 2026/spring

  gitcfg -C pool snapshot delete before-upgrade"""


def delete(context: typer.Context, name: _SnapshotName) -> None:
    """Take a snapshot's name away; the commit stays."""
    from gitcfg.git.program import Git
    from gitcfg.git.refs import Snapshots

    session: Session = context.obj
    repository = session.open().repository
    was = Snapshots(repository).delete(Git(repository, os.environ), name)
    session.write(f"{safe(name)} is no snapshot any more.\n")
    hint = f"hint: `git update-ref refs/tags/snapshot/{safe(name)} {was[:ABBREVIATED]}` brings it back."
    session.console(stderr=True).print(hint, style="cyan")
