"""`gitcfg values`: the values of a parameter, with their nodes."""

from typing import Annotated

import typer

from gitcfg.cli.declaration import AtOption, FoldedOption, NodesArgument, OutputOption, WhereOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session

EPILOG = """Examples:

  gitcfg values START                               every value, its nodes, and where it comes from

  gitcfg values START @gpu exec[001-100] --at main  on a group's nodes and some others, at a commit

  gitcfg values CONDOR_HOST --unset                 the nodes without it, or without a value"""


@command(EPILOG, Items("gitcfg.values/1", "values", "value"))
def values(
    context: typer.Context,
    param: Annotated[str, typer.Argument(help="The parameter.")],
    nodes: NodesArgument = None,
    where: WhereOption = None,
    at: AtOption = None,
    unset: Annotated[bool, typer.Option("--unset", help="Show only nodes without a value.")] = False,
    output: OutputOption = Output.TEXT,
    folded: FoldedOption = False,
) -> int:
    """Show which nodes have which value of a parameter, and where it is set."""
    session: Session = context.obj
    with session.fleet(at) as fleet:
        from gitcfg.cli.nodes import choose_nodes
        from gitcfg.explain.values import find_values, values_record

        names = choose_nodes(fleet, nodes or (), where) if nodes or where is not None else None
        held = find_values(fleet.compiled, param, names)
        if output is not Output.TEXT:
            selected = [one for one in held if (one.value is None if unset else one.bound)]
            write_record(values_record(fleet.commit, param, selected, folded), output)
        else:
            from gitcfg.cli.trails import print_values

            print_values(session.console(), param, held, unset)
    return 0
