"""Where bindings and file entries win: the nodes in whose configuration they count."""

from collections.abc import Iterable, Mapping

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.model import Origin
from gitcfg.render.files import held
from gitcfg.render.templates import TemplateEngine

Nodes = tuple[str, ...]


def winning(fleet: Fleet, params: Iterable[str]) -> Mapping[Origin, Nodes]:
    """By the place of a binding of one of these parameters: the nodes whose final value owes it something.

    A binding that counts nowhere is not in it.
    """
    params = tuple(params)
    known: dict[int, frozenset[Origin]] = {}
    found: dict[Origin, list[str]] = {}
    for kind in fleet.classes:
        for origin in frozenset[Origin]().union(*(_counting(kind, name, known) for name in params)):
            found.setdefault(origin, []).extend(kind.names)
    return {origin: tuple(sorted(names)) for origin, names in found.items()}


def _counting(kind: NodeClass, param: str, known: dict[int, frozenset[Origin]]) -> frozenset[Origin]:
    """The places of the steps that count on a class's nodes; of cells that classes share, once."""
    cell = kind.stack.cells.get(param)
    if cell is None:
        return frozenset()
    if param in kind.stack.pending:
        return frozenset(step.origin for step in cell.counting(kind.facts(param)))
    if id(cell) not in known:
        known[id(cell)] = frozenset(step.origin for step in cell.counting())
    return known[id(cell)]


def deciding(fleet: Fleet, paths: Iterable[str]) -> Mapping[Origin, Nodes]:
    """By the place of a file entry for one of these paths: the nodes on which no higher one replaces it."""
    paths = tuple(paths)
    found: dict[Origin, list[str]] = {}
    for kind in fleet.classes:
        entries = (kind.stack.files.get(path) for path in paths)
        for origin in {entry.origin for entry in entries if entry is not None}:
            found.setdefault(origin, []).extend(kind.names)
    return {origin: tuple(sorted(names)) for origin, names in found.items()}


def closed(fleet: Fleet, engine: TemplateEngine, paths: Iterable[str]) -> Mapping[Origin, Nodes]:
    """By the place of a file entry for one of these paths that says no mode: the nodes on which it decides
    and takes a secret, so that nobody but the file's owner may read it.
    """
    paths = tuple(paths)
    found: dict[Origin, list[str]] = {}
    for kind in fleet.classes:
        node = FleetNode(next(iter(kind.names), ""), kind, kind.said)
        entries = (kind.stack.files.get(path) for path in paths) if kind.secrets else ()
        silent = {entry.origin: entry for entry in entries if entry is not None and not entry.mode_said}
        for origin, entry in silent.items():
            if held(fleet, node, entry, engine):
                found.setdefault(origin, []).extend(kind.names)
    return {origin: tuple(sorted(names)) for origin, names in found.items()}
