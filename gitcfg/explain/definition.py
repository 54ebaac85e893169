"""Definitions in full: their content, what uses them, and on which nodes they have an effect."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.instances import has_marks
from gitcfg.compile.values import Misfit
from gitcfg.explain.trail import (
    LayerDefinition,
    Record,
    entry_record,
    find_closing_nodes,
    find_deciding_nodes,
    find_winning_nodes,
    nodes_record,
    origin_record,
)
from gitcfg.model import Binding, Feature, FileEntry, Op, Origin, Ref, Use
from gitcfg.render.files import PRIVATE
from gitcfg.render.templates import TemplateEngine


class Reference(msgspec.Struct, frozen=True):
    """A name, or a layer's label, in a list: its place there, and the instances that the entry makes."""

    name: str
    origin: Origin
    instances: tuple[str, ...] = ()


class Setting(msgspec.Struct, frozen=True):
    """A layer's binding of a parameter, and the nodes on which it wins. `fits`: its value has the type."""

    layer: str
    param: str
    op: Op
    given: Any
    origin: Origin
    nodes: tuple[str, ...]
    fits: bool


class Entry(msgspec.Struct, frozen=True):
    """A layer's entry for a file, and the nodes on which it decides.

    `private` are the nodes with a secret in the file, where its mode differs from the one in `entry`.
    """

    layer: str
    entry: FileEntry
    nodes: tuple[str, ...]
    private: tuple[str, ...] = ()


class Nodes(msgspec.Struct, frozen=True):
    """Nodes, in order of name."""

    names: tuple[str, ...]


class Names(msgspec.Struct, frozen=True):
    """Plain names or words. `many`: names of parameters, of which there may be hundreds."""

    names: tuple[str, ...]
    many: bool = False


class Flag(msgspec.Struct, frozen=True):
    """A yes or no."""

    value: bool


class Value(msgspec.Struct, frozen=True):
    """A value of any type, in the form of YAML or of a parameter's type; None if there is none."""

    value: Any


Field = Flag | Value | Names | Nodes | tuple[Reference, ...] | tuple[Setting, ...] | tuple[Entry, ...]


class Definition(msgspec.Struct, frozen=True):
    """One definition: `fields` in the order in which they are shown.

    `origin` is None if it has no single place.
    """

    name: str
    description: str
    origin: Origin | None
    fields: Mapping[str, Field]


class Summary(msgspec.Struct, frozen=True):
    """One definition in a list: `figures` are the most important properties of its kind, mostly numbers."""

    name: str
    description: str
    origin: Origin | None
    figures: Mapping[str, Any]


class Kind(msgspec.Struct, frozen=True):
    """A kind of definition: a summary of each in order of name, their names, and everything about one.

    `also` returns whether a name that is not among the names has a definition.
    """

    name: str
    summaries: Callable[[Fleet], Iterable[Summary]]
    names: Callable[[Fleet], Collection[str]]
    definition: Callable[[Fleet, TemplateEngine, str], Definition]
    also: Callable[[Fleet, str], bool] = lambda fleet, name: False


# The content of a definition as fields: its settings, its files and its lists.

Wins = Mapping[Origin, tuple[str, ...]]


def layer_settings(fleet: Fleet, label: str, layer: LayerDefinition) -> tuple[Setting, ...]:
    """Return a layer's bindings, and the nodes on which each wins."""
    wins = find_winning_nodes(fleet, _names(fleet, layer))
    return tuple(make_setting(fleet, label, name, binding, wins) for name, binding in layer.params.items())


def _names(fleet: Fleet, layer: LayerDefinition) -> set[str]:
    """Return the parameters that a layer binds, including the names that its instances give them."""
    names = set(layer.params)
    if isinstance(layer, Feature):
        _ = fleet.classes  # instances are made as nodes are compiled
        names.update(*(made.params for made in fleet.layers.instances if made.name == layer.name))
    return names


def make_setting(fleet: Fleet, label: str, name: str, binding: Binding, wins: Wins) -> Setting:
    """Return a layer's binding, with its value converted to the parameter's type if it fits."""
    origin, given, fits = binding.origin, binding.given, True
    if "${" in name or has_marks(given):
        fits = origin not in fleet.layers.misfits  # its type is checked once it is instantiated
        given = given if binding.op is Op.SECRET else fleet.declarations.seen(name, given)
    else:
        try:
            given = fleet.declarations.step(name, binding).written
        except Misfit:
            given, fits = fleet.declarations.seen(name, given), False
    return Setting(label, name, binding.op, given, origin, wins.get(origin, ()), fits)


def layer_files(
    fleet: Fleet, engine: TemplateEngine, label: str, layer: LayerDefinition
) -> tuple[Entry, ...]:
    """Return the files that a layer adds or removes, and the nodes on which each of its entries decides."""
    return file_entries(fleet, engine, ((label, said) for said in layer.files.values()))


def file_entries(
    fleet: Fleet, engine: TemplateEngine, found: Iterable[tuple[str, FileEntry]]
) -> tuple[Entry, ...]:
    """Return layers' entries for files, each with its layer's label, and the mode that it has on nodes."""
    found = tuple(found)
    paths = {said.path for _, said in found}
    decides, private = find_deciding_nodes(fleet, paths), find_closing_nodes(fleet, engine, paths)
    return tuple(
        _entry(label, said, decides.get(said.origin, ()), private.get(said.origin, ()))
        for label, said in found
    )


def _entry(label: str, said: FileEntry, nodes: tuple[str, ...], private: tuple[str, ...]) -> Entry:
    if private and private == nodes:
        return Entry(label, msgspec.structs.replace(said, mode=PRIVATE), nodes)
    return Entry(label, said, nodes, private)


def use_references(listed: Iterable[Use]) -> tuple[Reference, ...]:
    """Return a list of features, with the instances that one entry makes in one reference."""
    found: dict[tuple[str, Origin], list[str]] = {}
    for use in listed:
        instances = found.setdefault((use.feature, use.origin), [])
        instances += [use.instance] if use.instance is not None else []
    return tuple(Reference(name, origin, tuple(made)) for (name, origin), made in found.items())


def name_references(listed: Iterable[Ref]) -> tuple[Reference, ...]:
    """Return a list of names."""
    return tuple(Reference(ref.name, ref.origin) for ref in listed)


def find_mentioning(name: str, lists: Iterable[tuple[str, Iterable[Ref]]]) -> tuple[Reference, ...]:
    """Return the references to a name in lists, each of which comes with its owner's name."""
    return tuple(Reference(who, ref.origin) for who, listed in lists for ref in listed if ref.name == name)


# Definitions as records for programs.


def summaries_record(commit: str | None, kind: Kind, summaries: Iterable[Summary]) -> Record:
    """Return `gitcfg.definitions/1` with a summary of each definition of a kind."""
    return _record(commit, kind, [{**_head(found), "figures": found.figures} for found in summaries])


def definition_record(commit: str | None, kind: Kind, found: Definition, folded: bool = False) -> Record:
    """Return `gitcfg.definitions/1` with one definition in full."""
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
