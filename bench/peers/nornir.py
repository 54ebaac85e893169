"""nornir's SimpleInventory: features and groups are groups of hosts."""

from collections.abc import Iterable, Iterator, Mapping

from bench.fleet import DEFAULT, Fleet, Scalar
from bench.fleet.text import bound, listed
from bench.peers.peer import Peer, by_node


def files(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """One file of all groups, one of all hosts. Its lists have the highest priority first, too."""
    groups = [_entry(one.name, one.include, one.params) for one in fleet.features.values()]
    groups += [_entry(one.name, one.features, one.params) for one in fleet.groups.values()]
    yield "groups.yaml", "".join(groups)
    yield (
        "hosts.yaml",
        "".join(
            _entry(node.name, (*node.features, *node.groups, DEFAULT), node.params)
            for node in fleet.nodes.values()
        ),
    )


def _entry(name: str, groups: Iterable[str], params: Mapping[str, Scalar]) -> str:
    said = listed("  groups", groups) + bound("data", params, "  ")
    return f"{name}:\n{said}" if said else f"{name}: {{}}\n"


PEER = Peer(
    name="nornir",
    requirements=("nornir", "ruamel.yaml"),
    files=files,
    everything=lambda tool, folder: tool.runner("nornir_run", str(folder)),
    one=lambda tool, folder, node: tool.runner("nornir_run", str(folder), node),
    answers=by_node,
    says="API: SimpleInventory, host.extended_data() of all",
)
