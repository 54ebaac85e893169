"""`gitcfg render`: the files and parameters of nodes."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

import gitcfg.progress as progress
from gitcfg.cli.declaration import AtOption, NodesArgument, OutputOption, WhereOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session, fleet_of, write_bytes
from gitcfg.model import GitcfgError
from gitcfg.model.secrets import shown
from gitcfg.model.text import safe
from gitcfg.nodeset import abridged

if TYPE_CHECKING:
    from gitcfg.library import Fleet, Node

EPILOG = """Examples:

  gitcfg render exec001.example.com                 one node's files, to the terminal

  gitcfg render --all --out build                   every node's files, in folders named by node

  gitcfg render @gpu --at main --params -o json     the parameters of a group's nodes, of a commit"""


@command(EPILOG, Items("gitcfg.render/1", "nodes", "rendered", "node"))
def render(
    context: typer.Context,
    nodes: NodesArgument = None,
    all_: Annotated[bool, typer.Option("--all", help="Every node.")] = False,
    where: WhereOption = None,
    at: AtOption = None,
    params: Annotated[bool, typer.Option("--params", help="Show only parameters, no files.")] = False,
    file: Annotated[str | None, typer.Option(help="Print only this file, unchanged.", metavar="PATH")] = None,
    out: Annotated[
        Path | None,
        typer.Option(help="Write the files to DIR/NODE/PATH, only where they changed.", metavar="DIR"),
    ] = None,
    ref: Annotated[
        str | None, typer.Option(help="Commit changed files to a branch, as NODE/PATH.", metavar="REF")
    ] = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Show the files or parameters of nodes. Exits 1 if one has errors; `gitcfg check` checks all nodes."""
    if not (nodes or all_ or where is not None):
        raise GitcfgError("No nodes are selected.", "Name nodes, or use --all or --where.")
    if all_ and nodes:
        raise GitcfgError("--all and names of nodes cannot be used together.", "Use one of them.")
    if out is not None and ref is not None:
        raise GitcfgError("--out and --ref cannot be used together.", "Use one of them.")
    if (out is not None or ref is not None) and (params or file is not None or output is not Output.TEXT):
        option = "--out" if out is not None else "--ref"
        raise GitcfgError(f"Cannot combine {option} with --params, --file or -o.", "Remove these options.")
    session: Session = context.obj
    source = session.open()
    with fleet_of(source, at) as fleet:
        from gitcfg.cli.nodes import choose_nodes, errors_of, print_errors

        names = choose_nodes(fleet, nodes or (), where)
        if out is not None or ref is not None:
            from gitcfg.output.folder import Scope

            scope = Scope.ALL if all_ and where is None else Scope.NAMED
            if ref is not None:
                from gitcfg.cli.publication import commit_nodes

                return commit_nodes(session, source.repository, fleet, names, scope, ref)
            from gitcfg.cli.publication import write_folder

            assert out is not None
            return write_folder(session, fleet, names, scope, out)
        chosen = fleet if len(names) == len(fleet) else fleet.alone(names)
        write_nodes(session, chosen, names, RenderOptions(params, file, output))
        if not chosen.whole and (chosen.model.rules or chosen.model.allocations):
            note = "note: Rules about several nodes were not checked. Run `gitcfg check` to check them."
            session.console(stderr=True).print(note, style="yellow")
        return print_errors(session, chosen, errors_of(chosen, names))


class RenderOptions(msgspec.Struct, frozen=True):
    """What to show of nodes: files, one file, or only parameters; and in which form."""

    params: bool
    file: str | None
    output: Output


def write_nodes(session: Session, fleet: "Fleet", names: tuple[str, ...], options: RenderOptions) -> None:
    """Write nodes one after the other: the content of many nodes is too large for memory."""
    if options.output is Output.JSON and len(names) > 1:
        write_bytes(_document(fleet, names, options.params))
    elif options.output is Output.JSONL:
        for name in names:
            progress.note("rendering", name, len(names))
            write_record(_record(fleet, {name: node_record(fleet[name], options.params)}), options.output)
    elif options.output is not Output.TEXT:
        found = {name: node_record(fleet[name], options.params) for name in names}
        write_record(_record(fleet, found), options.output)
    else:
        empty = list[str]()
        for name in names:
            text = "".join(_format_node(fleet[name], options, several=len(names) > 1))
            session.write(text)
            if not text:
                empty.append(name)
        if empty and not options.params and options.file is None:
            get = "gets" if len(empty) == 1 else "get"
            note = f"note: {safe(abridged(empty))} {get} no files. Use --params to show the parameters."
            session.console(stderr=True).print(note, style="yellow")


def _record(fleet: "Fleet", nodes: dict[str, Any]) -> dict[str, Any]:
    return {"schema": "gitcfg.render/1", "commit": fleet.commit, "nodes": nodes}


def _document(fleet: "Fleet", names: tuple[str, ...], params_only: bool) -> Iterator[bytes]:
    """Yield `gitcfg.render/1` of several nodes, a line each."""
    encode = msgspec.json.encode
    yield b'{\n  "schema": "gitcfg.render/1",\n  "commit": %b,\n  "nodes": {' % encode(fleet.commit)
    if params_only:
        from gitcfg.render.files import format_json

        texts = format_json(fleet.compiled, names)
    else:
        texts = ((name, encode(node_record(fleet[name], params_only))) for name in names)
    between = b"\n"
    for name, text in texts:
        progress.note("rendering", name, len(names))
        yield b"%b    %b: " % (between, encode(name))
        yield text
        between = b",\n"
    yield b"\n  }\n}\n"


def node_record(node: "Node", params_only: bool) -> dict[str, Any]:
    """Return one node in `gitcfg.render/1`."""
    record: dict[str, Any] = {"features": node.features, "params": node.params}
    if not params_only:
        keys = ("content", "mode", "owner", "group", "digest")
        record["files"] = {
            path: {key: getattr(file, key) for key in keys} for path, file in node.rendered.items()
        }
        record["digest"] = node.digest
    return record


def _format_node(node: "Node", options: RenderOptions, several: bool) -> Iterator[str]:
    if options.params:
        yield from (f"# {node.name}\n",) if several else ()
        for name, value in node.params.items():
            text = shown(value)
            yield f"{name} = {text if isinstance(text, str) else msgspec.json.encode(text).decode()}\n"
        return
    if options.file is not None:
        if options.file not in node.files:
            hint = f"It has: {', '.join(node.files)}." if node.files else "It has no files."
            raise GitcfgError(f"{node.name} has no file {options.file}.", hint)
        yield node.files[options.file]
        return
    for path, file in node.rendered.items():
        owner = "" if file.owner == file.group == "root" else f" {file.owner}:{file.group}"
        where = f"{node.name}:{path}" if several else path
        yield f"# ---- {where} ({file.mode}{owner})\n{file.content}"
        yield "\n" if file.content.endswith("\n") else "\n\n"
