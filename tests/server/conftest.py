"""A server with three nodes, which the tests of a module share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.server.agent import Node
from tests.server.site import Server, Site


class Shared:
    """A served repository: its first commit, its nodes, and a token of each role."""

    def __init__(self, site: Site, server: Server, commit: str, nodes: dict[str, Node]) -> None:
        self.site, self.server, self.commit = site, server, commit
        self.nodes = {name: server.node(name, node) for name, node in nodes.items()}
        self.operate, self.read = server.token("ops"), server.token("eyes", "read")


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shared]:
    site = Site(tmp_path_factory.mktemp("site"))
    nodes = {name: Node(name, "") for name in ("n1", "n2", "n3")}
    commit = site.with_nodes(nodes)
    with Server(site) as server:
        server.accepted(commit)
        yield Shared(site, server, commit, nodes)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)
