"""Who has a secret is known without reading all nodes, and is whoever any layer gives it."""

from collections.abc import Iterator, Mapping
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from gitcfg.compile.fleet import compile_tree
from gitcfg.compile.impact import Mentions, Version, find_nodes_using, index_classes, index_nodes
from gitcfg.git.tree import DictTree
from tests.compile.fleets import TODAY

_NAMES = ("pool", "site", "host")
_BOUND = ("S: {$secret: %s}", "T: {$secret: %s}", "T: {$fact: %s}", "T: %s")


def _layer(rng: Random) -> str:
    chosen = [rng.choice(_BOUND) % rng.choice(_NAMES) for _ in range(rng.randrange(2))]
    return f"params: {{{', '.join(chosen)}}}\n"


def files_of(rng: Random) -> dict[str, str]:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": (
            "defaults: {type: string, description: d}\nparameters: {S: {secret: true}, T: {}}\n"
        ),
        "nodesets/s.yaml": f"nodes: s[1-3]\n{_layer(rng)}",
        "overrides/o.yaml": f"nodes: n[1-2]\nreason: r\nuntil: 2030-01-01\n{_layer(rng)}",
        **{f"features/f{number}.yaml": _layer(rng) for number in range(4)},
        **{f"groups/g{number}.yaml": f"features: [f{number}]\n{_layer(rng)}" for number in range(4)},
        **{f"secrets/{name}.yaml": "for: 'true'\nversion: 1\nrecipients: []\n" for name in _NAMES},
    }
    for number in range(12):
        own = _layer(rng) if rng.random() < 0.4 else ""
        files[f"nodes/n{number}.yaml"] = f"groups: [g{rng.randrange(4)}]\n{own}"
    return files


@pytest.mark.parametrize("seed", range(20))
def test_whoever_gets_a_secret_is_concerned_by_it(seed: int) -> None:
    fleet = compile_tree(DictTree(files_of(Random(seed))), TODAY)
    said = index_nodes(fleet.roster)
    assert _sorted(said.secrets) == _sorted(index_classes(fleet.classes).secrets)
    version = Version(fleet.tree, fleet.model, lambda: said)
    for secret in _NAMES:
        found = find_nodes_using([f"secrets/{secret}.yaml"], (version,))
        assert found is not None
        assert found >= {name for name in fleet.names if secret in fleet[name].secrets.values()}


def _sorted(names: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return {name: sorted(names[name]) for name in sorted(names)}


class Unread(Mapping[str, Any]):
    """Nodes that may be asked for by name, and not gone through."""

    def __init__(self, whole: Mapping[str, Any]) -> None:
        self._whole = whole

    def __getitem__(self, name: str) -> Any:
        return self._whole[name]

    def __len__(self) -> int:
        return len(self._whole)

    def __iter__(self) -> Iterator[str]:
        return iter(self._whole)

    def items(self) -> Any:
        raise AssertionError("all nodes are read")

    values = items


def _version(files: dict[str, str]) -> Version:
    fleet = compile_tree(DictTree(files), TODAY)
    known: Mentions = index_nodes(fleet.roster)
    return Version(fleet.tree, replace(fleet.model, nodes=Unread(fleet.model.nodes)), lambda: known)


def test_no_node_is_read_that_has_nothing_of_it() -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": "parameters: {S: {type: string, secret: true, description: d}}\n",
        "groups/g.yaml": "params: {S: {$secret: site}}\n",
        "nodes/a.yaml": "params: {S: {$secret: pool}}\n",
        "nodes/b.yaml": "groups: [g]\n",
        "nodes/c.yaml": "params: {S: {$fact: pool}}\n",
    }
    version = _version(files)
    assert find_nodes_using(["secrets/pool.yaml"], (version,)) == frozenset({"a"})
    assert find_nodes_using(["secrets/x/site.yaml"], (version,)) == frozenset({"b"})
    assert find_nodes_using(["secrets/other.yaml"], (version,)) == frozenset()
    assert find_nodes_using(["secrets/pool.age"], (version,)) == frozenset()


@pytest.mark.parametrize("path", ["features/f.yaml", "nodes/a.yaml"])
def test_of_a_secret_whose_name_is_made_all_nodes_are(path: str) -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": "parameters: {S: {type: string, description: d}}\n",
        "groups/g.yaml": "features: [{feature: f, as: n, with: {x: pool}}]\n",
        "features/f.yaml": "{}\n",
        "nodes/a.yaml": "groups: [g]\n",
        path: "params: {S: {$secret: '${with.x}'}}\n",
    }
    assert find_nodes_using(["secrets/pool.yaml"], (_version(files),)) is None
