"""`gitcfg snapshot show`: what a snapshot is, and what has changed since."""

import typer

from gitcfg.cli.session import Session
from gitcfg.cli.snapshots.headline import _format_snapshot, _SnapshotName
from gitcfg.model.text import ABBREVIATED, safe

_SHOW_EPILOG = """Examples:

  gitcfg snapshot show before-upgrade        what it is, and what has changed on nodes since

  gitcfg diff snapshot/before-upgrade HEAD   ... in full

  gitcfg snapshot show 2026/spring"""


def show(context: typer.Context, name: _SnapshotName) -> None:
    """Tell what a snapshot is, and what has changed on nodes since."""
    from gitcfg.cli import changes
    from gitcfg.git.history import History
    from gitcfg.git.refs import Snapshots
    from gitcfg.library import compare

    session: Session = context.obj
    source = session.open()
    found = Snapshots(source.repository).named(name)
    about = History(source.repository).about(found.commit)
    console = session.console()
    console.print(_format_snapshot(found), style="bold")
    made = f"{found.commit[:ABBREVIATED]} of {about.date[:10]}, {safe(about.author)}: {safe(about.subject)}"
    console.print(f"  commit {made}")
    for line in found.message.splitlines():
        console.print(f"  {safe(line)}")
    console.print("since then:", style="dim")
    with source.at(found.commit) as old, source.at("HEAD") as new:
        compared = compare(old, new)
        changes.show_stat(console, compared)
        changes.summary(console, compared)
