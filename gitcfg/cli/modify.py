"""`gitcfg modify`: a definition that is there made to say something else."""

from typing import Annotated

import typer

from gitcfg.cli import editing as say
from gitcfg.model import GitcfgError

EPILOG = """Values are YAML, as they would stand in the file. Comments and all other entries stay as they are.

Examples:

  gitcfg modify feature GpuNode --include CUDA --at 0 --no-include Old --set 'START={$and: x}' --unset OLD

  gitcfg modify group Workers --node 'exec[01-16]' --commit -m 'More workers'

  gitcfg modify node submit1 --field state=retired --solve      what a rule had placed there goes elsewhere"""

_KIND = typer.Argument(help="Of what kind it is.", metavar="KIND")
_NAME = typer.Argument(help="Its name.", metavar="NAME")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(say.taking(say.OPTIONS, command))


def command(
    context: typer.Context,
    kind: Annotated[say.Editable | None, _KIND] = None,
    name: Annotated[str | None, _NAME] = None,
    at: say.At = None,
    description: say.Description = None,
    *,
    source: say.From = None,
    force: say.Force = False,
    solve: say.Solve = False,
    commit: say.Commit = False,
    message: say.Message = None,
    **said: say.Texts,
) -> int:
    """Change a definition, or with --from many things at once. An edit that adds an error is refused."""
    from gitcfg.cli.edited import edit, wish
    from gitcfg.cli.ordered import lines, ordered
    from gitcfg.edit.orders import Action, Order, parse_orders

    order = Order(Action.MODIFY, kind.value if kind is not None else "", name or "", at=at)
    order = ordered(order, description, said)
    if source is not None:
        if order != Order(Action.MODIFY, "", ""):
            raise GitcfgError("--from goes with no other edit.", "Write it into the file as well.")
        wished = wish(force, commit, message, "Edit several definitions", solve)
        return edit(context.obj, parse_orders(lines(source)), wished)
    if not order.kind or not order.name:
        raise GitcfgError("It is not said what to modify.", "Say KIND and NAME, or --from FILE.")
    subject = f"Modify {order.kind} {order.name}"
    return edit(context.obj, [order], wish(force, commit, message, subject, solve))
