"""Whom a change may concern where there are rules."""

import pytest

from gitcfg.compile.impact import Mentions, Version, find_changed_nodes, find_collecting_nodes
from gitcfg.compile.subset import is_alone, take_part
from gitcfg.git.tree import DictTree
from gitcfg.load.repository import load

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "features/base.yaml": "{}",
    "features/web.yaml": "include: [base]",
    "features/other.yaml": "{}",
    "nodes/a.yaml": "{}",
    "nodes/b.yaml": "{}",
    "rules/r.yaml": "rules:\n  web: {install: web}\n",
}


def version(files: dict[str, str]) -> Version:
    tree = DictTree(files)
    return Version(tree, load(tree), lambda: Mentions({}, {}, {}))


@pytest.mark.parametrize(
    ("path", "text", "nodes"),
    [
        ("rules/r.yaml", "rules: {}\n", None),
        ("allocations/web.yaml", "install: []\n", None),
        ("features/web.yaml", "description: x", None),
        ("features/base.yaml", "description: x", None),
        ("features/other.yaml", "description: x", frozenset()),
        ("nodes/a.yaml", "labels: [x]", frozenset({"a"})),
    ],
)
def test_what_rules_may_do_with_a_change_concerns_all(
    path: str, text: str, nodes: frozenset[str] | None
) -> None:
    assert find_changed_nodes(version(FILES), version({**FILES, path: text})) == nodes


@pytest.mark.parametrize(("bound", "nodes"), [("s", None), ("t", frozenset())])
def test_a_secret_that_a_rule_binds_may_concern_all(bound: str, nodes: frozenset[str] | None) -> None:
    files = {
        **FILES,
        "rules/s.yaml": f"rules:\n  key: {{set: {{p: {{$secret: {bound}}}}}}}\n",
        "secrets/s.yaml": "for: 'true'\n",
        "secrets/t.yaml": "for: 'true'\n",
    }
    changed = {**files, "secrets/s.yaml": "for: 'true'\nversion: 2\n"}
    assert find_changed_nodes(version(files), version(changed)) == nodes


COLLECTS = "params: {p: {$collect: {param: name, feature: web}}}"


@pytest.mark.parametrize(
    ("path", "nodes"),
    [("groups/default.yaml", None), ("features/unused.yaml", None), ("nodes/a.yaml", frozenset({"a", "b"}))],
)
def test_who_collects_may_be_concerned_by_any_node(path: str, nodes: frozenset[str] | None) -> None:
    files = {name: text for name, text in FILES.items() if not name.startswith("rules/")}
    files |= {"parameters/p.yaml": "parameters: {p: {type: list}}", path: COLLECTS}
    old, new = DictTree(files), DictTree({**files, "nodes/b.yaml": "labels: [x]"})
    versions = [Version(tree, load(tree), lambda: Mentions({}, {}, {})) for tree in (old, new)]
    assert find_changed_nodes(*versions) == nodes


def test_it_is_known_who_collects_and_of_a_part_whether_somebody_does() -> None:
    parameters = {"parameters/p.yaml": "parameters: {p: {type: list}}"}
    model = load(DictTree({**FILES, **parameters, "nodes/a.yaml": COLLECTS}))
    assert find_collecting_nodes(model.nodes) == ["a"]
    assert [is_alone(take_part(model, [name])) for name in ("a", "b")] == [False, True]
