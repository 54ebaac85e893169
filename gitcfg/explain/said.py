"""What a definition says, as fields: its settings, its files and its lists."""

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.instances import marked
from gitcfg.compile.values import Misfit
from gitcfg.explain.definition import Entry, Reference, Setting
from gitcfg.explain.layers import Definition
from gitcfg.explain.winning import closed, deciding, winning
from gitcfg.model import Binding, Feature, FileEntry, Op, Origin, Ref, Use
from gitcfg.render.files import PRIVATE
from gitcfg.render.templates import TemplateEngine

Wins = Mapping[Origin, tuple[str, ...]]


def settings(fleet: Fleet, label: str, layer: Definition) -> tuple[Setting, ...]:
    """What a layer binds, and where each binding wins."""
    wins = winning(fleet, _names(fleet, layer))
    return tuple(setting(fleet, label, name, binding, wins) for name, binding in layer.params.items())


def _names(fleet: Fleet, layer: Definition) -> set[str]:
    """The parameters that a layer binds, in the names that its instances give them too."""
    names = set(layer.params)
    if isinstance(layer, Feature):
        _ = fleet.classes  # instances are made as nodes are compiled
        names.update(*(made.params for made in fleet.layers.instances if made.name == layer.name))
    return names


def setting(fleet: Fleet, label: str, name: str, binding: Binding, wins: Wins) -> Setting:
    """A layer's binding, its value as one of the parameter's type where it is one."""
    origin, given, fits = binding.origin, binding.given, True
    if "${" in name or marked(given):
        fits = origin not in fleet.layers.misfits  # that is judged once it is instantiated
        given = given if binding.op is Op.SECRET else fleet.declarations.seen(name, given)
    else:
        given, fits = _typed(fleet, name, binding)
    return Setting(label, name, binding.op, given, origin, wins.get(origin, ()), fits)


def _typed(fleet: Fleet, name: str, binding: Binding) -> tuple[Any, bool]:
    try:
        step = fleet.declarations.step(name, binding)
    except Misfit:
        return fleet.declarations.seen(name, binding.given), False
    return step.written, True


def files(fleet: Fleet, engine: TemplateEngine, label: str, layer: Definition) -> tuple[Entry, ...]:
    """The files that a layer brings or takes away, and where each of its entries decides."""
    return entries(fleet, engine, ((label, said) for said in layer.files.values()))


def entries(
    fleet: Fleet, engine: TemplateEngine, found: Iterable[tuple[str, FileEntry]]
) -> tuple[Entry, ...]:
    """Layers' entries for files, each with its layer's label, and with the mode that it has on nodes."""
    found = tuple(found)
    paths = {said.path for _, said in found}
    decides, private = deciding(fleet, paths), closed(fleet, engine, paths)
    return tuple(
        _entry(label, said, decides.get(said.origin, ()), private.get(said.origin, ()))
        for label, said in found
    )


def _entry(label: str, said: FileEntry, nodes: tuple[str, ...], private: tuple[str, ...]) -> Entry:
    if private and private == nodes:
        return Entry(label, msgspec.structs.replace(said, mode=PRIVATE), nodes)
    return Entry(label, said, nodes, private)


def uses(listed: Iterable[Use]) -> tuple[Reference, ...]:
    """A list of features: the instances that one entry makes are told together."""
    found: dict[tuple[str, Origin], list[str]] = {}
    for use in listed:
        instances = found.setdefault((use.feature, use.origin), [])
        instances += [use.instance] if use.instance is not None else []
    return tuple(Reference(name, origin, tuple(made)) for (name, origin), made in found.items())


def refs(listed: Iterable[Ref]) -> tuple[Reference, ...]:
    """A list of names."""
    return tuple(Reference(ref.name, ref.origin) for ref in listed)


def mentioning(name: str, lists: Iterable[tuple[str, Iterable[Ref]]]) -> tuple[Reference, ...]:
    """Of lists, each with the name of who has it, those that mention a name."""
    return tuple(Reference(who, ref.origin) for who, listed in lists for ref in listed if ref.name == name)
