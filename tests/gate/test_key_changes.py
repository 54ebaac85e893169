"""Keys that come, change and go: each node is told of once, with the secrets that it gets."""

import re

from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.cache import NoCache
from gitcfg.gate.changes import describe_key_changes
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet
from gitcfg.load.keys import fingerprint, written
from gitcfg.nodeset import expand
from tests.compile.fleets import TODAY

GETS = [f"n{number}" for number in range(1, 9)]
OTHERS = ["m1", "m2", "gone1"]
POOL = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {P: {description: P., secret: true}}\n",
    "features/F.yaml": "description: F.\nparams: {P: {$secret: pool}}\n",
    "groups/g.yaml": "description: g.\nfeatures: [F]\n",
    "nodesets/n.yaml": "nodes: n[1-8]\ngroups: [g]\n",
    "nodesets/m.yaml": "nodes: m[1-2]\ngroups: []\n",
    "secrets/pool.yaml": "for: 'true'\nversion: 1\nrecipients: [x]\n",
}
_LINE = re.compile(r"keys? of (\d+ nodes )?(?P<one>\S+)? ?(?P<how>new|changed|removed): (?P<rest>.*)")
_KEYS = st.dictionaries(st.sampled_from(GETS + OTHERS), st.integers(1, 3), max_size=11)


def key(node: str, number: int) -> str:
    return written(f"{node} {number}".encode().ljust(32))


def fleet(keys: dict[str, int], files: int) -> Fleet:
    """Keys in one file or in several."""
    texts: dict[str, str] = {}
    for place, (node, number) in enumerate(keys.items()):
        path = f"keys/{place % files}.txt"
        texts[path] = texts.get(path, "# keys\n") + f"{node} {key(node, number)} remark {files}\n"
    return Fleet(DictTree(POOL | texts), None, TODAY, NoCache())


@settings(max_examples=60)
@given(_KEYS, _KEYS, st.integers(1, 3))
def test_every_key_that_is_another_is_told_once(
    before: dict[str, int], after: dict[str, int], files: int
) -> None:
    lines = describe_key_changes(fleet(before, 1), fleet(after, files))
    told: dict[str, tuple[str, bool]] = {}
    for line in lines:
        found = _LINE.fullmatch(line)
        assert found is not None, line
        keys, _, secrets = found["rest"].partition("; the ")
        assert secrets in ("", "node gets pool", "nodes get pool")
        if found["one"]:
            node = found["one"]
            sides = [key(node, side[node]) for side in (before, after) if node in side]
            assert keys == " -> ".join(map(fingerprint, sides))
        for node in [found["one"]] if found["one"] else expand(keys, 100):
            assert node not in told
            told[node] = found["how"], bool(secrets)
    every = before.keys() | after.keys()
    assert told == {
        node: (
            "new" if node not in before else "removed" if node not in after else "changed",
            node in GETS and node in after,
        )
        for node in every
        if before.get(node) != after.get(node)
    }
    first = ["; the node" in line for line in lines]
    assert first == sorted(first, reverse=True)
