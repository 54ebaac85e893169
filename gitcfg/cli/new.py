"""`gitcfg new`: a definition that was not there."""

from typing import Annotated

import typer

from gitcfg.cli import editing as say
from gitcfg.cli.session import Session

EPILOG = """Values are YAML, as they would stand in the file; what is added to a list comes to its end.

Examples:

  gitcfg new feature GpuNode --include ExecuteNode --set 'START={$and: x}'

  gitcfg new node exec17 --group rack3 --in nodes/rack3

  gitcfg new parameter GPUS --description 'How many GPUs.' --field type=integer --commit"""

_PLACE = typer.Option("--in", help="The file or folder; else where such things stand.", metavar="FILE|DIR")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    kind: Annotated[say.Editable, typer.Argument(help="Of what kind.", metavar="KIND")],
    name: Annotated[str, typer.Argument(help="Its name.", metavar="NAME")],
    place: Annotated[str, _PLACE] = "",
    description: say.Description = None,
    include: say.Include = None,
    depends: say.Depends = None,
    conflict: say.Conflict = None,
    after: say.After = None,
    feature: say.Install = None,
    without: say.Without = None,
    group: say.Join = None,
    node: say.Member = None,
    label: say.Label = None,
    bind: say.Bind = None,
    file: say.Carry = None,
    fact: say.Fact = None,
    field: say.Field = None,
    force: say.Force = False,
    commit: say.Commit = False,
    message: say.Message = None,
) -> int:
    """Make a definition: a file of its own, or an entry in a file of parameters or subsystems."""
    from gitcfg.cli.edited import edit, wish
    from gitcfg.edit.orders import Deed, Order

    session: Session = context.obj
    order = Order(
        Deed.NEW,
        kind.value,
        name,
        place,
        add=say.items(
            include=include,
            depends=depends,
            conflicts=conflict,
            after=after,
            features=feature,
            without=without,
            groups=group,
            nodes=node,
            labels=label,
        ),
        put=say.entries(params=bind, files=file, facts=fact),
        fields=say.fields(description, field),
    )
    return edit(session, [order], wish(force, commit, message, f"Add {kind.value} {name}"))
