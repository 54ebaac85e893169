"""`gitcfg snapshot`: names for commits, to which one can return."""

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gitcfg.cli import proposals as say
from gitcfg.cli.declaration import Group, OutputOption, YesOption, command
from gitcfg.cli.edits import EDIT
from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.session import Output, Session
from gitcfg.model.text import ABBREVIATED, safe

if TYPE_CHECKING:
    from gitcfg.comparison.comparison import Comparison
    from gitcfg.git.history import Commit
    from gitcfg.git.refs import Snapshot
    from gitcfg.git.repository import Repository


_CREATE_EPILOG = """Examples:

  gitcfg snapshot create before-upgrade                        the last commit

  gitcfg snapshot create 2026/spring -m 'Agreed on 3 March'    ... and what for

  gitcfg snapshot create known-good --at main~3"""
_LIST_EPILOG = """Examples:

  gitcfg snapshot list

  gitcfg snapshot list -o json

  gitcfg -C pool snapshot list"""
_SHOW_EPILOG = """Examples:

  gitcfg snapshot show before-upgrade        what it is, and what has changed on nodes since

  gitcfg diff snapshot/before-upgrade HEAD   ... in full

  gitcfg snapshot show 2026/spring"""
_RESTORE_EPILOG = """Examples:

  gitcfg snapshot restore before-upgrade --dry-run    what that would change

  gitcfg snapshot restore before-upgrade

  gitcfg snapshot restore 2026/spring --yes -m 'The upgrade failed'"""
_DELETE_EPILOG = """Examples:

  gitcfg snapshot delete before-upgrade

  gitcfg snapshot delete 2026/spring

  gitcfg -C pool snapshot delete before-upgrade"""
_SnapshotName = Annotated[str, typer.Argument(help="The snapshot.", metavar="SNAPSHOT")]
_NAME = typer.Argument(help="The name of the new snapshot.", metavar="NEW")
_TEXT = typer.Option("-m", "--message", help="The purpose of the snapshot.", metavar="TEXT")
_AT = typer.Option(help="The commit; default: HEAD.", metavar="REV")


SNAPSHOTS = Items("gitcfg.snapshots/1", "snapshots", "snapshot")


@command(_CREATE_EPILOG, SNAPSHOTS)
def create(
    context: typer.Context,
    name: Annotated[str, _NAME],
    message: Annotated[str | None, _TEXT] = None,
    at: Annotated[str, _AT] = "HEAD",
    output: OutputOption = Output.TEXT,
) -> None:
    """Name a commit. Uncommitted changes are not included."""
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
    if output is not Output.TEXT:
        write_record(_snapshots_to_json([found]), output)
    else:
        session.write(f"{format_snapshot(found)}\n")


@command(_LIST_EPILOG, SNAPSHOTS)
def list_snapshots(context: typer.Context, output: OutputOption = Output.TEXT) -> None:
    """List the snapshots, in order of name."""
    from gitcfg.git.refs import Snapshots

    session: Session = context.obj
    found = list(Snapshots(session.open().repository).all())
    if output is not Output.TEXT:
        write_record(_snapshots_to_json(found), output)
        return
    for each in found:
        session.write(f"{format_snapshot(each)}\n")
    if not found:
        session.console(stderr=True).print(
            "There are no snapshots. Use `gitcfg snapshot create NAME` to create one."
        )


@command(_SHOW_EPILOG, SNAPSHOTS)
def show(context: typer.Context, name: _SnapshotName, output: OutputOption = Output.TEXT) -> None:
    """Show a snapshot, and what has changed on nodes since then."""
    from gitcfg.comparison.change import changes_to_json
    from gitcfg.git.history import History
    from gitcfg.git.refs import Snapshots
    from gitcfg.library import compare

    session: Session = context.obj
    source = session.open()
    found = Snapshots(source.repository).named(name)
    with source.at(found.commit) as old, source.at("HEAD") as new:
        compared = compare(old, new)
        if output is not Output.TEXT:
            write_record(_snapshots_to_json([found], changes=changes_to_json(compared)), output)
        else:
            _print_snapshot(session, found, History(source.repository).about(found.commit), compared)


def _print_snapshot(session: Session, found: "Snapshot", about: "Commit", compared: "Comparison") -> None:
    """Print a snapshot, and the changes on nodes since then."""
    from gitcfg.cli import changes

    console = session.console()
    console.print(format_snapshot(found), style="bold")
    summary = (
        f"{found.commit[:ABBREVIATED]} of {about.date[:10]}, {safe(about.author)}: {safe(about.subject)}"
    )
    console.print(f"  commit {summary}")
    for line in found.message.splitlines():
        console.print(f"  {safe(line)}")
    console.print("since then:", style="dim")
    changes.print_stat(console, compared)
    changes.print_reach(console, compared)


@command(_RESTORE_EPILOG, EDIT)
def restore(
    context: typer.Context,
    name: _SnapshotName,
    message: say.Message = None,
    yes: YesOption = False,
    dry_run: say.DryRun = False,
    force: say.Force = False,
    no_verify: say.NoVerify = False,
    output: OutputOption = Output.TEXT,
) -> int:
    """Restore a snapshot by a new commit, unless that adds errors. History is kept."""
    from gitcfg.git.refs import Snapshots
    from gitcfg.git.revert import restore, restore_message

    def proposal(repository: "Repository", head: str) -> say.Proposal:
        found = Snapshots(repository).named(name)
        return say.Proposal(
            lambda: restore(repository, found.commit, head),
            restore_message(found, message),
            "Restore?",
            f"Everything is already as in the snapshot {name}.",
        )

    options = say.ProposalOptions(yes, dry_run, force, no_verify, output)
    return say.carry_out_proposal(context.obj, "gitcfg snapshot restore", proposal, options)


@command(_DELETE_EPILOG, SNAPSHOTS)
def delete(context: typer.Context, name: _SnapshotName, output: OutputOption = Output.TEXT) -> None:
    """Delete the name of a snapshot. The commit is kept."""
    from gitcfg.git.program import Git
    from gitcfg.git.refs import Snapshots

    session: Session = context.obj
    repository = session.open().repository
    snapshots = Snapshots(repository)
    found = snapshots.named(name)
    was = snapshots.delete(Git(repository, os.environ), name)
    if output is not Output.TEXT:
        write_record(_snapshots_to_json([found]), output)
    else:
        session.write(f"Deleted the snapshot {safe(name)}.\n")
    hint = f"hint: `git update-ref refs/tags/snapshot/{safe(name)} {was[:ABBREVIATED]}` restores it."
    session.console(stderr=True).print(hint, style="cyan")


def _snapshots_to_json(found: "Iterable[Snapshot]", **more: object) -> Record:
    """Return `gitcfg.snapshots/1`; `more` are further fields of each."""
    items = [{"tag": f"refs/tags/{each.revision}", **msgspec.to_builtins(each), **more} for each in found]
    return {"schema": SNAPSHOTS.schema, "snapshots": items}


def format_snapshot(found: "Snapshot") -> str:
    """Return a snapshot's name, commit, day, author and the first line of its message."""
    author, subject = safe(found.author), safe(found.message.partition("\n")[0])
    return f"{safe(found.name)}  {found.commit[:ABBREVIATED]}  {found.date[:10]}  {author}: {subject}"


snapshot = Group(
    "Name commits, and restore them later.",
    {"create": create, "list": list_snapshots, "show": show, "restore": restore, "delete": delete},
)
