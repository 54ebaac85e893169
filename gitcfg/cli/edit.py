"""`gitcfg new`, `modify`, `delete` and `rename`: definitions are edited, checked and written."""

from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli import edits as say
from gitcfg.cli.declaration import OutputOption, command
from gitcfg.cli.session import Output
from gitcfg.model import GitcfgError

NEW = """Values are YAML, as in the file. New entries of a list are added at its end.

Examples:

  gitcfg new feature GpuNode --include ExecuteNode --set 'START={$and: x}'

  gitcfg new node exec17 --group rack3 --in nodes/rack3

  gitcfg new nodeset rack3 --from nodes.csv --group Workers --commit      a line for each node"""

MODIFY = """Values are YAML, as in the file. Comments and all other entries are kept.

Examples:

  gitcfg modify feature GpuNode --include CUDA --at 0 --no-include Old --set 'START={$and: x}' --unset OLD

  gitcfg modify group Workers --node 'exec[01-16]' --commit -m 'More workers'

  gitcfg modify node submit1 --field state=retired --solve      and move what a rule had placed there"""

DELETE = """If something still refers to the definition, the edit is refused: remove the references first.

Examples:

  gitcfg delete feature Old

  gitcfg delete parameter OLD_NAME --commit -m 'Not set anywhere'

  gitcfg delete group rack3 --force            even if nodes are in it"""

RENAME = """Renames references in lists and bindings, and `params.NAME` and `params["NAME"]` in templates
where that is certain. Other places with the old name (comments, globs, expressions) are listed, not changed.

Examples:

  gitcfg rename feature GpuNode Gpu

  gitcfg rename parameter OLD_NAME NEW_NAME --commit

  gitcfg rename group rack3 rack-a3 --commit -m 'Racks have letters now'"""

_KIND = typer.Argument(help="Kind of the definition.", metavar="KIND")
_NAME = typer.Argument(help="Name of the definition.", metavar="NAME")
_NEW_KIND = typer.Argument(help="Kind of the definition.", metavar="KIND")
_NEW_NAME = typer.Argument(help="New name.", metavar="NEW")
_PLACE = typer.Option(
    "--in", help="File or folder for it; default: the usual place of its kind.", metavar="FILE|DIR"
)
_TABLE = typer.Option("--from", help="Read nodes from a CSV table; - is stdin.", metavar="FILE")
_OF_NEW = [option for option in say.OPTIONS if option.part in (say.Part.ADD, say.Part.PUT, say.Part.FIELDS)]


@command(NEW, say.EDIT)
@say.with_options(_OF_NEW)
def new(
    context: typer.Context,
    kind: Annotated[say.Editable, _NEW_KIND],
    name: Annotated[str | None, _NAME] = None,
    place: Annotated[str, _PLACE] = "",
    description: say.Description = None,
    *,
    source: Annotated[str | None, _TABLE] = None,
    force: say.Force = False,
    solve: say.Solve = False,
    commit: say.Commit = False,
    message: say.Message = None,
    output: OutputOption = Output.TEXT,
    **entries: say.Texts,
) -> int:
    """Create a definition: a file of its own, or an entry in a file of parameters or subsystems."""
    from gitcfg.cli.edits import carry_out_orders, create_from_table, make_options
    from gitcfg.edit.orders import Action, Order

    if source is not None and kind not in (say.Editable.NODE, say.Editable.NODESET):
        raise GitcfgError("--from creates nodes or a node set.", "Use `gitcfg new node --from FILE`.")
    is_many = source is not None and kind is say.Editable.NODE
    if is_many and name is not None:
        raise GitcfgError(
            "--from has the names of the nodes.", "Omit NAME, or use `gitcfg new nodeset NAME`."
        )
    if name is None and not is_many:
        raise GitcfgError(f"`gitcfg new {kind.value}` needs a name.", "Give NAME.")
    order = say.fill_order(Order(Action.NEW, kind.value, name or "", place), description, entries)
    if source is not None:
        subject = f"Add nodes of {Path(source).name}" if is_many else f"Add {kind.value} {name}"
        options = make_options(force, commit, message, subject, solve, output)
        return create_from_table(context.obj, source, order, options)
    options = make_options(force, commit, message, f"Add {kind.value} {name}", solve, output)
    return carry_out_orders(context.obj, [order], options)


@command(MODIFY, say.EDIT)
@say.with_options(say.OPTIONS)
def modify(
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
    output: OutputOption = Output.TEXT,
    **entries: say.Texts,
) -> int:
    """Change a definition, or several with --from. An edit that adds an error is refused."""
    from gitcfg.cli.edits import carry_out_orders, make_options
    from gitcfg.edit.orders import Action, Order, parse_orders

    order = Order(Action.MODIFY, kind.value if kind is not None else "", name or "", at=at)
    order = say.fill_order(order, description, entries)
    if source is not None:
        if order != Order(Action.MODIFY, "", ""):
            raise GitcfgError("--from cannot be combined with other edits.", "Add the edit to the file.")
        options = make_options(force, commit, message, "Edit several definitions", solve, output)
        return carry_out_orders(context.obj, parse_orders(say.read_lines(source)), options)
    if not order.kind or not order.name:
        raise GitcfgError("`gitcfg modify` needs a definition.", "Give KIND and NAME, or use --from FILE.")
    options = make_options(force, commit, message, f"Modify {order.kind} {order.name}", solve, output)
    return carry_out_orders(context.obj, [order], options)


@command(DELETE, say.EDIT)
def delete(
    context: typer.Context,
    kind: Annotated[say.Editable, _KIND],
    name: Annotated[str, _NAME],
    force: say.Force = False,
    solve: say.Solve = False,
    commit: say.Commit = False,
    message: say.Message = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Delete a definition: its file, or its entry in a file of parameters or subsystems."""
    from gitcfg.cli.edits import carry_out_orders, make_options
    from gitcfg.edit.orders import Action, Order

    options = make_options(force, commit, message, f"Delete {kind.value} {name}", solve, output)
    return carry_out_orders(context.obj, [Order(Action.DELETE, kind.value, name)], options)


@command(RENAME, say.EDIT)
def rename(
    context: typer.Context,
    kind: Annotated[say.Editable, _KIND],
    old: Annotated[str, _NAME],
    new: Annotated[str, _NEW_NAME],
    force: say.Force = False,
    solve: say.Solve = False,
    commit: say.Commit = False,
    message: say.Message = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Rename a definition, its file and the references to it; list places that keep the old name."""
    from gitcfg.cli.edits import carry_out_orders, make_options
    from gitcfg.edit.orders import Action, Order

    options = make_options(force, commit, message, f"Rename {kind.value} {old} to {new}", solve, output)
    return carry_out_orders(context.obj, [Order(Action.RENAME, kind.value, old, to=new)], options)
