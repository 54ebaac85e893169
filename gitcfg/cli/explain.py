"""`gitcfg explain`: why a node has what it has."""

from typing import Annotated

import typer

from gitcfg.cli.session import Output, Session
from gitcfg.library import Fleet, Node
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown

EPILOG = """Examples:

  gitcfg explain exec001.example.com                every parameter, and where its value comes from

  gitcfg explain exec001.example.com START          the steps that led to the value

  gitcfg explain exec001.example.com START --all --at main -o json"""


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    node: Annotated[str, typer.Argument(help="The node.")],
    params: Annotated[list[str] | None, typer.Argument(help="Parameters; without any, all of them.")] = None,
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    all_: Annotated[bool, typer.Option("--all", help="What was overridden, too.")] = False,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """Show which layers a node's values come from."""
    session: Session = context.obj
    with session.fleet(at) as fleet:
        asked = _node(fleet, node)
        names = params or list(asked.params)
        for name in names:
            _known(fleet, asked, name)
        if output is not Output.TEXT:
            from gitcfg.cli.records import write_record
            from gitcfg.explain.records import trail_record

            told = {name: asked.told(name, all_) for name in names}
            write_record(trail_record(fleet.commit, node, told), output)
        else:
            from gitcfg.cli.trails import overview, show

            console = session.console()
            show(console, fleet, asked, names, all_) if params else overview(console, fleet, asked)
    return 0


def _node(fleet: Fleet, name: str) -> Node:
    if name not in fleet:
        raise GitcfgError(f"There is no node {shown(name)}.", did_you_mean(name, fleet))
    return fleet[name]


def _known(fleet: Fleet, node: Node, name: str) -> None:
    if node.explain(name) or fleet.compiled.declarations.find(name):
        return
    known = {*fleet.compiled.model.parameters, *node.params}
    raise GitcfgError(f"There is no parameter {shown(name)}.", did_you_mean(name, known))
