"""kapicorp-reclass (Python): features and groups are classes."""

from collections.abc import Iterable, Iterator, Mapping

from bench.fleet import DEFAULT, Fleet, Scalar
from bench.fleet.text import bound, listed, lowest_first
from bench.peers.peer import Peer, by_node


def files(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """A file a class and node; its lists have the highest priority last. reclass-rs reads the same."""
    yield "reclass-config.yml", "nodes_uri: nodes\nclasses_uri: classes\n"
    for feature in fleet.features.values():
        yield f"classes/{feature.name}.yml", _text(lowest_first(feature.include), feature.params)
    for group in fleet.groups.values():
        yield f"classes/{group.name}.yml", _text(lowest_first(group.features), group.params)
    for node in fleet.nodes.values():
        classes = [DEFAULT, *lowest_first(node.groups), *lowest_first(node.features)]
        yield f"nodes/{node.name}.yml", _text(classes, node.params)


def _text(classes: Iterable[str], params: Mapping[str, Scalar]) -> str:
    return listed("classes", classes) + (bound("parameters", params) or "parameters: {}\n")


PEER = Peer(
    name="reclass",
    requirements=("kapicorp-reclass",),
    files=files,
    everything=lambda tool, folder: tool.runner("reclass_run", str(folder)),
    one=lambda tool, folder, node: tool.runner("reclass_run", str(folder), node),
    answers=by_node,
    says="kapicorp-reclass, API: core.inventory()",
)
