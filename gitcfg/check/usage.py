"""GC501, GC502, GC505, GC508, GC512: what has an effect on no node.

A witness is a node on which it has one.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gitcfg.check.findings import of
from gitcfg.check.structure import composed
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import Roster
from gitcfg.compile.operations import NOTHING, PENDING, Step, apply
from gitcfg.compile.partial import Cell
from gitcfg.compile.surface import Surface, Surfaces
from gitcfg.model import Binding, Feature, Finding, Group, Node, Op, Origin, Override


class Idle(msgspec.Struct):
    """Something without effect on some nodes: a `$remove` (GC508), or a `without` (GC505)."""

    code: str
    name: str
    origin: Origin
    nodes: list[str]


class Usage(msgspec.Struct):
    """Which definitions have an effect on nodes. Each has one node as a witness.

    `features`, `groups`, `secrets`: those that a node has. `won`: the places of bindings that count in a
    node's final value. `busy`: the places of removals with an effect on a node; `idle`: of those without
    effect on some. `own`: findings about bindings in nodes' own files, whose node is the witness.
    """

    features: dict[str, str] = {}
    groups: dict[str, str] = {}
    secrets: dict[str, str] = {}
    won: dict[str, str] = {}
    busy: dict[str, str] = {}
    idle: dict[str, Idle] = {}
    own: list[Finding] = []


def place(name: str, origin: Origin) -> str:
    """Return the key of a place for a name."""
    return f"{name}\0{origin}"


def file_of(key: str) -> str:
    """Return the file of a place, from the place itself or its key."""
    return key.rpartition("\0")[2].rsplit(":", 2)[0]


def endings(fleet: Fleet, usage: Usage, roster: Roster) -> Iterator[Finding]:
    """Yield GC501, GC502, GC505, GC508, GC512: what could be deleted without effect on any node.

    `roster` has all nodes; the fleet may have only some.
    """
    yield from _idle(usage)
    model = fleet.model
    if not (roster.model.nodes or roster.sets) or model.unread:
        return
    features = usage.features.keys() | frozenset[str]().union(
        *(node_class.features for node_class in fleet.walking_in)
    )
    for name, feature in model.features.items():
        if name not in features:
            yield of("GC502", name, f"No node has the feature {name}.", [feature.origin])
    walk_in = (ref.name for ref in model.settings.walk_in or ())
    groups = {model.settings.default_group, *usage.groups, *walk_in}
    for name, group in model.groups.items():
        if name not in groups:
            yield of("GC502", name, f"No node is in the group {name}.", [group.origin])
    secrets = usage.secrets.keys() | {
        name for node_class in fleet.walking_in for name in node_class.secrets.values()
    }
    for name, secret in model.secrets.items():
        if name not in secrets:
            yield of("GC512", name, f"No node uses the secret {name}.", [secret.origin])
    for name, binding in _settings(fleet, usage, roster):
        if str(binding.origin) not in usage.won and counts(fleet, name, binding):
            yield idle_setting(name, binding)
    yield from usage.own


def _idle(usage: Usage) -> Iterator[Finding]:
    for key, idle in usage.idle.items():
        if key in usage.busy:
            continue
        if idle.code == "GC508":
            message = f"This $remove removes nothing from {idle.name}."
        else:
            message = f"`without` {idle.name} changes nothing: nothing installs it."
        yield of(idle.code, idle.name, message, [idle.origin], idle.nodes)


def _settings(fleet: Fleet, usage: Usage, roster: Roster) -> Iterator[tuple[str, Binding]]:
    """Yield the bindings that should count on a node, except nodes' own, which are reported with the node."""
    model = fleet.model
    layers: list[Feature | Group | Node | Override] = []
    layers += [feature for feature in model.features.values() if feature.name in usage.features]
    layers += [
        group
        for group in model.groups.values()
        if group.name in usage.groups or group.name == model.settings.default_group
    ]
    for nodeset in roster.model.nodesets.values():
        if nodeset.definition.params and any(not roster.definition(name).retired for name in nodeset.members):
            layers.append(nodeset.definition)
    applied = {override.name for node_class in fleet.classes for override in node_class.overrides}
    layers += [override for override in model.overrides.values() if override.name in applied]
    return ((name, binding) for layer in layers for name, binding in layer.params.items())


def counts(fleet: Fleet, name: str, binding: Binding) -> bool:
    """Return whether a binding should count on a node.

    One to null without a default only requires a value.
    """
    if binding.origin in fleet.layers.misfits:
        return False
    return binding.op is not Op.NULL or fleet.declarations.has_default(name)


def idle_setting(name: str, binding: Binding) -> Finding:
    """Return GC501."""
    if binding.op is Op.DEFAULT:
        hint = "Lower layers always set a value. Delete it, or make it a plain value."
        return of(
            "GC501", name, f"A $default of {name} has no effect on any node.", [binding.origin], hint=hint
        )
    hint = "Higher layers override it everywhere. Delete it, or move it to a higher layer."
    return of("GC501", name, f"A setting of {name} has no effect on any node.", [binding.origin], hint=hint)


# Finds the usage of classes; the first node that has an effect of something is its witness.

_MOST_JOINS = 100_000
_NOT_ASKED = ("nodes/", "allocations/")
"""Places of bindings for a single node.

Those in nodes' own files are reported with the node, and those of allocations by the checks of rules.
"""


class UsageWatch:
    """Collects the usage. A class without nodes has none."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces) -> None:
        self.usage = Usage()
        self._fleet = fleet
        self._surfaces = surfaces
        self._features = 0
        self._tops: dict[int, int] = {}
        self._news: list[tuple[Mapping[str, Cell], int, str]] = []
        self._joins: dict[int, Cell] = {}
        removing = (name for name, _ in composed(fleet, Op.REMOVE))
        self._removing = surfaces.params.among(removing)

    def see(self, node_class: NodeClass, surface: Surface) -> Iterable[Finding]:
        if not node_class.names:
            return ()
        node = node_class.names[0]
        self._have(node_class, surface, node)
        for secret in node_class.secrets.values():
            self.usage.secrets.setdefault(secret, node)
        self._see_tops(node_class, surface, node)
        for cell in surface.joins.values():
            if cell.value is not PENDING:
                self._count(cell, node)
        for name in self._surfaces.params.of(surface.pending):  # which steps count depends on the facts
            cell = self._surfaces.cell(node_class, name)
            self._won(cell.counting(node_class.facts(name) if cell.value is PENDING else None), node)
        self._own(node_class, surface)
        if surface.bound & self._removing:
            self._removals(node_class, surface)
        if node_class.definition.without or node_class.overrides:
            self._without(node_class)
        return ()

    def _see_tops(self, node_class: NodeClass, surface: Surface, node: str) -> None:
        """Note what each layer decides alone, except a node's own layer, which is reported with the node."""
        settled = ~surface.pending
        for part, top in zip(node_class.parts, surface.tops, strict=True):
            known = self._tops.get(id(part.cells), 0)
            new = 0 if part.single else top & settled & ~known
            if new:
                self._tops[id(part.cells)] = known | new
                self._news.append((part.cells, new, node))

    def end(self) -> Iterable[Finding]:
        seen: set[int] = set()  # a feature's cells are in the layers of all that have it
        for cells, mask, node in self._news:
            for name in self._surfaces.params.of(mask):
                cell = cells[name]
                if id(cell) not in seen:
                    seen.add(id(cell))
                    self._won(cell.counting(), node)
        self._news.clear()
        return ()

    def _have(self, node_class: NodeClass, surface: Surface, node: str) -> None:
        new = surface.features & ~self._features
        if new:
            self._features |= new
            self.usage.features.update((name, node) for name in self._surfaces.features.of(new))
        groups = self.usage.groups
        for ref in () if node_class.definition.retired else node_class.definition.groups:
            if ref.name not in groups and ref.name in self._fleet.model.groups:
                groups[ref.name] = node

    def _count(self, cell: Cell, node: str) -> None:
        """Record that the steps of a joined cell count. The cell is kept, so that its id is not reused."""
        if id(cell) not in self._joins:
            if len(self._joins) >= _MOST_JOINS:
                self._joins.clear()
            self._joins[id(cell)] = cell
            self._won(cell.counting(), node)

    def _won(self, steps: Iterable[Step], node: str) -> None:
        for step in steps:
            if not step.origin.file.startswith(_NOT_ASKED):
                self.usage.won.setdefault(str(step.origin), node)

    def _own(self, node_class: NodeClass, surface: Surface) -> None:
        """Note the bindings of the node's own file that do not count on it, the only node that has them."""
        own = node_class.definition.own
        if own is None or not own.params or not node_class.parts:
            return
        sure = 0
        for part, top in zip(node_class.parts, surface.tops, strict=True):
            if part.single:
                sure = top & ~surface.pending
                if sure == self._surfaces.shape(part).names:
                    return
        for name, binding in own.params.items():
            if self._surfaces.params.bit(name) & sure:
                continue
            if counts(self._fleet, name, binding) and not self._counts(node_class, name, binding.origin):
                self.usage.own.append(idle_setting(name, binding))

    def _counts(self, node_class: NodeClass, name: str, origin: Origin) -> bool:
        cell = self._surfaces.cell(node_class, name)
        facts = node_class.facts(name) if cell.value is PENDING else None
        return any(step.origin == origin for step in cell.counting(facts))

    def _removals(self, node_class: NodeClass, surface: Surface) -> None:
        for name in self._surfaces.params.of(surface.bound & self._removing):
            for origin, removed in _removals(node_class, name, self._surfaces.cell(node_class, name)):
                self._show("GC508", name, origin, node_class, removed)

    def _without(self, node_class: NodeClass) -> None:
        """Note each `without` (GC505), and whether anything would install its feature."""
        had = self._fleet.stacks.unfiltered(node_class) if node_class.without else frozenset[str]()
        for ref in node_class.without:
            if ref.name in had or ref.name in self._fleet.model.features:
                self._show("GC505", ref.name, ref.origin, node_class, ref.name in had)

    def _show(self, code: str, name: str, origin: Origin, node_class: NodeClass, does: bool) -> None:
        key = place(name, origin)
        if does:
            self.usage.busy.setdefault(key, node_class.names[0])
        else:
            idle = self.usage.idle.setdefault(key, Idle(code, name, origin, []))
            idle.nodes += node_class.names


def _removals(node_class: NodeClass, name: str, cell: Cell) -> Iterator[tuple[Origin, bool]]:
    steps = cell.steps
    if all(step.op is not Op.REMOVE for step in steps):
        return
    facts = node_class.facts(name) if cell.value is PENDING else {}
    below: object = NOTHING
    for step in steps:
        above = apply(step, below, facts)
        if step.op is Op.REMOVE:
            yield step.origin, above != ([] if below in (NOTHING, None) else below)
        below = above
