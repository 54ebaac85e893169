"""GC501, GC502: settings that count nowhere, groups and features that nobody has."""

from collections.abc import Iterator

from gitcfg.check.fold import of
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.partial import Cell
from gitcfg.model import Binding, Feature, Finding, Group, Node, Op, Origin, Override


def dead(fleet: Fleet) -> Iterator[Finding]:
    """What could be deleted without any node noticing. Not judged while definitions are unreadable."""
    if not fleet.names or fleet.model.unread:
        return
    have = frozenset[str]().union(*(kind.features for kind in fleet.classes))
    members = {name for kind in fleet.classes for name in kind.groups if not kind.said.retired}
    members.add(fleet.model.settings.default_group)
    for name, feature in fleet.model.features.items():
        if name not in have:
            yield of("GC502", name, f"No node has the feature {name}.", [feature.origin])
    for name, group in fleet.model.groups.items():
        if name not in members:
            yield of("GC502", name, f"No node is in the group {name}.", [group.origin])
    winning = _winning(fleet)
    for name, binding in _settings(fleet, have, members):
        if binding.origin not in winning and binding.origin not in fleet.layers.misfits:
            yield _idle(name, binding)


def _idle(name: str, binding: Binding) -> Finding:
    if binding.op is Op.DEFAULT:
        hint = "Lower layers give it a value everywhere. Delete it, or make it a plain value."
        return of("GC501", name, f"A $default of {name} applies on no node.", [binding.origin], hint=hint)
    hint = "Higher layers replace it everywhere. Delete it, or move it up."
    return of("GC501", name, f"A setting of {name} wins on no node.", [binding.origin], hint=hint)


def _settings(fleet: Fleet, have: frozenset[str], members: set[str]) -> Iterator[tuple[str, Binding]]:
    """The bindings that somebody should have."""
    model = fleet.model
    applied = {override.name for kind in fleet.classes for override in kind.overrides}
    active = {name for kind in fleet.classes if not kind.said.retired for name in kind.names}
    layers: list[Feature | Group | Node | Override] = []
    layers += [feature for feature in model.features.values() if feature.name in have]
    layers += [group for group in model.groups.values() if group.name in members]
    layers += [node for node in model.nodes.values() if node.name in active]
    sets = model.nodesets.values()
    layers += [nodeset.definition for nodeset in sets if not active.isdisjoint(nodeset.members)]
    layers += [override for override in model.overrides.values() if override.name in applied]
    return (
        (name, binding)
        for layer in layers
        for name, binding in layer.params.items()
        if binding.op is not Op.NULL or fleet.declarations.has_default(name)  # else it asks for a value
    )


def _winning(fleet: Fleet) -> set[Origin]:
    """Where the steps stand that count in some node's final value."""
    cells: dict[int, Cell] = {}
    won: set[Origin] = set()
    for kind in fleet.classes:
        for name in kind.stack.pending:  # which steps count depends on the nodes' facts
            won.update(step.origin for step in kind.stack.cells[name].counting(kind.facts(name)))
        found = [cell for name, cell in kind.stack.cells.items() if name not in kind.stack.pending]
        cells.update(zip(map(id, found), found, strict=True))
    won.update(step.origin for cell in cells.values() for step in cell.counting())
    return won
