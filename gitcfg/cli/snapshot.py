"""`gitcfg snapshot`: names for commits that one may want to come back to."""

import typer

from gitcfg.cli.snapshots import create, delete, listed, restore, show


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help="Name commits, and come back to them.")
    group.command("create", epilog=create._CREATE_EPILOG)(create.create)
    group.command("list", epilog=listed._LIST_EPILOG)(listed.list_snapshots)
    group.command("show", epilog=show._SHOW_EPILOG)(show.show)
    group.command("restore", epilog=restore._RESTORE_EPILOG)(restore.restore)
    group.command("delete", epilog=delete._DELETE_EPILOG)(delete.delete)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Name commits, and come back to them: snapshots are annotated tags, snapshot/NAME."""
