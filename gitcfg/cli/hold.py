"""`gitcfg hold`: nodes that stay at a commit for some time."""

import typer

from gitcfg.cli.terms import ending, hold_add, listed

_PURPOSE = "Keep nodes at a commit for some time."


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help=_PURPOSE)
    group.command("add", epilog=hold_add.EPILOG)(hold_add.command)
    group.command(
        "list", help="List all holds, with how long they still count.", epilog=listed.EPILOG.format(term=name)
    )(listed.listing(name))
    group.command("lift", help="Take holds away before their end.", epilog=ending.LIFT.format(term=name))(
        ending.lifting(name)
    )
    group.command(
        "expire",
        help="Take away the holds whose last day has passed.",
        epilog=ending.EXPIRE.format(term=name),
    )(ending.expiring(name))
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Keep nodes at a commit for some time: holds/NAME.yaml, with reason and end."""
