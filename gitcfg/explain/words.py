"""A step of a trail in words."""

from gitcfg.compile.trail import TrailStep
from gitcfg.model import Op

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
    Op.DEFAULT: "given, if nothing lower gave it",
    Op.FACT: "taken from the node's fact",
}


def told(step: TrailStep, node: str, default_group: str) -> str:
    """How a step came to this node: from the innermost layer outwards."""
    first, *rest = step.path
    words = [
        f"{_VERBS[step.op]} for {node} alone" if first == f"node {node}" else f"{_VERBS[step.op]} in {first}"
    ]
    features = [label for label in rest if label.startswith("feature ")]
    words += [f"included by {label.removeprefix('feature ')}" for label in features]
    last = step.path[-1]
    if len(step.path) > 1:
        words.append(f"installed on {last}")
    words.append(_belongs(last, node, default_group))
    return ", ".join(filter(None, words))


def _belongs(layer: str, node: str, default_group: str) -> str:
    kind = layer.partition(" ")[0]
    if layer == f"group {default_group}":
        return "in which every node is"
    if kind == "group" or layer.startswith("node set "):
        return f"of which {node} is a member"
    if kind == "override":
        return f"which applies to {node}"
    return ""


def written(step: TrailStep) -> str:
    """The operation as it is written in YAML."""
    return "set" if step.op is Op.SET else "null" if step.op is Op.NULL else f"${step.op.value}"
