"""Steps of trails, and places of features and files, in words."""

from collections.abc import Mapping
from datetime import date

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.trail import TrailStep
from gitcfg.model import Decision, FileEntry, Op
from gitcfg.model.delivery import is_over
from gitcfg.model.nodeset import abridged

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
    """The node from which layers are seen; `overdue` says since when overrides are, by their labels."""

    node: str
    default_group: str
    overdue: Mapping[str, date] = {}


def viewpoint(fleet: Fleet, node: str) -> Viewpoint:
    """A node's, on the day that the fleet is seen."""
    model = fleet.model
    ends = {f"override {name}": found.until for name, found in model.overrides.items()}
    late = {label: until for label, until in ends.items() if is_over(until, fleet.today)}
    return Viewpoint(node, model.settings.default_group, late)


def told(step: TrailStep, view: Viewpoint) -> str:
    """How a step came to this node: from the innermost layer outwards."""
    if step.path[0].startswith("allocation "):
        return f"decided for rule {step.path[0].removeprefix('allocation ')}"
    verb = f"collected from {abridged(step.nodes)}" if step.nodes else _VERBS[step.op]
    return layered(verb, step.path, view)


def by(step: TrailStep, view: Viewpoint) -> str:
    """The layers of a step in short, innermost first, then other rules' allocations that it is made of."""
    late = _overdue(step.path[-1], view)
    rules = dict.fromkeys(decision.rule for decision in step.decided)
    layers = {step.path[-1].removeprefix("rule "), step.path[-1].removeprefix("allocation ")}
    path = " < ".join(step.path) + (f" ({late})" if late else "")
    return ", ".join((path, *(f"allocation {rule}" for rule in rules if rule not in layers)))


def left_open(decision: Decision) -> str:
    """Which rule leaves open what was decided, but for the place."""
    return f"{decision.name} is left open by rule {decision.rule}"


def layered(verb: str, path: tuple[str, ...], view: Viewpoint) -> str:
    """What a layer does, and how the layer came to this node: `path` is innermost first."""
    first, *rest = path
    words = [f"{verb} for {view.node} alone" if first == f"node {view.node}" else f"{verb} {_where(first)}"]
    features = [label for label in rest if label.startswith("feature ")]
    words += [f"included by {label.removeprefix('feature ')}" for label in features]
    last = path[-1]
    if len(path) > 1:
        words.append(_installs(last))
    words += [_belongs(last, view), _overdue(last, view)]
    return ", ".join(filter(None, words))


def lists(layer: str, view: Viewpoint) -> str:
    """How a layer that lists a feature, or a group, brings it to this node."""
    if layer.startswith("feature "):
        return f"included by {layer.removeprefix('feature ')}"
    if layer == f"node {view.node}":
        return f"listed for {view.node} alone"
    if layer.startswith("node set "):
        return f"listed by {layer}, of which {view.node} is a member"
    return ", ".join(filter(None, [_installs(layer), _belongs(layer, view), _overdue(layer, view)]))


def _where(layer: str) -> str:
    """Rules do things themselves; elsewhere they are done."""
    return f"by {layer}" if layer.startswith("rule ") else f"in {layer}"


def _installs(layer: str) -> str:
    return f"installed by {layer}" if layer.startswith("rule ") else f"installed on {layer}"


def _overdue(layer: str, view: Viewpoint) -> str:
    since = view.overdue.get(layer)
    return f"overdue since {since}" if since is not None else ""


def _belongs(layer: str, view: Viewpoint) -> str:
    kind = layer.partition(" ")[0]
    if layer == f"group {view.default_group}":
        return "in which every node is"
    if kind == "group" or layer.startswith("node set "):
        return f"of which {view.node} is a member"
    if kind == "override":
        return f"which applies to {view.node}"
    return ""


def written(step: TrailStep) -> str:
    """The operation as it is written in YAML."""
    return operation(step.op)


def operation(op: Op) -> str:
    """An operation as it is written in YAML."""
    return "set" if op is Op.SET else "null" if op is Op.NULL else f"${op.value}"


def made_of(entry: FileEntry) -> str:
    """What a file's content comes from."""
    if entry.removed:
        return "taken away"
    if len(entry.contents) != 1:
        return f"from {' and '.join(entry.contents) or 'nothing'}, so it is not rendered"
    if entry.format is not None:
        return f"in the format {entry.format}"
    if entry.template is not None:
        return f"from templates/{entry.template.name}"
    if entry.source is not None:
        return f"from files/{entry.source.name}"
    return "from text in the entry"
