"""A picture of one node: its layers on each other, with the features of each and what they decide."""

from collections import deque
from itertools import pairwise

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.model import Model, Origin, Use
from gitcfg.model.text import counted
from gitcfg.picture.decided import Decided, files_decided, params_decided
from gitcfg.picture.layers import Layer, layers
from gitcfg.picture.picture import Edge, Kind, Picture, Relation, Vertex
from gitcfg.picture.words import by_feature, described, ident, instances


def node_picture(fleet: Fleet, name: str) -> Picture:
    """A node's layers, with what each brings and decides. KeyError: there is no such node."""
    node = fleet[name]
    stacked = layers(fleet, node)
    gone = {ref.name: ref.origin for ref in node.kind.without}
    scene = _Scene(fleet.model, gone, params_decided(node, stacked), files_decided(node, stacked))
    drawn = [_Drawn(scene, place, layer) for place, layer in enumerate(stacked)]
    stack = [each.id for each in drawn]
    above = [Edge(Relation.ABOVE, upper, lower) for lower, upper in pairwise(stack)]
    return Picture(
        "node",
        f"The layers of {name}",
        tuple(vertex for each in drawn for vertex in (each.layer_vertex(), *each.features)),
        (*above, *(edge for each in drawn for edge in each.edges)),
        (_note(node),),
        tuple(stack),
    )


def _note(node: FleetNode) -> str:
    if node.said.retired:
        return "It is retired: it has no features, no parameters and no files."
    total = _amounts(len(node.params), len(node.entries)) or "no parameters and no files"
    return f"The node gets {total}. A higher layer has the last word."


def _amounts(params: int, files: int) -> str:
    """`3 parameters, 1 file`, without what is none."""
    amounts = ((params, "parameter"), (files, "file"))
    return ", ".join(counted(number, noun) for number, noun in amounts if number)


class _Scene(msgspec.Struct, frozen=True):
    """What all layers of a picture share; `gone` are the features that the node does without."""

    model: Model
    gone: dict[str, Origin]
    params: Decided
    files: Decided


class _Drawn:
    """One layer with its features. A feature that stands at several places of it is drawn once."""

    def __init__(self, scene: _Scene, place: int, layer: Layer) -> None:
        self.scene, self.place, self.layer = scene, place, layer
        self.id = self._id(layer.label)
        self.brought = layer.features
        self.features: list[Vertex] = []
        self.edges: list[Edge] = []
        self._follow()

    def _id(self, label: str) -> str:
        return f"layer {self.place + 1} {label}"

    def _decides(self, label: str) -> str:
        """What is decided in this layer by what is written under one label."""
        key = (self.place, label)
        return _amounts(self.scene.params[key], self.scene.files[key])

    def layer_vertex(self) -> Vertex:
        """The layer itself, with all that it and its features decide."""
        totals = (
            sum(number for (place, _), number in decided.items() if place == self.place)
            for decided in (self.scene.params, self.scene.files)
        )
        itself = self._decides(self.layer.label) if self.layer.listed else ""
        lines = (f"decides {_amounts(*totals) or 'nothing'}", *([f"itself {itself}"] if itself else []))
        return Vertex(id=self.id, kind=Kind.LAYER, name=self.layer.label, lines=lines, about=self.layer.about)

    def _follow(self) -> None:
        """The features that are listed and what they include, however far."""
        seen: set[str] = set()
        waiting = deque([(self.id, Relation.INSTALLS, self.layer.listed)])
        while waiting:
            source, relation, uses = waiting.popleft()
            listed = by_feature(uses)
            for number, (name, of_name) in enumerate(listed.items(), 1):
                order = f"{number}." if len(listed) > 1 else ""
                label = " ".join(filter(None, (order, instances(of_name))))
                self.edges.append(Edge(relation, source, self._id(ident("feature", name)), label))
                if name not in seen:
                    seen.add(name)
                    self.features.append(self._feature(name))
                    waiting.append(
                        (self._id(ident("feature", name)), Relation.INCLUDES, self._included(name))
                    )

    def _included(self, name: str) -> tuple[Use, ...]:
        return self.scene.model.features[name].include if name in self.brought else ()

    def _feature(self, name: str) -> Vertex:
        feature = self.scene.model.features.get(name)
        kind, line, why = self._state(name)
        about = "\n".join(filter(None, (described(feature) if feature else "", why)))
        lines = (line,) if line else ()
        return Vertex(id=self._id(ident("feature", name)), kind=kind, name=name, lines=lines, about=about)

    def _state(self, name: str) -> tuple[Kind, str, str]:
        """What has become of a feature here, and why."""
        if name in self.scene.gone:
            return Kind.GONE, "taken away", f"`without` at {self.scene.gone[name]} takes it away."
        if name not in self.scene.model.features:
            return Kind.MISSING, "missing", "Not defined."
        if name not in self.brought:
            return Kind.GONE, "brings nothing", "It includes others too deep, or at too many places."
        return Kind.FEATURE, self._decides(f"feature {name}"), ""
