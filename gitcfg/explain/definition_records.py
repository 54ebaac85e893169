"""Definitions as programs read them."""

from collections.abc import Iterable
from typing import Any

from gitcfg.explain.definition import (
    Definition,
    Entry,
    Field,
    Flag,
    Kind,
    Names,
    Nodes,
    Reference,
    Setting,
    Summary,
    Value,
)
from gitcfg.explain.records import Record, nodes_record, origin_record
from gitcfg.explain.why_records import entry_record


def summaries_record(commit: str | None, kind: Kind, summaries: Iterable[Summary]) -> Record:
    """`gitcfg.definitions/1`: everything of a kind, in short."""
    return _record(commit, kind, [{**_head(found), "figures": found.figures} for found in summaries])


def definition_record(commit: str | None, kind: Kind, found: Definition, folded: bool = False) -> Record:
    """`gitcfg.definitions/1`: one definition in full."""
    fields = {name: _field(field, folded) for name, field in found.fields.items()}
    return _record(commit, kind, [{**_head(found), **fields}])


def _record(commit: str | None, kind: Kind, definitions: list[Record]) -> Record:
    head = {"schema": "gitcfg.definitions/1", "commit": commit, "kind": kind.name}
    return {**head, "definitions": definitions}


def _head(found: Definition | Summary) -> Record:
    origin = origin_record(found.origin) if found.origin else None
    return {"name": found.name, "description": found.description, "origin": origin}


def _field(field: Field, folded: bool) -> Any:
    if isinstance(field, Flag | Value):
        return field.value
    if isinstance(field, Names):
        return list(field.names)
    if isinstance(field, Nodes):
        return nodes_record(field.names, folded)
    return [_item(item, folded) for item in field]


def _item(item: Reference | Setting | Entry, folded: bool) -> Record:
    if isinstance(item, Reference):
        origin = origin_record(item.origin)
        return {"name": item.name, "origin": origin, "instances": list(item.instances)}
    wins = nodes_record(item.nodes, folded)
    if isinstance(item, Entry):
        entry = item.entry
        place = {"layer": item.layer, "path": entry.path, "origin": origin_record(entry.origin)}
        private = {"private": nodes_record(item.private, folded)} if item.private else {}
        return {**place, **entry_record(entry), **private, "wins": wins}
    return {
        "layer": item.layer,
        "param": item.param,
        "op": str(item.op.value),
        "given": item.given,
        "origin": origin_record(item.origin),
        "fits": item.fits,
        "wins": wins,
    }
