"""`gitcfg modify`: a definition that is there made to say something else."""

from typing import Annotated

import typer

from gitcfg.cli import edit as say
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
    app.command(name, epilog=EPILOG)(say.with_options(say.OPTIONS, command))


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
    from gitcfg.cli.edit import fill_order, read_lines
    from gitcfg.cli.edits import carry_out_orders, edit_options
    from gitcfg.edit.orders import Deed, Order, orders

    order = Order(Deed.MODIFY, kind.value if kind is not None else "", name or "", at=at)
    order = fill_order(order, description, said)
    if source is not None:
        if order != Order(Action.MODIFY, "", ""):
            raise GitcfgError("--from goes with no other edit.", "Write it into the file as well.")
        wished = edit_options(force, commit, message, "Edit several definitions", solve)
        return carry_out_orders(context.obj, orders(read_lines(source)), wished)
    if not order.kind or not order.name:
        raise GitcfgError("It is not said what to modify.", "Say KIND and NAME, or --from FILE.")
    subject = f"Modify {order.kind} {order.name}"
    return carry_out_orders(context.obj, [order], edit_options(force, commit, message, subject, solve))
