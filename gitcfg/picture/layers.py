"""The layers of one node, lowest first, with the features that each lists."""

from collections import deque
from collections.abc import Iterator, Mapping

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.compile.partial import Partial
from gitcfg.model import Allocation, Override, Rule, Use
from gitcfg.picture.words import described


class Layer(msgspec.Struct, frozen=True):
    """One layer: its label in trails, what it lists, highest first, and what it is composed of."""

    label: str
    listed: tuple[Use, ...]
    parts: tuple[Partial, ...]
    about: str = ""

    @property
    def features(self) -> frozenset[str]:
        """The features that it brings, nested ones too."""
        return frozenset[str]().union(*(part.features for part in self.parts))


def layers(fleet: Fleet, node: FleetNode) -> tuple[Layer, ...]:
    """A node's layers, lowest first, as they are composed; none of a retired node."""
    if node.said.retired:
        return ()
    parts = deque(_flat(node.kind.stack))
    rules = fleet.model.rules
    names = (fleet.model.settings.default_group, *reversed(node.groups))
    default, *groups = names
    lowest = [_group(fleet, default, parts.popleft()), *_ruled(rules, parts)]
    lower = [_group(fleet, name, parts.popleft()) for name in groups]
    set_by_rules = _ruled(rules, parts)
    decided = _decided(fleet.model.allocations, parts)
    overrides = node.kind.overrides
    topmost = [parts.pop() for _ in overrides][::-1]
    return (
        *(*lowest, *lower, *set_by_rules, *_identity(node, list(parts))),
        *(_override(override, part) for override, part in zip(overrides, topmost, strict=True)),
        *decided,
    )


def _ruled(rules: Mapping[str, Rule], parts: deque[Partial]) -> list[Layer]:
    """The layers of rules that lie lowest, taken from the others."""
    found = []
    while parts and (parts[0].label or "").startswith("rule "):
        part = parts.popleft()
        rule = rules[(part.label or "").removeprefix("rule ")]
        listed = () if rule.feature is None else (Use(rule.feature.name, rule.feature.origin),)
        about = f"{rule.description}\n{rule.origin.file}" if rule.description else rule.origin.file
        found.append(Layer(f"rule {rule.name}", listed, (part,), about))
    return found


def _decided(allocations: Mapping[str, Allocation], parts: deque[Partial]) -> list[Layer]:
    """The layers of what was decided for rules, which lie topmost, taken from the others."""
    found = []
    while parts and (parts[-1].label or "").startswith("allocation "):
        part = parts.pop()
        label = part.label or ""
        found.append(Layer(label, (), (part,), allocations[label.removeprefix("allocation ")].origin.file))
    return found[::-1]


def _flat(stack: Partial) -> Iterator[Partial]:
    """The layers inside a stack, which itself has no label."""
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


def _override(override: Override, part: Partial) -> Layer:
    about = f"{override.reason}, until {override.until}\n{override.origin.file}"
    return Layer(f"override {override.name}", override.features, (part,), about)


def _identity(node: FleetNode, parts: list[Partial]) -> list[Layer]:
    """The node's and its set's layers: what lies together under one label is one of them."""
    said = node.said
    about = {f"node set {said.nodeset.name}": described(said.nodeset.definition)} if said.nodeset else {}
    about |= {f"node {said.own.name}": described(said.own)} if said.own else {}
    result: list[Layer] = []
    installed = [part for part in parts if part.parts]
    for use, label in reversed(said.features):
        here = installed[:1] if installed and _is(installed[0], use, label) else []
        installed = installed[len(here) :]
        _lay(result, Layer(label, (use,), tuple(here), about[label]))
    for part in parts:
        if not part.parts and part.label is not None:
            _lay(result, Layer(part.label, (), (part,), about[part.label]))
    return result


def _is(part: Partial, use: Use, label: str) -> bool:
    """Did a listed feature become this layer? A missing one, or one done without, becomes none."""
    return part.label == label and part.parts[0].label == f"feature {use.feature}"


def _lay(stack: list[Layer], layer: Layer) -> None:
    """Put a layer on others, or make it one with the topmost if that has the same label."""
    if stack and stack[-1].label == layer.label:
        below = stack.pop()
        layer = Layer(layer.label, layer.listed + below.listed, below.parts + layer.parts, layer.about)
    stack.append(layer)
