"""`gitcfg render`: what nodes get."""

from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli.session import Output, Session, fleet_of
from gitcfg.model import GitcfgError

EPILOG = """Examples:

  gitcfg render exec001.example.com                 one node's files, to the terminal

  gitcfg render --all --out build                   every node's files, in folders named by node

  gitcfg render @gpu --at main --params -o json     the parameters of a group's nodes, of a commit"""


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    nodes: Annotated[list[str] | None, typer.Argument(help="Nodes: names, exec[001-100], @group.")] = None,
    all_: Annotated[bool, typer.Option("--all", help="Every node.")] = False,
    where: Annotated[str | None, typer.Option(help="Nodes for which this holds.", metavar="CEL")] = None,
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    params: Annotated[bool, typer.Option("--params", help="Parameters only, no files.")] = False,
    file: Annotated[str | None, typer.Option(help="Only this file, as it is.", metavar="PATH")] = None,
    out: Annotated[Path | None, typer.Option(help="Bring DIR/NODE/PATH up to date.", metavar="DIR")] = None,
    ref: Annotated[
        str | None, typer.Option(help="Commit what changed on a branch, as NODE/PATH.", metavar="REF")
    ] = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
) -> int:
    """Show the files or parameters of nodes. Exits 1 if one of them has errors."""
    if not (nodes or all_ or where is not None):
        raise GitcfgError("No node is named.", "Name nodes, say --all, or give a condition with --where.")
    if all_ and nodes:
        raise GitcfgError("--all and names of nodes do not go together.", "Say one of them.")
    if out is not None and ref is not None:
        raise GitcfgError("--out and --ref do not go together.", "Say one of them.")
    if (out is not None or ref is not None) and (params or file is not None or output is not Output.TEXT):
        option = "--out" if out is not None else "--ref"
        raise GitcfgError(
            f"{option} writes files; --params, --file and -o are for what is shown.", "Leave them out."
        )
    session: Session = context.obj
    source = session.open()
    with fleet_of(source, at) as fleet:
        from gitcfg.cli.nodes import select_nodes

        names = select_nodes(fleet, nodes or (), where)
        if out is not None or ref is not None:
            from gitcfg.output.folder import Scope

            scope = Scope.ALL if all_ and where is None else Scope.NAMED
            if ref is not None:
                from gitcfg.cli.published import commit_nodes

                return commit_nodes(session, source.repository, fleet, names, scope, ref)
            from gitcfg.cli.folder import write_folder

            assert out is not None
            return write_folder(session, fleet, names, scope, out)
        from gitcfg.cli.refusals import print_errors_of
        from gitcfg.cli.rendered import RenderOptions, write_nodes

        whole = len(names) == len(fleet)
        wanted = fleet if whole else fleet.only(names)
        write_nodes(session, wanted, names, RenderOptions(params, file, output))
        return print_errors_of(session, wanted, names)
