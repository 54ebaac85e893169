"""rjsonnet, Python's door to jrsonnet (Rust): features, groups and nodes are objects added up."""

import json
from collections.abc import Iterable, Iterator, Mapping

from bench.fleet import DEFAULT, Fleet, Scalar
from bench.fleet.text import lowest_first
from bench.peers.peer import Peer, by_node


def files(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """A file a feature, group and node, and one that imports every node."""
    for feature in fleet.features.values():
        yield f"features/{feature.name}.libsonnet", _sum(_features(feature.include), feature.params)
    for group in fleet.groups.values():
        yield f"groups/{group.name}.libsonnet", _sum(_features(group.features), group.params)
    for node in fleet.nodes.values():
        groups = [f"../groups/{name}.libsonnet" for name in (DEFAULT, *lowest_first(node.groups))]
        yield f"nodes/{node.name}.jsonnet", _sum([*groups, *_features(node.features)], node.params)
    every = "".join(f"  '{name}': import 'nodes/{name}.jsonnet',\n" for name in fleet.nodes)
    yield "all.jsonnet", f"{{\n{every}}}\n"


def _features(names: Iterable[str]) -> list[str]:
    return [f"../features/{name}.libsonnet" for name in lowest_first(names)]


def _sum(imported: Iterable[str], params: Mapping[str, Scalar]) -> str:
    own = "".join(f"  {name}: {json.dumps(value)},\n" for name, value in params.items())
    return "".join(f"(import '{path}') +\n" for path in imported) + f"{{\n{own}}}\n"


PEER = Peer(
    name="rjsonnet",
    requirements=("rjsonnet",),
    files=files,
    everything=lambda tool, folder: tool.runner("rjsonnet_run", str(folder / "all.jsonnet")),
    one=lambda tool, folder, node: tool.runner("rjsonnet_run", str(folder / f"nodes/{node}.jsonnet")),
    answers=by_node,
    says="API, one file that imports every node",
)
