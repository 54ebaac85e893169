"""bundlewrap: features and groups are groups of nodes, parameters are metadata.

It puts a group over its parents but does not order other groups: what several groups bind stands in
layers by kind, which a metadata reactor lays over each other.
"""

from collections.abc import Iterator

from bench.fleet import DEFAULT, Fleet, Group
from bench.peers.peer import Peer, by_node

_REACTOR = """@metadata_reactor
def layers(metadata):
    found = {}
    for number in range(9, -1, -1):
        found.update(metadata.get(f"layers/{number}", {}))
    return found
"""


def files(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """groups.py, nodes.py and a bundle with the reactor."""
    yield "bundles/layers/metadata.py", _REACTOR
    yield "bundles/layers/items.py", ""
    groups = [
        f"groups[{one.name!r}] = {{'metadata': {dict(one.params)!r}, 'supergroups': {list(one.include)!r}}}\n"
        for one in fleet.features.values()
    ]
    yield "groups.py", "".join([*groups, *(_group(fleet, one) for one in fleet.groups.values())])
    yield (
        "nodes.py",
        "".join(
            f"nodes[{one.name!r}] = {{'groups': {sorted({DEFAULT, *one.groups, *one.features})!r}, "
            f"'metadata': {dict(one.params)!r}}}\n"
            for one in fleet.nodes.values()
        ),
    )


def _group(fleet: Fleet, one: Group) -> str:
    metadata: dict[str, object] = {k: v for k, v in one.params.items() if k not in fleet.common}
    metadata["layers"] = {str(one.kind): {k: v for k, v in one.params.items() if k in fleet.common}}
    bundles = ["layers"] if one.name == DEFAULT else []
    said = {"bundles": bundles, "metadata": metadata, "supergroups": sorted(one.features)}
    return f"groups[{one.name!r}] = {said!r}\n"


PEER = Peer(
    name="bundlewrap",
    requirements=("bundlewrap",),
    files=files,
    everything=lambda tool, folder: tool.runner("bundlewrap_run", str(folder)),
    one=lambda tool, folder, node: tool.runner("bundlewrap_run", str(folder), node),
    answers=by_node,
    says="API: Repository, node.metadata of all",
)
