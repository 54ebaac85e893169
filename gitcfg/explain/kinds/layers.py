"""Features, groups, nodes, node sets, overrides, holds and settings: their content, and their nodes."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.operations import NOTHING
from gitcfg.explain.definition import (
    Definition,
    Field,
    Flag,
    Kind,
    Names,
    Nodes,
    Reference,
    Setting,
    Summary,
    Value,
    find_mentioning,
    layer_files,
    layer_settings,
    make_setting,
    name_references,
    use_references,
)
from gitcfg.explain.trail import added_items, find_winning_nodes, listed_features, walk_layers
from gitcfg.explain.values import find_value
from gitcfg.model import (
    Fact,
    Feature,
    Group,
    Hold,
    Model,
    Node,
    NodeSet,
    Op,
    Origin,
    Override,
    Ref,
    Release,
    Settings,
)
from gitcfg.model.delivery import is_over
from gitcfg.model.rules import RuleKind
from gitcfg.model.text import duration
from gitcfg.nodeset import fold
from gitcfg.render.templates import TemplateEngine


def _summarize_features(fleet: Fleet) -> Iterator[Summary]:
    counts = dict.fromkeys(fleet.model.features, 0)
    for kind in fleet.classes:
        for name in kind.features:
            counts[name] += len(kind.names)
    for name in sorted(fleet.model.features):
        feature = fleet.model.features[name]
        yield Summary(name, feature.description, feature.origin, {"nodes": counts[name]})


def _define_feature(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    model = fleet.model
    feature = model.features[name]
    label = f"feature {name}"
    others = model.features.values()
    limits = [
        (f"rule {rule.name}", (rule.feature,))
        for rule in model.rules.values()
        if rule.kind is RuleKind.LIMIT and rule.feature is not None
    ]
    fields: dict[str, Field] = {
        "nodes": Nodes(holders(fleet, name)),
        "include": use_references(feature.include),
        "depends": name_references(feature.depends),
        "conflicts": name_references(feature.conflicts),
        "after": name_references(feature.after),
        "settings": layer_settings(fleet, label, feature),
        "files": layer_files(fleet, engine, label, feature),
        "included_by": tuple(_listing(model, name, including=True)),
        "installed_by": tuple(_listing(model, name, including=False)),
        "limited_by": find_mentioning(name, limits),
        "taken_away_by": find_mentioning(name, _withouts(model)),
        "depended_on_by": find_mentioning(name, [(other.name, other.depends) for other in others]),
        "in_conflict_with": find_mentioning(name, [(other.name, other.conflicts) for other in others]),
        "awaited_by": find_mentioning(name, [(other.name, other.after) for other in others]),
        "subsystems": find_mentioning(name, [(s.name, s.features or ()) for s in model.subsystems.values()]),
    }
    return Definition(name, feature.description, feature.origin, fields)


def holders(fleet: Fleet, feature: str) -> tuple[str, ...]:
    """Return the nodes that have a feature."""
    return tuple(sorted(name for kind in fleet.classes if feature in kind.features for name in kind.names))


def _listing(model: Model, feature: str, including: bool) -> Iterator[Reference]:
    """Yield the features that include one, or the other layers that install it."""
    for label, layer in walk_layers(model):
        if isinstance(layer, Feature) is including:
            for found in use_references(use for use in listed_features(layer) if use.feature == feature):
                yield Reference(layer.name if including else label, found.origin, found.instances)


def _withouts(model: Model) -> Iterator[tuple[str, Iterable[Ref]]]:
    for label, layer in walk_layers(model):
        if isinstance(layer, Node):
            yield label, added_items(layer.without)
        elif isinstance(layer, Override):
            yield label, layer.without


FEATURE = Kind("feature", _summarize_features, lambda fleet: fleet.model.features, _define_feature)


# Groups: their content, and their members.


def _groups(fleet: Fleet) -> dict[str, Group]:
    """Return all groups. The default group is included although it may have no file."""
    default = fleet.model.settings.default_group
    return {default: Group(default, Origin(f"groups/{default}.yaml")), **fleet.model.groups}


def _summarize_groups(fleet: Fleet) -> Iterator[Summary]:
    groups = _groups(fleet)
    counts = dict.fromkeys(groups, 0)
    for kind in fleet.classes:
        for name in {*kind.groups, fleet.model.settings.default_group}:
            counts[name] += len(kind.names)
    for name in sorted(groups):
        group = groups[name]
        features = len({use.feature for use in group.features})
        yield Summary(
            name, group.description, _origin(fleet, name), {"features": features, "nodes": counts[name]}
        )


def _define_group(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    group = _groups(fleet)[name]
    label = f"group {name}"
    lists = [
        (who, added_items(node.groups)) for who, node in walk_layers(fleet.model) if isinstance(node, Node)
    ]
    fields: dict[str, Field] = {
        "nodes": Nodes(members(fleet, name)),
        "default": Flag(name == fleet.model.settings.default_group),
        "features": use_references(group.features),
        "settings": layer_settings(fleet, label, group),
        "files": layer_files(fleet, engine, label, group),
        "listed_by": find_mentioning(name, lists),
    }
    return Definition(name, group.description, _origin(fleet, name), fields)


def _origin(fleet: Fleet, name: str) -> Origin | None:
    return fleet.model.groups[name].origin if name in fleet.model.groups else None


def members(fleet: Fleet, group: str) -> tuple[str, ...]:
    """Return the nodes that are in a group."""
    if group == fleet.model.settings.default_group:
        return fleet.names
    return tuple(sorted(name for kind in fleet.classes if group in kind.groups for name in kind.names))


GROUP = Kind("group", _summarize_groups, _groups, _define_group)


# Nodes and node sets: their properties and their definitions.


def _definitions(node: FleetNode) -> list[Node]:
    """Return the definitions of a node: its own file, and its set's."""
    found = (node.definition.own, node.definition.nodeset.definition if node.definition.nodeset else None)
    return [given for given in found if given is not None]


def _description(node: FleetNode) -> str:
    return next((given.description for given in _definitions(node) if given.description), "")


def _summarize_nodes(fleet: Fleet) -> Iterator[Summary]:
    for name in fleet.names:
        node = fleet[name]
        retired = node.definition.retired
        figures = {"groups": list(node.groups), "features": len(node.features), "retired": retired}
        yield Summary(name, _description(node), _definitions(node)[0].origin, figures)


def _define_node(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    node = fleet[name]
    said, nodeset = node.definition, node.definition.nodeset
    fields: dict[str, Field] = {
        "node_set": (Reference(nodeset.name, nodeset.origin),) if nodeset else (),
        "retired": Flag(said.retired),
        "groups": name_references(said.groups),
        "features": Names(node.features),
        "without": name_references(node.node_class.without),
        "labels": Names(said.labels),
        "facts": _facts(said.facts),
        "address": Value(said.address),
        "overrides": tuple(Reference(found.name, found.origin) for found in node.node_class.overrides),
        "parameters": Value(len(node.params)),
        "files": Names(tuple(node.entries)),
    }
    return Definition(name, _description(node), _definitions(node)[0].origin, fields)


def _summarize_nodesets(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.nodesets):
        found = fleet.model.nodesets[name]
        groups = [ref.name for ref in found.definition.groups.items]
        figures = {"nodes": len(found.members), "groups": groups}
        yield Summary(name, found.definition.description, found.origin, figures)


def _define_nodeset(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    found = fleet.model.nodesets[name]
    said, label = found.definition, f"node set {name}"
    fields: dict[str, Field] = {
        "nodes": Nodes(tuple(sorted(found.members))),
        "state": Value(said.state),
        "groups": name_references(added_items(said.groups)),
        "features": use_references(added_items(said.features)),
        "without": name_references(added_items(said.without)),
        "labels": Names(tuple(ref.name for ref in added_items(said.labels))),
        "facts": _facts(said.facts),
        "node_facts": _node_facts(found),
        "address": Value(said.address),
        "settings": layer_settings(fleet, label, said),
        "files": layer_files(fleet, engine, label, said),
        "with_own_file": Nodes(tuple(sorted(set(found.members) & fleet.model.nodes.keys()))),
    }
    return Definition(name, said.description, found.origin, fields)


def _facts(facts: Mapping[str, Fact]) -> Value:
    return Value({name: fact.value for name, fact in facts.items()} or None)


def _node_facts(nodeset: NodeSet) -> Value:
    """Return the facts of single members, by the members that share them."""
    alike: dict[str, tuple[dict[str, Any], list[str]]] = {}
    for members, facts in nodeset.shared_facts():
        values = {name: fact.value for name, fact in facts.items()}
        alike.setdefault(repr(values), (values, []))[1].extend(members)
    return Value({fold(members): values for values, members in alike.values() if values} or None)


NODE = Kind(
    "node", _summarize_nodes, lambda fleet: fleet.names, _define_node, also=lambda fleet, name: name in fleet
)
NODESET = Kind("nodeset", _summarize_nodesets, lambda fleet: fleet.model.nodesets, _define_nodeset)


# Overrides: their nodes, their end, and whether their content has an effect.


def _summarize_overrides(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.overrides):
        found = fleet.model.overrides[name]
        figures = {
            "nodes": len(overridden(fleet, found)),
            "until": str(found.until),
            "past": is_over(found.until, fleet.today),
        }
        yield Summary(name, found.reason, found.origin, figures)


def _define_override(fleet: Fleet, engine: TemplateEngine, name: str) -> Definition:
    found = fleet.model.overrides[name]
    label = f"override {name}"
    fields: dict[str, Field] = {
        "nodes": Nodes(overridden(fleet, found)),
        "until": Value(str(found.until)),
        "past": Flag(is_over(found.until, fleet.today)),
        "where": Value(found.where.name if found.where else None),
        "features": use_references(found.features),
        "without": name_references(found.without),
        "settings": layer_settings(fleet, label, found),
        "files": layer_files(fleet, engine, label, found),
    }
    return Definition(name, found.reason, found.origin, fields)


def overridden(fleet: Fleet, found: Override) -> tuple[str, ...]:
    """Return the nodes that an override applies to, in order of name."""
    return tuple(sorted(name for kind in fleet.classes if found in kind.overrides for name in kind.names))


OVERRIDE = Kind("override", _summarize_overrides, lambda fleet: fleet.model.overrides, _define_override)


# Holds: which nodes stay at which commit, why, and until when.


def held(fleet: Fleet, found: Hold) -> tuple[str, ...]:
    """Return the nodes of a hold, in order of name, also if it is over."""
    if found.where is not None:
        return tuple(sorted(fleet.select(found.where.name).names))
    return tuple(sorted({name for name in found.members or () if name in fleet}))


def _summarize_holds(fleet: Fleet) -> Iterator[Summary]:
    for name in sorted(fleet.model.holds):
        found = fleet.model.holds[name]
        figures = {
            "nodes": len(held(fleet, found)),
            "runs": found.commit.name,
            "until": str(found.until),
            "past": is_over(found.until, fleet.today),
        }
        yield Summary(name, found.reason, found.origin, figures)


def _define_hold(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    found = fleet.model.holds[name]
    fields: dict[str, Field] = {
        "nodes": Nodes(held(fleet, found)),
        "runs": Value(found.commit.name),
        "until": Value(str(found.until)),
        "past": Flag(is_over(found.until, fleet.today)),
        "where": Value(found.where.name if found.where else None),
    }
    return Definition(name, found.reason, found.origin, fields)


HOLD = Kind("hold", _summarize_holds, lambda fleet: fleet.model.holds, _define_hold)


# The repository's settings: those in gitcfg.yaml, and the defaults of the others.

_NAMES = tuple(name for name in Settings.__struct_fields__ if name != "origin")


def _summarize_settings(fleet: Fleet) -> Iterator[Summary]:
    for name in _NAMES:
        yield Summary(name, "", fleet.model.settings.origin, {"value": _value(fleet, name)})


def _define_setting(fleet: Fleet, _: TemplateEngine, name: str) -> Definition:
    return Definition(name, "", fleet.model.settings.origin, {"value": Value(_value(fleet, name))})


def _value(fleet: Fleet, name: str) -> object:
    said = getattr(fleet.model.settings, name)
    if name == "walk_in" and said is not None:
        return {"groups": [ref.name for ref in said]}
    if name == "ignore":
        keys = ("code", "subject", "reason", "until")
        given = [{key: getattr(entry, key) for key in keys} for entry in said]
        return [{key: str(value) for key, value in one.items() if value is not None} for one in given]
    return _release(said) if isinstance(said, Release) else msgspec.to_builtins(said)


def _release(said: Release) -> object:
    return {
        "stages": [stage.written for stage in said.stages],
        "settle": duration(said.settle),
        "max_failures": said.max_failures,
        "first": said.first.name if said.first else None,
    }


SETTING = Kind("setting", _summarize_settings, lambda fleet: _NAMES, _define_setting)


# What binds a parameter or a family of parameters: layers, and nodes.


def bound_anywhere(fleet: Fleet) -> Collection[str]:
    """Return every parameter that is declared, or that some layer binds."""
    bound = frozenset[str]().union(*(kind.stack.cells for kind in fleet.classes))
    return fleet.model.parameters.keys() | bound | {name for name, _ in fleet.model.bindings()}


def members_bound(fleet: Fleet, name: str) -> frozenset[str]:
    """Return the parameter itself and, if it is a family, all its members that are bound."""
    family = fleet.model.parameters.get(name)
    if family is None or not family.pattern:
        return frozenset({name})
    found = {member for member in bound_anywhere(fleet) if fleet.declarations.find(member) is family}
    return frozenset({name, *found})


def counts(fleet: Fleet) -> dict[str, int]:
    """Return how many nodes bind each parameter or, for a family, some member."""
    by_size: dict[int, Counter[str]] = {}
    for kind in fleet.classes:
        by_size.setdefault(len(kind.names), Counter()).update(iter(kind.stack.cells))
    owners = {name: _owner(fleet, name) for counter in by_size.values() for name in counter}
    apart = {name for name, owner in owners.items() if owner != name} | _unset(fleet)
    found = {name: 0 for name in owners if name not in apart}
    for size, counter in by_size.items():
        for name in counter.keys() & found.keys():
            found[name] += size * counter[name]
    for kind in fleet.classes:
        cells = kind.stack.cells
        bound = {owners[name] for name in apart & cells.keys() if cells[name].value is not NOTHING}
        for owner in bound:
            found[owner] = found.get(owner, 0) + len(kind.names)
    return found


def _owner(fleet: Fleet, name: str) -> str:
    """Return the name under which a parameter is counted: the family that declares it, or its own."""
    declared = fleet.declarations.find(name)
    return declared.name if declared is not None else name


def _unset(fleet: Fleet) -> set[str]:
    """Return the parameters that some layer unbinds: a cell alone does not mean that these are bound."""
    bindings = [*fleet.model.bindings()]
    bindings += [item for made in fleet.layers.instances for item in made.params.items()]
    return {name for name, binding in bindings if binding.op is Op.UNSET}


def settings_of(fleet: Fleet, params: Collection[str]) -> Iterator[Setting]:
    """Yield every layer's binding of some parameters.

    For names that instances make, yield the feature's binding.
    """
    wins = find_winning_nodes(fleet, params)
    instances = [made.params.items() for made in fleet.layers.instances]
    made = {binding.origin for items in instances for name, binding in items if name in params}
    for label, layer in walk_layers(fleet.model):
        for name, binding in layer.params.items():
            if name in params or binding.origin in made:
                yield make_setting(fleet, label, name, binding, wins)


def bound_on(fleet: Fleet, params: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the nodes that bind one of some parameters, and those of them that have no value for it."""
    bound: list[str] = []
    bare: list[str] = []
    for kind in fleet.classes:
        values = [find_value(kind, name) for name in params]
        values = [value for value in values if value is not NOTHING]
        bound += kind.names if values else []
        bare += kind.names if None in values else []
    return tuple(sorted(bound)), tuple(sorted(bare))
