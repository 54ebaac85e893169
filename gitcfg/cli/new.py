"""`gitcfg new`: a definition that was not there."""

from typing import Annotated

import typer

from gitcfg.cli import edit as say

EPILOG = """Values are YAML, as they would stand in the file; what is added to a list comes to its end.

Examples:

  gitcfg new feature GpuNode --include ExecuteNode --set 'START={$and: x}'

  gitcfg new node exec17 --group rack3 --in nodes/rack3

  gitcfg new parameter GPUS --description 'How many GPUs.' --field type=integer --commit"""

_KIND = typer.Argument(help="Of what kind.", metavar="KIND")
_PLACE = typer.Option("--in", help="The file or folder; else where such things stand.", metavar="FILE|DIR")
_OPTIONS = [option for option in say.OPTIONS if option.part in (say.Part.ADD, say.Part.PUT, say.Part.FIELDS)]


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(say.with_options(_OPTIONS, command))


def command(
    context: typer.Context,
    kind: Annotated[say.Editable, _KIND],
    name: Annotated[str, typer.Argument(help="Its name.", metavar="NAME")],
    place: Annotated[str, _PLACE] = "",
    description: say.Description = None,
    *,
    force: say.Force = False,
    solve: say.Solve = False,
    commit: say.Commit = False,
    message: say.Message = None,
    **said: say.Texts,
) -> int:
    """Make a definition: a file of its own, or an entry in a file of parameters or subsystems."""
    from gitcfg.cli.edit import fill_order
    from gitcfg.cli.edits import carry_out_orders, edit_options
    from gitcfg.edit.orders import Deed, Order

    order = fill_order(Order(Deed.NEW, kind.value, name, place), description, said)
    return carry_out_orders(
        context.obj, [order], edit_options(force, commit, message, f"Add {kind.value} {name}", solve)
    )
