"""`gitcfg snapshot`: names for commits that one may want to come back to."""

import os
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli import restore
from gitcfg.cli.plain import ABBREVIATED, safe
from gitcfg.cli.restore import NAME
from gitcfg.cli.session import Output, Session

if TYPE_CHECKING:
    from gitcfg.git.tags import Snapshot

CREATE = """Examples:

  gitcfg snapshot create before-upgrade                        the last commit

  gitcfg snapshot create 2026/spring -m 'Agreed on 3 March'    ... and what for

  gitcfg snapshot create known-good --at main~3"""
LIST = """Examples:

  gitcfg snapshot list

  gitcfg snapshot list -o json

  gitcfg -C pool snapshot list"""
SHOW = """Examples:

  gitcfg snapshot show before-upgrade        what it is, and what has changed on nodes since

  gitcfg diff snapshot/before-upgrade HEAD   ... in full

  gitcfg snapshot show 2026/spring"""
DELETE = """Examples:

  gitcfg snapshot delete before-upgrade

  gitcfg snapshot delete 2026/spring

  gitcfg -C pool snapshot delete before-upgrade"""

_TEXT = typer.Option("-m", "--message", help="What it is for.", metavar="TEXT")


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help="Name commits, and come back to them.")
    group.command("create", epilog=CREATE)(create)
    group.command("list", epilog=LIST)(all_of_them)
    group.command("show", epilog=SHOW)(show)
    group.command("restore", epilog=restore.EPILOG)(restore.command)
    group.command("delete", epilog=DELETE)(delete)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Name commits, and come back to them: snapshots are annotated tags, snapshot/NAME."""


def create(
    context: typer.Context,
    name: Annotated[str, NAME],
    message: Annotated[str | None, _TEXT] = None,
    at: Annotated[
        str, typer.Option(help="The commit; the last one if nothing is said.", metavar="REV")
    ] = "HEAD",
) -> None:
    """Name a commit. What is not committed is not in it."""
    from gitcfg.git.program import Git
    from gitcfg.git.tags import Snapshots
    from gitcfg.load.root import settings_entry

    session: Session = context.obj
    repository = session.open().repository
    snapshots = Snapshots(repository)
    tree = repository.at(at)
    settings_entry(tree)
    assert tree.commit is not None
    text = (message or "").strip() or f"Snapshot {name}"
    found = snapshots.create(Git(repository, os.environ), name, tree.commit, text)
    session.write(f"{_headline(found)}\n")


def all_of_them(
    context: typer.Context,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> None:
    """List the snapshots, in order of name."""
    from gitcfg.edit.snapshots import snapshots_record
    from gitcfg.git.tags import Snapshots

    session: Session = context.obj
    found = list(Snapshots(session.open().repository).all())
    if output is not Output.TEXT:
        from gitcfg.cli.records import write_record

        write_record(snapshots_record(found), output)
        return
    for each in found:
        session.write(f"{_headline(each)}\n")
    if not found:
        session.console(stderr=True).print("There is no snapshot; `gitcfg snapshot create NAME` makes one.")


def show(context: typer.Context, name: Annotated[str, NAME]) -> None:
    """Tell what a snapshot is, and what has changed on nodes since."""
    from gitcfg.cli.changes import show as show_changes
    from gitcfg.cli.changes import summary
    from gitcfg.git.history import History
    from gitcfg.git.tags import Snapshots
    from gitcfg.library import compare

    session: Session = context.obj
    source = session.open()
    found = Snapshots(source.repository).named(name)
    about = History(source.repository).about(found.commit)
    console = session.console()
    console.print(_headline(found), style="bold")
    made = f"{found.commit[:ABBREVIATED]} of {about.date[:10]}, {safe(about.author)}: {safe(about.subject)}"
    console.print(f"  commit {made}")
    for line in found.message.splitlines():
        console.print(f"  {safe(line)}")
    console.print("since then:", style="dim")
    with source.at(found.commit) as old, source.at("HEAD") as new:
        changes = compare(old, new)
        show_changes(console, changes, stat=True, files=False)
        summary(console, changes)


def delete(context: typer.Context, name: Annotated[str, NAME]) -> None:
    """Take a snapshot's name away; the commit stays."""
    from gitcfg.git.program import Git
    from gitcfg.git.tags import Snapshots

    session: Session = context.obj
    repository = session.open().repository
    was = Snapshots(repository).delete(Git(repository, os.environ), name)
    session.write(f"{safe(name)} is no snapshot any more.\n")
    hint = f"hint: `git update-ref refs/tags/snapshot/{safe(name)} {was[:ABBREVIATED]}` brings it back."
    session.console(stderr=True).print(hint, style="cyan")


def _headline(found: "Snapshot") -> str:
    who, said = safe(found.author), safe(found.message.partition("\n")[0])
    return f"{safe(found.name)}  {found.commit[:ABBREVIATED]}  {found.date[:10]}  {who}: {said}"
