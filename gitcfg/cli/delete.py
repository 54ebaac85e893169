"""`gitcfg delete`: a definition taken away."""

from typing import Annotated

import typer

from gitcfg.cli import edit as say

EPILOG = """What still refers to it is an error, so the edit is refused then: take the references away first.

Examples:

  gitcfg delete feature Old

  gitcfg delete parameter OLD_NAME --commit -m 'Nobody sets it'

  gitcfg delete group rack3 --force            although nodes are in it"""


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    kind: Annotated[say.Editable, typer.Argument(help="Of what kind it is.", metavar="KIND")],
    name: Annotated[str, typer.Argument(help="Its name.", metavar="NAME")],
    force: say.Force = False,
    solve: say.Solve = False,
    commit: say.Commit = False,
    message: say.Message = None,
) -> int:
    """Delete a definition: its file, or its entry in a file of parameters or subsystems."""
    from gitcfg.cli.edits import carry_out_orders, edit_options
    from gitcfg.edit.orders import Deed, Order

    order = Order(Deed.DELETE, kind.value, name)
    return carry_out_orders(
        context.obj, [order], edit_options(force, commit, message, f"Delete {kind.value} {name}", solve)
    )
