"""`gitcfg override`: what holds for some nodes for some time."""

import typer

from gitcfg.cli.editing import taking
from gitcfg.cli.terms import ending, listed, override_add

_PURPOSE = "Let something hold for some nodes for some time."


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help=_PURPOSE)
    group.command("add", epilog=override_add.EPILOG)(taking(override_add.OPTIONS, override_add.command))
    group.command(
        "list",
        help="List all overrides, with how long they shall count.",
        epilog=listed.EPILOG.format(term=name),
    )(listed.listing(name))
    group.command("lift", help="Take overrides away before their end.", epilog=ending.LIFT.format(term=name))(
        ending.lifting(name)
    )
    group.command(
        "expire",
        help="Take away the overrides whose last day has passed: until then they still apply.",
        epilog=ending.EXPIRE.format(term=name),
    )(ending.expiring(name))
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Let something hold for some nodes for some time: overrides/NAME.yaml, with reason and end."""
