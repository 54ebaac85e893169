"""Steps of trails, and places of features and files, in words."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from datetime import date
from typing import Any, Protocol

import msgspec

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.layers import Layers
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.operations import NOTHING, TrailStep
from gitcfg.git.tree import Tree
from gitcfg.load.document import read_again
from gitcfg.model import (
    Decision,
    Feature,
    FileEntry,
    Finding,
    Group,
    Ignored,
    ListEdit,
    Model,
    Node,
    Op,
    Origin,
    Override,
    Use,
)
from gitcfg.model.delivery import is_over
from gitcfg.model.rules import RuleKind
from gitcfg.nodeset import NodeSetError, abridged, expand, fold
from gitcfg.render.files import find_secret_params
from gitcfg.render.templates import TemplateEngine

_VERBS = {
    Op.SET: "set",
    Op.NULL: "bound to its default",
    Op.APPEND: "appended to",
    Op.PREPEND: "prepended to",
    Op.REMOVE: "items removed",
    Op.AND: "narrowed",
    Op.OR: "widened",
    Op.MERGE: "merged into",
    Op.UNSET: "unset",
    Op.DEFAULT: "given as a default",
    Op.FACT: "taken from the node's fact",
    Op.SECRET: "given a secret",
    Op.COLLECT: "collected from no node",
}


class Viewpoint(msgspec.Struct, frozen=True):
    """The node for which layers are described; `overdue` maps labels of overdue overrides to their ends."""

    node: str
    default_group: str
    overdue: Mapping[str, date] = {}


def view_from(fleet: Fleet, node: str) -> Viewpoint:
    """Return the viewpoint of a node, on the fleet's date."""
    model = fleet.model
    ends = {f"override {name}": found.until for name, found in model.overrides.items()}
    late = {label: until for label, until in ends.items() if is_over(until, fleet.today)}
    return Viewpoint(node, model.settings.default_group, late)


def describe_step(step: TrailStep, view: Viewpoint) -> str:
    """Describe the origin of a step: from the innermost layer outwards."""
    if step.path[0].startswith("allocation "):
        return f"decided for rule {step.path[0].removeprefix('allocation ')}"
    verb = f"collected from {abridged(step.nodes)}" if step.nodes else _VERBS[step.op]
    return describe_path(verb, step.path, view)


def describe_layers(step: TrailStep, view: Viewpoint) -> str:
    """Return the layers of a step, innermost first, then the allocations of other rules that it contains."""
    late = _describe_overdue(step.path[-1], view)
    rules = dict.fromkeys(decision.rule for decision in step.decided)
    layers = {step.path[-1].removeprefix("rule "), step.path[-1].removeprefix("allocation ")}
    path = " < ".join(step.path) + (f" ({late})" if late else "")
    return ", ".join((path, *(f"allocation {rule}" for rule in rules if rule not in layers)))


def describe_decision(decision: Decision) -> str:
    """Describe the rule that leaves a decided value open, without the place."""
    return f"{decision.name} is left open by rule {decision.rule}"


def describe_path(verb: str, path: tuple[str, ...], view: Viewpoint) -> str:
    """Describe what a layer does, and through which layers it is on this node: `path` is innermost first.

    The node is not named: the reader asked about it.
    """
    first, *rest = path
    words = [f"{verb} for this node alone" if first == f"node {view.node}" else describe_layer(verb, first)]
    words += [f"included by {label.removeprefix('feature ')}" for label in rest if _is_feature(label)]
    if rest and not _is_feature(rest[-1]):
        words.append(_describe_installation(rest[-1], view))
    return ", ".join(filter(None, (*words, _describe_end(path[-1], view))))


def describe_layer(verb: str, layer: str) -> str:
    """Return what a layer does, by its label."""
    return f"{verb} {'by' if layer.startswith('rule ') else 'in'} {layer}"


def describe_operation(op: Op) -> str:
    """Return what an operation does as the verb of a layer."""
    return _VERBS[op]


def describe_listing(layer: str, view: Viewpoint) -> str:
    """Describe how a layer that lists a feature, or a group, adds it to this node."""
    if _is_feature(layer):
        return f"included by {layer.removeprefix('feature ')}"
    if layer == f"node {view.node}":
        return "listed for this node alone"
    if layer.startswith("node set "):
        return f"listed by {layer}"
    return ", ".join(filter(None, (_describe_installation(layer, view), _describe_end(layer, view))))


def _is_feature(layer: str) -> bool:
    return layer.startswith("feature ")


def _describe_installation(layer: str, view: Viewpoint) -> str:
    return "installed on this node alone" if layer == f"node {view.node}" else f"installed by {layer}"


def _describe_end(layer: str, view: Viewpoint) -> str:
    """Describe what is special about the outermost layer of a path."""
    if layer == f"group {view.default_group}":
        return "in which every node is"
    return _describe_overdue(layer, view)


def _describe_overdue(layer: str, view: Viewpoint) -> str:
    since = view.overdue.get(layer)
    return f"overdue since {since}" if since is not None else ""


def format_step(step: TrailStep) -> str:
    """Return the operation as it is written in YAML."""
    return format_operation(step.op)


def format_operation(op: Op) -> str:
    """Return an operation as it is written in YAML."""
    return "set" if op is Op.SET else "null" if op is Op.NULL else f"${op.value}"


def describe_content(entry: FileEntry) -> str:
    """Describe the source of a file's content."""
    if entry.removed:
        return "removed"
    if len(entry.contents) != 1:
        return f"from {' and '.join(entry.contents) or 'nothing'}, so it is not rendered"
    if entry.format is not None:
        return f"in the format {entry.format}"
    if entry.template is not None:
        return f"from templates/{entry.template.name}"
    if entry.source is not None:
        return f"from files/{entry.source.name}"
    return "from text in the entry"


# The places of a feature on a node, each with the entries of lists that put it there.


class Place(msgspec.Struct, frozen=True):
    """One place: the layers around the feature, innermost first, and the entries that list each next one.

    `layers` are `feature Y` that includes it, ..., then `group G`, `node set S`, `node N`, `rule R` or
    `override O`; `origins` has one for each. `instances` are those that are installed there. `decided` is the
    decision for the place, if a rule left it open.
    """

    layers: tuple[str, ...]
    origins: tuple[Origin, ...]
    instances: tuple[str, ...] = ()
    decided: Decision | None = None


def find_places(fleet: Fleet, kind: NodeClass, feature: str) -> tuple[Place, ...]:
    """Return the places of a feature on the nodes of a class, lowest first."""
    found: dict[tuple[tuple[str, ...], tuple[Origin, ...]], dict[str, None]] = {}
    layers = fleet.stacks.filled(kind.effects)
    for path in dict.fromkeys(kind.stack.paths(feature)):
        for chain in _walk_chains(layers, _outermost_features(fleet, kind, path[-1]), path[-2::-1]):
            origins = tuple(use.origin for use in reversed(chain))
            instances = found.setdefault((path[1:], origins), {})
            if chain[-1].instance is not None:
                instances[chain[-1].instance] = None
    decided = {each.origin: each for installed in kind.effects.installs for each in installed.decided}
    return tuple(
        Place(labels, origins, tuple(names), decided.get(origins[-1]))
        for (labels, origins), names in found.items()
    )


def _outermost_features(fleet: Fleet, kind: NodeClass, label: str) -> Iterable[Use]:
    """Return the features that the outermost layer of a path lists."""
    word, _, name = label.partition(" ")
    if word == "group":
        return fleet.model.groups[name].features
    if word == "override":
        return fleet.model.overrides[name].features
    if word == "rule":
        return [
            use for installed in kind.effects.installs if installed.rule == name for use in installed.uses
        ]
    return [use for use, layer in kind.definition.features if layer == label]


def _walk_chains(layers: Layers, uses: Iterable[Use], path: tuple[str, ...]) -> Iterator[tuple[Use, ...]]:
    """Yield the entries that lead along a path of features, outermost first, one chain for each instance."""
    name = path[0].removeprefix("feature ")
    for use in uses:
        if use.feature != name:
            continue
        if len(path) == 1:
            yield (use,)
            continue
        for chain in _walk_chains(layers, layers.as_used(use).include, path[1:]):
            yield (use, *chain)


# Definitions by the labels of their layers in paths, and places in them.

LayerDefinition = Feature | Group | Node | Override


class Mention(msgspec.Struct, frozen=True):
    """A place in a layer, which is given by its label."""

    layer: str
    origin: Origin


def walk_layers(model: Model) -> Iterator[tuple[str, LayerDefinition]]:
    """Yield every definition with parameters, files or features, with its layer's label.

    A rule is given as a group, because its content has the same effect on nodes as a group's.
    """
    for feature in model.features.values():
        yield f"feature {feature.name}", feature
    for group in model.groups.values():
        yield f"group {group.name}", group
    for nodeset in model.nodesets.values():
        yield f"node set {nodeset.name}", nodeset.definition
    for node in model.nodes.values():
        yield f"node {node.name}", node
    for override in model.overrides.values():
        yield f"override {override.name}", override
    for rule in model.rules.values():
        if rule.kind in (RuleKind.INSTALL, RuleKind.SET):
            features = (Use(rule.feature.name, rule.feature.origin),) if rule.feature is not None else ()
            yield f"rule {rule.name}", Group(rule.name, rule.origin, rule.description, features, rule.params)


def listed_features(definition: LayerDefinition) -> tuple[Use, ...]:
    """Return the features that a definition's list installs or includes."""
    if isinstance(definition, Feature):
        return definition.include
    if isinstance(definition, Node):
        return added_items(definition.features)
    return definition.features


def added_items(edit: ListEdit) -> tuple[Any, ...]:
    """Return the items that a node's or a set's list adds; none if it only removes others."""
    return () if edit.op is Op.REMOVE else edit.items


def find_file_mentions(model: Model, path: str) -> Iterator[Mention]:
    """Yield every layer that adds a file, on any node."""
    for label, definition in walk_layers(model):
        entry = definition.files.get(path)
        if entry is not None and not entry.removed:
            yield Mention(label, entry.origin)


def find_mention(node: FleetNode, origin: Origin) -> Mention:
    """Return the layer of a place in this node's definitions: its own, its set's, or an override's."""
    definition = node.definition
    labels = {override.origin.file: f"override {override.name}" for override in node.node_class.overrides}
    if definition.nodeset is not None:
        labels[definition.nodeset.origin.file] = f"node set {definition.nodeset.name}"
    return Mention(labels.get(origin.file, f"node {node.name}"), origin)


# The places of a node's facts. The model does not store them, because they are rarely needed.


def find_fact_places(tree: Tree, node: FleetNode) -> Mapping[str, Origin]:
    """Return the places of a node's facts by name: in its own file, or in that of its set."""
    own, nodeset = node.definition.own, node.definition.nodeset
    found: dict[str, Origin] = {}
    if nodeset is not None:
        document = read_again(tree, nodeset.origin.file)
        found |= {name: document.key("facts", name) for name in nodeset.definition.facts}
        here = nodeset.facts.get(node.name, {})
        entries = document.get("node_facts") if here else {}
        for key in [key for key in entries if _names(key, node.name, len(nodeset.members))]:
            given = [name for name in entries[key] or () if name in here]
            found |= {name: document.key("node_facts", key, name) for name in given}
    if own is not None and own.facts:
        document = read_again(tree, own.origin.file)
        found |= {name: document.key("facts", name) for name in own.facts}
    return found


def _names(text: str, node: str, most: int) -> bool:
    """Return whether a node is in a node set; False if the text is not a node set."""
    try:
        return node in expand(text, most)
    except NodeSetError:
        return False


def with_fact_places(
    steps: tuple[TrailStep, ...], places: Callable[[], Mapping[str, Origin]]
) -> tuple[TrailStep, ...]:
    """Return a node's trail with the places of the facts in its steps.

    `places` is called only if there are any.
    """
    if all(step.op is not Op.FACT for step in steps):
        return steps
    return tuple(
        msgspec.structs.replace(step, fact=places().get(step.given)) if step.op is Op.FACT else step
        for step in steps
    )


# Authors and commits in explanations: what a history must know, and what records contain.

Record = dict[str, Any]


class Blamed(Protocol):
    """The commit that last changed a line; `date` is ISO 8601."""

    @property
    def commit(self) -> str: ...
    @property
    def author(self) -> str: ...
    @property
    def email(self) -> str: ...
    @property
    def date(self) -> str: ...
    @property
    def subject(self) -> str: ...
    @property
    def shallow(self) -> bool: ...


class Blamer(Protocol):
    """A history, which knows the commit that last changed a place in a layer; None: not committed yet."""

    def of(self, label: str, origin: Origin) -> Blamed | None: ...


def add_blame(record: Record, blamer: Blamer | None, label: str, origin: Origin) -> Record:
    """Return the record of a place in a layer, with the commit that last changed it if there is a blamer.

    A place that is not committed yet has null as its commit.
    """
    if blamer is None:
        return record
    found = blamer.of(label, origin)
    return {**record, "blame": _blame(found) if found is not None else None}


def _blame(blamed: Blamed) -> Record:
    record = {
        "commit": blamed.commit,
        "author": blamed.author,
        "email": blamed.email,
        "date": blamed.date,
        "subject": blamed.subject,
    }
    return {**record, "shallow": True} if blamed.shallow else record


# The JSON that commands write: contracts with the scripts that read it (interfaces: JSON).


def findings_record(commit: str | None, findings: Iterable[Finding], folded: bool = False) -> Record:
    """Return `gitcfg.findings/1`."""
    return {
        "schema": "gitcfg.findings/1",
        "commit": commit,
        "findings": [finding_record(finding, folded) for finding in findings],
    }


def ignored_records(ignored: Iterable[Ignored], folded: bool = False) -> list[Record]:
    """Return the warnings that gitcfg.yaml ignores, each with the reason."""
    return [
        finding_record(one.finding, folded)
        | {"ignored": {"reason": one.by.reason, "until": None if one.by.until is None else str(one.by.until)}}
        for one in ignored
    ]


def finding_record(finding: Finding, folded: bool = False) -> Record:
    """Return a finding of `gitcfg.findings/1`."""
    record: Record = {
        "code": finding.code,
        "severity": str(finding.severity),
        "message": finding.message,
        "hint": finding.hint,
        "subjects": list(finding.subjects),
        **nodes_record(finding.nodes, folded),
        "origins": [origin_record(origin) for origin in finding.origins],
    }
    if finding.cause:
        record["cause"] = {"code": finding.cause[0], "subjects": list(finding.cause[1:])}
    return record


def nodes_record(nodes: Collection[str], folded: bool) -> Record:
    """Return nodes in order of name; if folded, only as a node set and a number."""
    record: Record = {"nodeset": fold(nodes), "count": len(nodes), "nodes": list(nodes)}
    if folded:
        del record["nodes"]
    return record


def origin_record(origin: Origin) -> Record:
    """Return a place."""
    return {"file": origin.file, "line": origin.line, "column": origin.column}


def trail_record(
    commit: str | None,
    node: str,
    trails: Mapping[str, tuple[Any, Iterable[TrailStep]]],
    blamer: Blamer | None = None,
    unbound: Mapping[str, Record] = {},
) -> Record:
    """Return `gitcfg.trail/1`: for each parameter its value and steps, and their commits if asked.

    `unbound` has, for parameters that the node does not bind, the layers and nodes that bind them.
    """
    params: Record = {}
    for name, (value, steps) in trails.items():
        params[name] = {"value": value, "steps": [step_record(step, blamer) for step in steps]}
        if name in unbound:
            params[name]["unbound"] = unbound[name]
    return {"schema": "gitcfg.trail/1", "commit": commit, "node": node, "params": params}


def step_record(step: TrailStep, blamer: Blamer | None) -> Record:
    """Return one step of a trail."""
    record = {
        "op": str(step.op.value),
        "given": None if step.given is NOTHING or step.op is Op.NULL else step.given,
        "result": step.result,
        "origin": origin_record(step.origin),
        "path": list(step.path),
        "overridden": step.overridden,
    }
    if step.fact is not None:
        record["fact"] = origin_record(step.fact)
    record |= sources_record(step, blamer)
    return add_blame(record, blamer, step.path[0], step.origin)


def sources_record(step: TrailStep, blamer: Blamer | None = None) -> Record:
    """Return the sources of a step outside its layer: the nodes that it collects from, and decisions."""
    record: Record = {}
    if step.op is Op.COLLECT:
        record["collected"] = nodes_record(step.nodes, folded=True)
    if step.decided:
        record["decided"] = [decision_record(decision, blamer) for decision in step.decided]
    return record


def decision_record(decision: Decision, blamer: Blamer | None = None) -> Record:
    """Return a decision for a rule: the open part of the rule, its place, and the place in the allocation."""
    record = {
        "rule": decision.rule,
        "name": decision.name,
        "asked": origin_record(decision.asked),
        "origin": origin_record(decision.origin),
    }
    return add_blame(record, blamer, f"allocation {decision.rule}", decision.origin)


def entry_record(entry: FileEntry) -> Record:
    """Return the record of a file entry: only that it is removed, or all of it."""
    if entry.removed:
        return {"removed": True}
    return {
        "removed": False,
        "format": entry.format,
        "template": entry.template.name if entry.template else None,
        "source": entry.source.name if entry.source else None,
        "text": entry.text,
        "mode": entry.mode,
        "owner": entry.owner,
        "group": entry.group,
    }


# Where bindings and file entries win: the nodes on whose configuration they have an effect.

Nodes = tuple[str, ...]


def find_winning_nodes(fleet: Fleet, params: Iterable[str]) -> Mapping[Origin, Nodes]:
    """Return, by the place of a binding of these parameters, the nodes whose final value depends on it.

    A binding without effect on any node is left out.
    """
    params = tuple(params)
    known: dict[int, frozenset[Origin]] = {}
    found: dict[Origin, list[str]] = {}
    for kind in fleet.classes:
        for origin in frozenset[Origin]().union(*(_find_winning_steps(kind, name, known) for name in params)):
            found.setdefault(origin, []).extend(kind.names)
    return {origin: tuple(sorted(names)) for origin, names in found.items()}


def _find_winning_steps(
    kind: NodeClass, param: str, known: dict[int, frozenset[Origin]]
) -> frozenset[Origin]:
    """Return the places of the steps with an effect on a class's nodes.

    Cached for cells that classes share.
    """
    cell = kind.stack.cells.get(param)
    if cell is None:
        return frozenset()
    if param in kind.stack.pending:
        return frozenset(step.origin for step in cell.counting(kind.facts(param)))
    if id(cell) not in known:
        known[id(cell)] = frozenset(step.origin for step in cell.counting())
    return known[id(cell)]


def find_deciding_nodes(fleet: Fleet, paths: Iterable[str]) -> Mapping[Origin, Nodes]:
    """Return, by the place of a file entry for these paths, the nodes on which no higher one replaces it."""
    paths = tuple(paths)
    found: dict[Origin, list[str]] = {}
    for kind in fleet.classes:
        entries = (kind.stack.files.get(path) for path in paths)
        for origin in {entry.origin for entry in entries if entry is not None}:
            found.setdefault(origin, []).extend(kind.names)
    return {origin: tuple(sorted(names)) for origin, names in found.items()}


def find_closing_nodes(fleet: Fleet, engine: TemplateEngine, paths: Iterable[str]) -> Mapping[Origin, Nodes]:
    """Return, by the place of a file entry without a mode for these paths, the nodes on which it is private.

    These are the nodes on which the entry decides and contains a secret, so that only the owner may read it.
    """
    paths = tuple(paths)
    found: dict[Origin, list[str]] = {}
    for kind in fleet.classes:
        node = FleetNode(next(iter(kind.names), ""), kind, kind.definition)
        entries = (kind.stack.files.get(path) for path in paths) if kind.secrets else ()
        silent = {entry.origin: entry for entry in entries if entry is not None and not entry.mode_said}
        for origin, entry in silent.items():
            if find_secret_params(fleet, node, entry, engine):
                found.setdefault(origin, []).extend(kind.names)
    return {origin: tuple(sorted(names)) for origin, names in found.items()}
