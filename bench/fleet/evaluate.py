"""What every node's parameters are, layer by layer and as simply as possible: the answer to compare with."""

from collections.abc import Iterator, Mapping

from bench.fleet.model import Fleet, Node, Scalar


def params(fleet: Fleet, node: Node) -> dict[str, Scalar]:
    """The parameters of a node."""
    found: dict[str, Scalar] = {}
    for layer in layers(fleet, node):
        found.update(layer)
    return found


def layers(fleet: Fleet, node: Node) -> Iterator[Mapping[str, Scalar]]:
    """What is laid over each other, lowest first; a feature wherever it stands."""
    for group in fleet.memberships(node):
        yield from _features(fleet, group.features)
        yield group.params
    yield from _features(fleet, node.features)
    yield node.params


def _features(fleet: Fleet, names: tuple[str, ...]) -> Iterator[Mapping[str, Scalar]]:
    for name in reversed(names):
        yield from _features(fleet, fleet.features[name].include)
        yield fleet.features[name].params
