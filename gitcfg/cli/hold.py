"""`gitcfg hold`: nodes that stay at a commit for some time."""

import typer

from gitcfg.cli.terms import ending, hold_add, listed

_HOLD_PURPOSE = "Keep nodes at a commit for some time."


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help=_HOLD_PURPOSE)
    group.command("add", epilog=hold_add._HOLD_EPILOG)(hold_add.add_hold)
    group.command(
        "list",
        help="List all holds, with how long they still count.",
        epilog=listed._LIST_EPILOG.format(term=name),
    )(listed.list_command(name))
    group.command(
        "lift", help="Take holds away before their end.", epilog=ending._LIFT_EPILOG.format(term=name)
    )(ending.lift_command(name))
    group.command(
        "expire",
        help="Take away the holds whose last day has passed.",
        epilog=ending._EXPIRE_EPILOG.format(term=name),
    )(ending.expire_command(name))
    group.callback()(_hold_group)
    app.add_typer(group, name=name)


def _hold_group() -> None:
    """Keep nodes at a commit for some time: holds/NAME.yaml, with reason and end."""
