"""Rendered nodes on their way out: to the terminal, or as JSON."""

import sys
from collections.abc import Iterator
from typing import Any

import msgspec

from gitcfg.cli.records import write_record
from gitcfg.cli.session import Output, Session
from gitcfg.library import Fleet, Node
from gitcfg.model import GitcfgError


class Wanted(msgspec.Struct, frozen=True):
    """What of the nodes is wanted: files, one file, or parameters only; as what."""

    params: bool
    file: str | None
    output: Output


def deliver(session: Session, fleet: Fleet, names: tuple[str, ...], wanted: Wanted) -> None:
    """Write what nodes get, one after the other."""
    if wanted.params and wanted.output is Output.JSON:
        sys.stdout.buffer.writelines(text.encode() for text in _params(fleet, names))
    elif wanted.output is not Output.TEXT:
        record = {name: node_record(fleet[name], wanted.params) for name in names}
        write_record({"schema": "gitcfg.render/1", "commit": fleet.commit, "nodes": record}, wanted.output)
    else:
        for name in names:
            session.write("".join(_text(fleet[name], wanted, several=len(names) > 1)))


def _params(fleet: Fleet, names: tuple[str, ...]) -> Iterator[str]:
    """`gitcfg.render/1` with parameters only, node by node: of many nodes it is too large to be held."""
    from gitcfg.render.params import members

    yield f'{{\n  "schema": "gitcfg.render/1",\n  "commit": {_json(fleet.commit)},\n  "nodes": {{'
    between = ""
    for name, text in members(fleet.compiled, names, 4):
        yield f"{between}\n    {_json(name)}: {text}"
        between = ","
    yield "\n  }\n}\n" if names else "}\n}\n"


def _json(value: str | None) -> str:
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


def _text(node: Node, wanted: Wanted, several: bool) -> Iterator[str]:
    if wanted.params:
        yield from (f"# {node.name}\n",) if several else ()
        for name, value in node.params.items():
            yield f"{name} = {value if isinstance(value, str) else msgspec.json.encode(value).decode()}\n"
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
