"""Rendered nodes on their way out: to the terminal, or as JSON."""

import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from gitcfg.cli.records import write_record
from gitcfg.cli.session import Output, Session
from gitcfg.library import Fleet, Node
from gitcfg.model import GitcfgError
from gitcfg.model.nodeset import abridged
from gitcfg.model.secrets import shown
from gitcfg.model.text import safe


class RenderOptions(msgspec.Struct, frozen=True):
    """What of the nodes is wanted: files, one file, or parameters only; as what."""

    params: bool
    file: str | None
    output: Output


def write_nodes(session: Session, fleet: Fleet, names: tuple[str, ...], wanted: RenderOptions) -> None:
    """Write what nodes get, one after the other: of many nodes it is too much to be held."""
    if wanted.output is Output.JSON and len(names) > 1:
        sys.stdout.buffer.writelines(text.encode() for text in _document(fleet, names, wanted.params))
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
    """Say why nothing is shown of some nodes."""
    if names:
        get = "gets" if len(names) == 1 else "get"
        note = f"note: {safe(abridged(names))} {get} no files; --params shows what is bound."
        session.console(stderr=True).print(note, style="yellow")


def _record(fleet: Fleet, nodes: dict[str, Any]) -> dict[str, Any]:
    return {"schema": "gitcfg.render/1", "commit": fleet.commit, "nodes": nodes}


def _document(fleet: Fleet, names: tuple[str, ...], params_only: bool) -> Iterator[str]:
    """`gitcfg.render/1` of several nodes, a line each."""
    yield f'{{\n  "schema": "gitcfg.render/1",\n  "commit": {_json(fleet.commit)},\n  "nodes": {{'
    between = "\n"
    for name, text in _members(fleet, names, params_only):
        yield f"{between}    {_json(name)}: {text}"
        between = ",\n"
    yield "\n  }\n}\n"


def _members(fleet: Fleet, names: tuple[str, ...], params_only: bool) -> Iterator[tuple[str, str]]:
    """Each node as JSON."""
    if params_only:
        from gitcfg.render.files import members

        return members(fleet.compiled, names)
    return ((name, _json(node_record(fleet[name], params_only))) for name in names)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


def node_record(node: Node, params_only: bool) -> dict[str, Any]:
    """One node in `gitcfg.render/1`."""
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


def _text(node: Node, wanted: RenderOptions, several: bool) -> Iterator[str]:
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


def _files_hint(node: Node) -> str:
    return f"It has: {', '.join(node.files)}." if node.files else "It has no files at all."
