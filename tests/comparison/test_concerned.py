"""Only nodes that a change can concern are looked at, and nothing is missed for it."""

import os
from collections.abc import Mapping
from pathlib import Path
from random import Random

import pytest

import gitcfg
from gitcfg.cache import Cache, FolderCache
from gitcfg.comparison.comparison import Comparison
from gitcfg.comparison.files import Side
from gitcfg.compile.impact import find_changed_nodes as found
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet
from tests.compile.fleets import TODAY, mixed
from tests.seeds import mostly_slow


def edited(files: Mapping[str, str], rng: Random) -> dict[str, str]:
    """A line or two less somewhere, a file gone, or a file that says what another one said."""
    result = dict(files)
    for _ in range(rng.randrange(1, 4)):
        path = rng.choice([path for path in sorted(result) if path != "gitcfg.yaml"])
        lines = result[path].splitlines(keepends=True)
        kind = path.partition("/")[0]
        what = rng.randrange(4)
        if what == 0 and kind != "parameters":
            del result[path]
        elif what == 1:
            others = [other for other in sorted(result) if other.startswith(kind + "/")]
            result[path] = result[rng.choice(others)]
        elif lines:
            lines.pop(rng.randrange(len(lines)))
            result[path] = "".join(lines) or "{}\n"
    return result


@pytest.mark.parametrize("seed", mostly_slow(range(60)))
def test_a_narrow_comparison_is_the_whole_one(seed: int) -> None:
    files = dict(repository(mixed(seed)))
    other = edited(files, Random(seed))
    with gitcfg.in_memory(files) as old, gitcfg.in_memory(other) as new:
        narrow = tuple(gitcfg.compare(old, new))
    with gitcfg.in_memory(files) as old, gitcfg.in_memory(other) as new:
        whole = Comparison(Side(old.compiled, old.engine), Side(new.compiled, new.engine))
        assert narrow == tuple(whole)


def counted(files: Mapping[str, str], cache: Cache) -> tuple[Fleet, list[str]]:
    """A fleet, and the paths that are read for it."""
    fleet = Fleet(DictTree(files), None, TODAY, cache)
    read: list[str] = []
    tree = fleet.tree
    assert isinstance(tree, DictTree)
    whole = tree.read

    def reading(entry: object) -> bytes:
        read.append(entry.path)  # type: ignore[attr-defined]
        return whole(entry)  # type: ignore[arg-type]

    tree.read = reading  # type: ignore[method-assign]
    return fleet, read


@pytest.mark.parametrize(
    ("settings", "names"),
    [
        ("ignore: [{code: GC504, reason: r}]\nprotected: []\nratchet: true\n", frozenset()),
        ("default_group: a\n", None),
        ("format: 2\n", None),
    ],
)
def test_settings_that_no_node_depends_on_concern_none(settings: str, names: frozenset[str] | None) -> None:
    files = {"gitcfg.yaml": "format: 1\n", "groups/a.yaml": "{}\n", "nodes/n1.yaml": "groups: [a]\n"}
    other = settings if "format" in settings else f"format: 1\n{settings}"
    with gitcfg.in_memory(files) as old, gitcfg.in_memory({**files, "gitcfg.yaml": other}) as new:
        assert found(old.version, new.version) == names
    with gitcfg.in_memory(files) as old, gitcfg.in_memory({**files, "gitcfg.yaml": other}) as new:
        whole = Comparison(Side(old.compiled, old.engine), Side(new.compiled, new.engine))
        assert tuple(gitcfg.compare(old, new)) == tuple(whole)


def test_other_nodes_are_not_compiled() -> None:
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": "parameters:\n  P: {type: string}\n  Q: {type: string}\n",
        "groups/a.yaml": "params: {P: a}\n",
        "groups/b.yaml": "params: {P: b}\n",
        **{f"nodes/n{n}.yaml": f"groups: [{'a' if n < 3 else 'b'}]\n" for n in range(9)},
    }
    with (
        gitcfg.in_memory(files) as old,
        gitcfg.in_memory({**files, "groups/a.yaml": "params: {P: c}\n"}) as new,
    ):
        comparison = gitcfg.compare(old, new)
        assert [change.nodes for change in comparison] == [("n0", "n1", "n2")]
        assert set(comparison.pairs) == {"n0", "n1", "n2"}
        assert len(comparison.old.fleet.classes) == 1


SECRETS = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters:\n  P: {type: string, secret: true}\n",
    "secrets/a.yaml": "for: 'true'\nversion: 1\n",
    "secrets/a.age": "sealed",
    "secrets/b.yaml": "for: 'true'\nversion: 1\n",
    "features/X.yaml": "params: {P: {$secret: a}}\n",
    "features/Y.yaml": "params: {P: {$secret: '${with.s}'}}\n",
    "groups/g.yaml": "features: [X]\n",
    "nodes/n1.yaml": "groups: [g]\n",
    "nodes/n2.yaml": "params: {P: {$secret: b}}\n",
    "nodes/n3.yaml": "{}\n",
    "nodesets/s.yaml": "nodes: s[1-2]\nparams: {P: {$secret: b}}\n",
}
INSTANCE = {"nodes/n4.yaml": "features: [{feature: Y, as: x, with: {s: a}}]\n"}


@pytest.mark.parametrize(
    ("path", "text", "concerned", "changed"),
    [
        ("secrets/a.yaml", "for: 'true'\nversion: 2\n", None, {"n1", "n4"}),
        ("secrets/b.yaml", "for: 'true'\nversion: 2\n", None, {"n2", "s1", "s2"}),
        ("secrets/a.age", "sealed anew", frozenset(), set()),
    ],
)
def test_a_secret_concerns_whoever_is_bound_to_it(
    path: str, text: str, concerned: frozenset[str] | None, changed: set[str]
) -> None:
    files = {**SECRETS, **INSTANCE}
    with gitcfg.in_memory(files) as old, gitcfg.in_memory({**files, path: text}) as new:
        assert found(old.version, new.version) == concerned  # an instance may say any name
        comparison = gitcfg.compare(old, new)
        assert {name for change in comparison for name in change.nodes} == changed


@pytest.mark.parametrize(
    ("path", "text", "concerned"),
    [
        ("secrets/a.yaml", "for: 'true'\nversion: 2\n", {"n1"}),
        ("secrets/folder/b.yaml", "for: 'true'\nversion: 2\n", {"n2", "s1", "s2"}),
        ("secrets/b.yaml", "for: 'false'\nversion: 1\nrecipients: [age1x]\n", {"n2", "s1", "s2"}),
    ],
)
def test_others_than_those_bound_to_a_secret_are_not_looked_at(
    path: str, text: str, concerned: set[str]
) -> None:
    files = {name: said for name, said in SECRETS.items() if name != "features/Y.yaml"}
    with gitcfg.in_memory(files) as old, gitcfg.in_memory({**files, path: text}) as new:
        assert found(old.version, new.version) == frozenset(concerned)


def test_nothing_is_read_of_what_stays(tmp_path: Path) -> None:
    """Once all of it has been: a node may collect from the others by what it says itself."""
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": "parameters:\n  P: {type: string}\n",
        "features/X.yaml": "params: {P: x}\n",
        "features/Y.yaml": "params: {P: y}\n",
        "nodes/n1.yaml": "features: [X]\n",
        "nodes/n2.yaml": "features: [Y]\n",
    }
    cache = FolderCache(tmp_path, os.geteuid())
    with Fleet(DictTree(files), None, TODAY, cache) as first:
        first.model.nodes.values()
    old, read = counted(files, cache)
    new, read_anew = counted({**files, "nodes/n1.yaml": "features: []\n"}, cache)
    with old, new:
        assert [change.nodes for change in gitcfg.compare(old, new)] == [("n1",)]
    assert "nodes/n1.yaml" in read_anew
    assert "nodes/n2.yaml" not in (*read, *read_anew)
