"""`gitcfg modify`: a definition that is there made to say something else."""

from typing import Annotated

import typer

from gitcfg.cli import editing as say
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

EPILOG = """Values are YAML, as they would stand in the file. Comments and all other entries stay as they are.

Examples:

  gitcfg modify feature GpuNode --include CUDA --at 0 --no-include Old --set 'START={$and: x}' --unset OLD

  gitcfg modify group Workers --node 'exec[01-16]' --commit -m 'More workers'

  gitcfg modify --from edits.jsonl             many edits, all or none"""

_KIND = typer.Argument(help="Of what kind it is.", metavar="KIND")
_NAME = typer.Argument(help="Its name.", metavar="NAME")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    kind: Annotated[say.Editable | None, _KIND] = None,
    name: Annotated[str | None, _NAME] = None,
    at: say.At = None,
    description: say.Description = None,
    include: say.Include = None,
    no_include: say.NoInclude = None,
    depends: say.Depends = None,
    no_depends: say.NoDepends = None,
    conflict: say.Conflict = None,
    no_conflict: say.NoConflict = None,
    after: say.After = None,
    no_after: say.NoAfter = None,
    feature: say.Install = None,
    no_feature: say.NoFeature = None,
    without: say.Without = None,
    no_without: say.NoWithout = None,
    group: say.Join = None,
    no_group: say.NoGroup = None,
    node: say.Member = None,
    no_node: say.NoNode = None,
    label: say.Label = None,
    no_label: say.NoLabel = None,
    bind: say.Bind = None,
    unset: say.Unset = None,
    file: say.Carry = None,
    no_file: say.NoFile = None,
    fact: say.Fact = None,
    no_fact: say.NoFact = None,
    field: say.Field = None,
    no_field: say.NoField = None,
    source: say.From = None,
    force: say.Force = False,
    commit: say.Commit = False,
    message: say.Message = None,
) -> int:
    """Change a definition, or with --from many things at once. An edit that adds an error is refused."""
    from gitcfg.cli.edited import edit, wish
    from gitcfg.edit.orders import Deed, Order, orders

    session: Session = context.obj
    order = Order(
        Deed.MODIFY,
        kind.value if kind is not None else "",
        name or "",
        at=at,
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
        remove=say.items(
            include=no_include,
            depends=no_depends,
            conflicts=no_conflict,
            after=no_after,
            features=no_feature,
            without=no_without,
            groups=no_group,
            nodes=no_node,
            labels=no_label,
        ),
        put=say.entries(params=bind, files=file, facts=fact),
        take=say.names(params=unset, files=no_file, facts=no_fact),
        fields=say.fields(description, field),
        drop=tuple(no_field or ()),
    )
    if source is not None:
        if order != Order(Deed.MODIFY, "", ""):
            raise GitcfgError("--from goes with no other edit.", "Write it into the file as well.")
        return edit(
            session, orders(say.lines(source)), wish(force, commit, message, "Edit several definitions")
        )
    if not order.kind or not order.name:
        raise GitcfgError("It is not said what to modify.", "Say KIND and NAME, or --from FILE.")
    return edit(session, [order], wish(force, commit, message, f"Modify {order.kind} {order.name}"))
