"""`gitcfg render`: what nodes get."""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from gitcfg.cli.declaration import AtOption, NodesArgument, OutputOption, WhereOption, command
from gitcfg.cli.records import Items, write_record
from gitcfg.cli.session import Output, Session, fleet_of
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
    params: Annotated[bool, typer.Option("--params", help="Parameters only, no files.")] = False,
    file: Annotated[str | None, typer.Option(help="Only this file, as it is.", metavar="PATH")] = None,
    out: Annotated[Path | None, typer.Option(help="Bring DIR/NODE/PATH up to date.", metavar="DIR")] = None,
    ref: Annotated[
        str | None, typer.Option(help="Commit what changed on a branch, as NODE/PATH.", metavar="REF")
    ] = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Show the files or parameters of nodes. Exits 1 if one has errors; `gitcfg check` checks them all."""
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
        from gitcfg.cli.nodes import choose_nodes

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
        from gitcfg.cli.nodes import print_errors_of

        whole = len(names) == len(fleet)
        wanted = fleet if whole else fleet.alone(names)
        write_nodes(session, wanted, names, RenderOptions(params, file, output))
        if not wanted.whole and (wanted.model.rules or wanted.model.allocations):
            note = "note: rules that look at several nodes were not checked; `gitcfg check` checks them."
            session.console(stderr=True).print(note, style="yellow")
        return print_errors_of(session, wanted, names)


class RenderOptions(msgspec.Struct, frozen=True):
    """What of the nodes to show: files, one file, or parameters only; as what."""

    params: bool
    file: str | None
    output: Output


def write_nodes(session: Session, fleet: "Fleet", names: tuple[str, ...], wanted: RenderOptions) -> None:
    """Write what nodes get, one after the other: that of many nodes is too much to be held."""
    if wanted.output is Output.JSON and len(names) > 1:
        sys.stdout.buffer.writelines(_document(fleet, names, wanted.params))
    elif wanted.output is Output.JSONL:
        for name in names:
            write_record(_record(fleet, {name: node_record(fleet[name], wanted.params)}), wanted.output)
    elif wanted.output is not Output.TEXT:
        found = {name: node_record(fleet[name], wanted.params) for name in names}
        write_record(_record(fleet, found), wanted.output)
    else:
        bare = list[str]()
        for name in names:
            text = "".join(_text(fleet[name], wanted, several=len(names) > 1))
            session.write(text)
            if not text:
                bare.append(name)
        if not wanted.params and wanted.file is None:
            _note_without_files(session, bare)


def _note_without_files(session: Session, names: list[str]) -> None:
    """Note why nothing is shown of some nodes."""
    if names:
        get = "gets" if len(names) == 1 else "get"
        note = f"note: {safe(abridged(names))} {get} no files; --params shows what is bound."
        session.console(stderr=True).print(note, style="yellow")


def _record(fleet: "Fleet", nodes: dict[str, Any]) -> dict[str, Any]:
    return {"schema": "gitcfg.render/1", "commit": fleet.commit, "nodes": nodes}


def _document(fleet: "Fleet", names: tuple[str, ...], params_only: bool) -> Iterator[bytes]:
    """Yield `gitcfg.render/1` of several nodes, a line each."""
    encode = msgspec.json.encode
    yield b'{\n  "schema": "gitcfg.render/1",\n  "commit": %b,\n  "nodes": {' % encode(fleet.commit)
    between = b"\n"
    for name, text in _members(fleet, names, params_only):
        yield b"%b    %b: " % (between, encode(name))
        yield text
        between = b",\n"
    yield b"\n  }\n}\n"


def _members(fleet: "Fleet", names: tuple[str, ...], params_only: bool) -> Iterator[tuple[str, bytes]]:
    """Yield each node as JSON."""
    if params_only:
        from gitcfg.render.files import members

        return members(fleet.compiled, names)
    return ((name, msgspec.json.encode(node_record(fleet[name], params_only))) for name in names)


def node_record(node: "Node", params_only: bool) -> dict[str, Any]:
    """Return one node in `gitcfg.render/1`."""
    record: dict[str, Any] = {"features": node.features, "params": node.params}
    if not params_only:
        record["files"] = {
            path: {
                "content": file.content,
                "mode": file.mode,
                "owner": file.owner,
                "group": file.group,
                "digest": file.digest,
            }
            for path, file in node.rendered.items()
        }
        record["digest"] = node.digest
    return record


def _text(node: "Node", wanted: RenderOptions, several: bool) -> Iterator[str]:
    if wanted.params:
        yield from (f"# {node.name}\n",) if several else ()
        for name, value in node.params.items():
            seen = shown(value)
            yield f"{name} = {seen if isinstance(seen, str) else msgspec.json.encode(seen).decode()}\n"
        return
    if wanted.file is not None:
        if wanted.file not in node.files:
            raise GitcfgError(f"{node.name} has no file {wanted.file}.", _files_hint(node))
        yield node.files[wanted.file]
        return
    for path, file in node.rendered.items():
        owner = "" if file.owner == file.group == "root" else f" {file.owner}:{file.group}"
        where = f"{node.name}:{path}" if several else path
        yield f"# ---- {where} ({file.mode}{owner})\n{file.content}"
        yield "\n" if file.content.endswith("\n") else "\n\n"


def _files_hint(node: "Node") -> str:
    return f"It has: {', '.join(node.files)}." if node.files else "It has no files at all."
