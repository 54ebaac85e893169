"""A picture of a node: its layers, lowest first, with the features of each."""

from collections import Counter, deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise

import msgspec

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.partial import Partial
from gitcfg.model import Allocation, Model, Origin, Rule, Use
from gitcfg.model.text import counted
from gitcfg.pictures.picture import (
    Edge,
    Kind,
    Picture,
    Relation,
    Vertex,
    by_feature,
    described,
    ident,
    instances,
)


class Layer(msgspec.Struct, frozen=True):
    """One layer: its label in trails, the features that it lists, highest first, and its partials."""

    label: str
    listed: tuple[Use, ...]
    parts: tuple[Partial, ...]
    about: str = ""

    @property
    def features(self) -> frozenset[str]:
        """The features of the layer, nested ones too."""
        return frozenset[str]().union(*(part.features for part in self.parts))


def layers(fleet: Fleet, node: FleetNode) -> tuple[Layer, ...]:
    """Return a node's layers, lowest first, as they are composed; none of a retired node."""
    if node.definition.retired:
        return ()
    parts = deque(_flat(node.node_class.stack))
    rules = fleet.model.rules
    lowest = [_group(fleet, fleet.model.settings.default_group, parts.popleft()), *_take_rules(rules, parts)]
    groups = [_group(fleet, name, parts.popleft()) for name in reversed(node.groups)]
    set_by_rules = _take_rules(rules, parts)
    allocated = _take_allocations(fleet.model.allocations, parts)
    overrides = []
    for override in reversed(node.node_class.overrides):
        about = f"{override.reason}, until {override.until}\n{override.origin.file}"
        overrides.append(Layer(f"override {override.name}", override.features, (parts.pop(),), about))
    identity = _identity(node, list(parts))
    return (*lowest, *groups, *set_by_rules, *identity, *reversed(overrides), *allocated)


def _take_rules(rules: Mapping[str, Rule], parts: deque[Partial]) -> list[Layer]:
    """Remove the lowest partials, as far as rules made them, and return their layers."""
    found = []
    while parts and (parts[0].label or "").startswith("rule "):
        part = parts.popleft()
        rule = rules[(part.label or "").removeprefix("rule ")]
        listed = () if rule.feature is None else (Use(rule.feature.name, rule.feature.origin),)
        about = f"{rule.description}\n{rule.origin.file}" if rule.description else rule.origin.file
        found.append(Layer(f"rule {rule.name}", listed, (part,), about))
    return found


def _take_allocations(allocations: Mapping[str, Allocation], parts: deque[Partial]) -> list[Layer]:
    """Remove the topmost partials, as far as they are allocations, and return their layers."""
    found = []
    while parts and (parts[-1].label or "").startswith("allocation "):
        part = parts.pop()
        label = part.label or ""
        found.append(Layer(label, (), (part,), allocations[label.removeprefix("allocation ")].origin.file))
    return found[::-1]


def _flat(stack: Partial) -> Iterator[Partial]:
    """Yield the layers inside a stack, which itself has no label."""
    if stack.label is not None:
        yield stack
        return
    for part in stack.parts:
        yield from _flat(part)


def _group(fleet: Fleet, name: str, part: Partial) -> Layer:
    group = fleet.model.groups.get(name)
    if group is None:
        return Layer(f"group {name}", (), (part,), "No file defines it.")
    return Layer(f"group {name}", group.features, (part,), described(group))


def _identity(node: FleetNode, parts: list[Partial]) -> list[Layer]:
    """Return the layers of the node and of its set: neighbors with the same label are one layer."""
    definition = node.definition
    own, nodeset = definition.own, definition.nodeset
    about = {f"node set {nodeset.name}": described(nodeset.definition)} if nodeset else {}
    about |= {f"node {own.name}": described(own)} if own else {}
    result: list[Layer] = []
    installed = deque(part for part in parts if part.parts)
    for use, label in reversed(definition.features):
        # A listed feature that is missing, or removed by `without`, has no partial.
        head = (installed[0].label, installed[0].parts[0].label) if installed else None
        part = (installed.popleft(),) if head == (label, f"feature {use.feature}") else ()
        _put_layer(result, Layer(label, (use,), part, about[label]))
    for other in parts:
        if not other.parts and other.label is not None:
            _put_layer(result, Layer(other.label, (), (other,), about[other.label]))
    return result


def _put_layer(stack: list[Layer], layer: Layer) -> None:
    """Put a layer on a stack, or join it with the topmost if that has the same label."""
    if stack and stack[-1].label == layer.label:
        below = stack.pop()
        layer = Layer(layer.label, layer.listed + below.listed, below.parts + layer.parts, layer.about)
    stack.append(layer)


# What each layer of a node decides, counted from the trails.

Decided = Counter[tuple[int, str]]
"""Numbers by a layer's place in the stack and, inside it, the label of the feature or layer that decides."""


def params_decided(node: FleetNode, stack: Sequence[Layer]) -> Decided:
    """Count, for each place, the parameters whose last acting step is there."""
    decided = Decided()
    for param in node.params:
        steps = node.trail(param)
        last = max(index for index, step in enumerate(steps) if not step.overridden)
        found = ((place, part) for place, layer in enumerate(stack) for part in layer.parts)
        origins = [(place, path[0]) for place, part in found for _, path in part.steps(param)]
        decided[origins[last]] += 1
    return decided


def files_decided(node: FleetNode, stack: Sequence[Layer]) -> Decided:
    """Count, for each place, the files whose topmost entry is there."""
    decided = Decided()
    for path in node.entries:
        found = ((place, part) for place, layer in enumerate(stack) for part in layer.parts)
        origins = [(place, where[0]) for place, part in found for _, where in part.entries(path)]
        decided[origins[-1]] += 1
    return decided


# A picture of one node: its layers as a stack, with the features of each and what they decide.


def node_picture(fleet: Fleet, name: str) -> Picture:
    """Return a node's layers, with what each adds and decides. Raise KeyError if the node does not exist."""
    node = fleet[name]
    stacked = layers(fleet, node)
    gone = {ref.name: ref.origin for ref in node.node_class.without}
    scene = _Scene(fleet.model, gone, params_decided(node, stacked), files_decided(node, stacked))
    drawn = [_LayerDrawing(scene, place, layer) for place, layer in enumerate(stacked)]
    stack = [each.id for each in drawn]
    above = [Edge(Relation.ABOVE, upper, lower) for lower, upper in pairwise(stack)]
    total = _amounts(len(node.params), len(node.entries)) or "no parameters and no files"
    note = f"The node gets {total}. A higher layer wins."
    if node.definition.retired:
        note = "It is retired: it has no features, no parameters and no files."
    return Picture(
        "node",
        f"The layers of {name}",
        tuple(vertex for each in drawn for vertex in (each.layer_vertex(), *each.features)),
        (*above, *(edge for each in drawn for edge in each.edges)),
        (note,),
        tuple(stack),
    )


def _amounts(params: int, files: int) -> str:
    """Format amounts as `3 parameters, 1 file`, without those that are 0."""
    amounts = ((params, "parameter"), (files, "file"))
    return ", ".join(counted(number, noun) for number, noun in amounts if number)


class _Scene(msgspec.Struct, frozen=True):
    """What all layers of a picture share; `gone` are the features that `without` removes from the node."""

    model: Model
    gone: dict[str, Origin]
    params: Decided
    files: Decided


class _LayerDrawing:
    """One layer with its features. A feature that is in several places of it is drawn once."""

    def __init__(self, scene: _Scene, place: int, layer: Layer) -> None:
        self.scene, self.place, self.layer = scene, place, layer
        self.id = self._id(layer.label)
        self.included = layer.features
        self.features: list[Vertex] = []
        self.edges: list[Edge] = []
        self._draw_features()

    def _id(self, label: str) -> str:
        return f"layer {self.place + 1} {label}"

    def _decides(self, label: str) -> str:
        """Format what the entries with one label decide in this layer."""
        key = (self.place, label)
        return _amounts(self.scene.params[key], self.scene.files[key])

    def layer_vertex(self) -> Vertex:
        """Return the layer itself, with all that it and its features decide."""
        totals = (
            sum(number for (place, _), number in decided.items() if place == self.place)
            for decided in (self.scene.params, self.scene.files)
        )
        itself = self._decides(self.layer.label) if self.layer.listed else ""
        lines = (f"decides {_amounts(*totals) or 'nothing'}", *([f"itself {itself}"] if itself else []))
        return Vertex(id=self.id, kind=Kind.LAYER, name=self.layer.label, lines=lines, about=self.layer.about)

    def _draw_features(self) -> None:
        """Draw the features that are listed and what they include, at any depth."""
        drawn: set[str] = set()
        waiting = deque([(self.id, Relation.INSTALLS, self.layer.listed)])
        while waiting:
            source, relation, uses = waiting.popleft()
            listed = by_feature(uses)
            for number, (name, of_name) in enumerate(listed.items(), 1):
                order = f"{number}." if len(listed) > 1 else ""
                label = " ".join(filter(None, (order, instances(of_name))))
                self.edges.append(Edge(relation, source, self._id(ident("feature", name)), label))
                if name not in drawn:
                    drawn.add(name)
                    self.features.append(self._feature(name))
                    included = self.scene.model.features[name].include if name in self.included else ()
                    waiting.append((self._id(ident("feature", name)), Relation.INCLUDES, included))

    def _feature(self, name: str) -> Vertex:
        feature = self.scene.model.features.get(name)
        kind, line, why = self._state(name)
        about = "\n".join(filter(None, (described(feature) if feature else "", why)))
        lines = (line,) if line else ()
        return Vertex(id=self._id(ident("feature", name)), kind=kind, name=name, lines=lines, about=about)

    def _state(self, name: str) -> tuple[Kind, str, str]:
        """Return the kind of a feature's vertex here, its state, and why."""
        if name in self.scene.gone:
            return Kind.GONE, "removed", f"`without` at {self.scene.gone[name]} removes it."
        if name not in self.scene.model.features:
            return Kind.MISSING, "missing", "Not defined."
        if name not in self.included:
            return Kind.GONE, "adds nothing", "It includes other features too deeply or in too many places."
        return Kind.FEATURE, self._decides(f"feature {name}"), ""
