"""Rendered nodes on their way out: to the terminal, as JSON, or into a folder."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from gitcfg.cli.folder import OutputFolder
from gitcfg.cli.records import write_record
from gitcfg.cli.session import Output, Session
from gitcfg.library import Fleet, Node
from gitcfg.model import Finding, GitcfgError, Severity


class Wanted(msgspec.Struct, frozen=True):
    """What of the nodes is wanted, and where."""

    params: bool
    file: str | None
    out: Path | None
    output: Output


def deliver(session: Session, fleet: Fleet, names: tuple[str, ...], wanted: Wanted) -> None:
    """Write what nodes get, one after the other."""
    if wanted.out is not None:
        folder = OutputFolder(wanted.out)
        for name in names:
            folder.put(name, fleet[name].rendered)
    elif wanted.output is not Output.TEXT:
        record = {name: node_record(fleet[name], wanted.params) for name in names}
        write_record({"schema": "gitcfg.render/1", "commit": fleet.commit, "nodes": record}, wanted.output)
    else:
        for name in names:
            session.write("".join(_text(fleet[name], wanted, several=len(names) > 1)))


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


def refusals(session: Session, fleet: Fleet, names: tuple[str, ...]) -> int:
    """Tell the errors that concern these nodes; 1 if there are any."""
    grave = [finding for finding in fleet.findings if finding.severity is Severity.ERROR]
    made_from = _files(fleet, names) if grave else frozenset()
    errors = [finding for finding in grave if _concerns(finding, names, made_from)]
    if errors:
        from gitcfg.cli.findings import show
        from gitcfg.cli.plain import counted

        console = session.console(stderr=True)
        show(console, fleet.compiled.tree, errors)
        verb = "concerns" if len(errors) == 1 else "concern"
        console.print(f"{counted(len(errors), 'error')} {verb} what was rendered.", style="red")
    return int(bool(errors))


def _files(fleet: Fleet, names: tuple[str, ...]) -> frozenset[str] | None:
    """The repository's files that nodes are made from; None: all of them, for all nodes."""
    if len(names) == len(fleet):
        return None
    return frozenset[str]().union(*(fleet.compiled.files_of(name) for name in names))


def _concerns(finding: Finding, names: tuple[str, ...], made_from: frozenset[str] | None) -> bool:
    """Is a finding about one of these nodes, or about a file that one of them is made from?"""
    if finding.nodes:
        return not set(finding.nodes).isdisjoint(names)
    return made_from is None or not made_from.isdisjoint(origin.file for origin in finding.origins)
