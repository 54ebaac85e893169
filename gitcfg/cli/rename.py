"""`gitcfg rename`: a definition under another name, with everything that refers to it."""

from typing import Annotated

import typer

from gitcfg.cli import edit as say

EPILOG = """Lists and bindings follow; in templates `params.NAME` and `params["NAME"]`, where that is certain.
Where the old name still stands (comments, globs, expressions, other templates) is listed and left as it is.

Examples:

  gitcfg rename feature GpuNode Gpu

  gitcfg rename parameter OLD_NAME NEW_NAME --commit

  gitcfg rename group rack3 rack-a3 --commit -m 'Racks have letters now'"""


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    kind: Annotated[say.Editable, typer.Argument(help="Of what kind it is.", metavar="KIND")],
    old: Annotated[str, typer.Argument(help="Its name.", metavar="NAME")],
    new: Annotated[str, typer.Argument(help="Its name from now on.", metavar="NEW")],
    force: say.Force = False,
    solve: say.Solve = False,
    commit: say.Commit = False,
    message: say.Message = None,
) -> int:
    """Rename a definition, its file, and what refers to it; what is left is listed."""
    from gitcfg.cli.edits import carry_out_orders, edit_options
    from gitcfg.edit.orders import Deed, Order

    order = Order(Deed.RENAME, kind.value, old, to=new)
    return carry_out_orders(
        context.obj,
        [order],
        edit_options(force, commit, message, f"Rename {kind.value} {old} to {new}", solve),
    )
