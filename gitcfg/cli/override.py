"""`gitcfg override`: what holds for some nodes for some time."""

import typer

from gitcfg.cli.editing import taking
from gitcfg.cli.terms import ending, listed, override_add

_OVERRIDE_PURPOSE = "Let something hold for some nodes for some time."


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help=_OVERRIDE_PURPOSE)
    group.command("add", epilog=override_add._OVERRIDE_EPILOG)(
        taking(override_add._OVERRIDE_OPTIONS, override_add.add_override)
    )
    group.command(
        "list",
        help="List all overrides, with how long they shall count.",
        epilog=listed._LIST_EPILOG.format(term=name),
    )(listed.list_command(name))
    group.command(
        "lift", help="Take overrides away before their end.", epilog=ending._LIFT_EPILOG.format(term=name)
    )(ending.lift_command(name))
    group.command(
        "expire",
        help="Take away the overrides whose last day has passed: until then they still apply.",
        epilog=ending._EXPIRE_EPILOG.format(term=name),
    )(ending.expire_command(name))
    group.callback()(_override_group)
    app.add_typer(group, name=name)


def _override_group() -> None:
    """Let something hold for some nodes for some time: overrides/NAME.yaml, with reason and end."""
