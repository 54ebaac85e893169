"""`gitcfg snapshot`: names for commits that one may want to come back to."""

import typer

from gitcfg.cli.snapshots import create, delete, listed, restore, show


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help="Name commits, and come back to them.")
    group.command("create", epilog=create.EPILOG)(create.command)
    group.command("list", epilog=listed.EPILOG)(listed.command)
    group.command("show", epilog=show.EPILOG)(show.command)
    group.command("restore", epilog=restore.EPILOG)(restore.command)
    group.command("delete", epilog=delete.EPILOG)(delete.command)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Name commits, and come back to them: snapshots are annotated tags, snapshot/NAME."""
