"""Who gets a secret is found without asking each class of nodes, and is who every node by itself says."""

from collections.abc import Sequence
from itertools import product
from random import Random

import pytest

from gitcfg.cel import NODE_VARIABLES, Condition, compile_condition, find_members
from gitcfg.check import nodes as module
from gitcfg.check.files import Carrier
from gitcfg.check.nodes import chosen
from gitcfg.check.secrets import SecretReaders
from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.compile.selection import NodeView, Selection, evaluate_condition
from gitcfg.generate.files import secret
from gitcfg.generate.options import Options
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.model import Origin, Ref
from gitcfg.render.templates import TemplateEngine
from tests.compile.fleets import TODAY

SURE = {
    '"a" in node.features': {"a"},
    "'a b.c' in node.features": {"a b.c"},
    '  "a"  in\n node . features ': {"a"},
    '"a" in node.features && !("b" in node.features)': {"a", "b"},
    '("a" in node.features) ? "b" in node.features : "c" in node.features': {"a", "b", "c"},
    'node.name == "x" || "a" in node.features': {"a"},
    'node.name == "x"': set(),
    '"a" in (node.features)': {"a"},
    r'"\u0061" in node.features || r"\n" in node.features': {"a", r"\n"},
    '"""b""" in node.features': {"b"},
    '["a" in node.features, {true: "b" in node.features}[true]][0]': {"a", "b"},
    '"features" in .node.features && has(node.facts.features)': {"features"},
    '// (node.features\n"a" in node.features': {"a"},
    '[1, 2].exists(f, f > 1 && "a" in node.features)': {"a"},
    '-1 < 2 && 1.5 < 2.5 && b"a" != b"b" && 1u < 2u && null == null': set(),
}
UNSURE = (
    "size(node.features) > 1",
    "node.features.exists(f, f == 'a')",
    'node.features == ["a"]',
    '"a" in node.features && size(node.features) > 1',
    "node.name in node.features",
    '"a" + "b" in node.features',
    'node.name + "a" in node.features',
    'dyn("a") in node.features',
    "dyn(null) in node.features",
    '["a"].exists(f, f in node.features)',
    'node . features == [] || "a" in node.features',
    'sets.intersects(["a"], node.features)',
    '[{"features": ["a"]}].exists(node, "a" in node.features)',
    '{"a": node.features}["a"] == ["a"]',
    'node.features[0] == "a"',
)


@pytest.mark.parametrize("text", SURE)
def test_the_names_that_a_condition_looks_for_are_found(text: str) -> None:
    assert find_members(compile_condition(text, NODE_VARIABLES), "node.features") == frozenset(SURE[text])


@pytest.mark.parametrize("text", UNSURE)
def test_what_may_look_at_more_is_not_taken_for_one_that_does_not(text: str) -> None:
    condition = compile_condition(text, NODE_VARIABLES)
    assert "node.features" not in condition.names or find_members(condition, "node.features") is None


PIECES = (
    '"a" in node.features',
    "'b' in node.features",
    "size(node.features) > 2",
    "'c' in node.features.filter(f, f != 'a')",
    '"a" in node.groups',
    "\"('b' in node.features\" == node.name",
    "node.name == '&& \"c\" in node.features'",
    'node.features[0] == "c"',
    '[1, 2].exists(features, "b" in node.features)',
)
JOINTS = ("%s && %s", "%s || !(%s)", "(%s) ? (%s) : false", "!(%s) && (%s)")


@pytest.mark.parametrize(("first", "second"), list(product(PIECES, PIECES)))
def test_what_is_not_looked_for_changes_nothing(first: str, second: str) -> None:
    for joint in JOINTS:
        condition = compile_condition(joint % (first, second), NODE_VARIABLES)
        wanted = find_members(condition, "node.features")
        if wanted is not None:
            for features in (["a"], ["b", "z"], ["a", "b", "c"], ["y", "z"], []):
                few = [name for name in features if name in wanted]
                assert _answer(condition, features) == _answer(condition, few), condition.text


def _answer(condition: Condition, features: list[str]) -> bool:
    row = {"node.features": features, "node.groups": ["a"], "node.name": "n"}
    return condition.holds({name: row[name] for name in condition.names})


def _drawn(rng: Random, fleet: Fleet) -> str:
    said = f'"{rng.choice(sorted(fleet.model.features))}" in node.features'
    group = f'"{rng.choice(sorted(fleet.model.groups))}" in node.groups'
    others = (
        'node.name.endsWith("1")',
        "size(node.features) > 4",
        '"ssd" in node.labels',
        'node.facts["site"] == "value-1"',
        "size(node.params) > 20",
        said,
        group,
    )
    return f"{rng.choice((said, group, others[1]))} {rng.choice(('&&', '||'))} {rng.choice(others)}"


@pytest.mark.parametrize("seed", range(3))
def test_it_is_who_every_node_by_itself_says(seed: int) -> None:
    files = dict(repository(Options(seed=seed, nodes=60, groups=15, features=12, parameters=40)))
    fleet, rng = compile_tree(DictTree(files), TODAY), Random(seed)
    held = set()
    for _ in range(25):
        where = _drawn(rng, fleet)
        found, wanted = chosen(fleet, Ref(where, Origin("x")), fleet.classes), fleet.select(where)
        assert found.problem is None
        assert found.names == wanted.names, where
        assert {name: str(problem) for name, problem in found.failed.items()} == {
            name: str(problem) for name, problem in wanted.failed.items()
        }
        held.add(len(found.names))
    assert len(held) > 5


def _many(groups: int) -> Fleet:
    """Each node is a class of its own, and two secrets that are for the same nodes go to all of them."""
    files = {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": "parameters: {A: {secret: true, description: d}, B: {description: d}}\n",
        "features/F.yaml": "params: {A: {$secret: one}, B: {$secret: two}}\n",
        "groups/default.yaml": "files: {/etc/a: {format: condor, params: ['*']}}\n",
        **dict(secret("one", 1, bytes(160), '"F" in node.features')),
        **dict(secret("two", 1, bytes(160), '"F" in node.features')),
    }
    for number in range(groups):
        files[f"features/f{number}.yaml"] = "{}\n"
        files[f"groups/g{number}.yaml"] = f"features: [f{number}, F]\n"
        files[f"nodes/n{number}.yaml"] = f"groups: [g{number}]\nfacts: {{x: {number}}}\n"
    return compile_tree(DictTree(files), TODAY)


def test_classes_are_asked_together_and_secrets_too(monkeypatch: pytest.MonkeyPatch) -> None:
    rows: list[int] = []

    def counted(condition: Condition, nodes: Sequence[NodeView]) -> Selection:
        rows.append(len(nodes))
        return evaluate_condition(condition, nodes)

    monkeypatch.setattr(module, "evaluate_condition", counted)
    fleet = _many(20)
    with TemplateEngine({}) as engine:
        confined = SecretReaders(fleet, engine)
        for kind in fleet.classes:
            assert not list(confined.see(kind, fleet.surfaces.of(kind)))
        assert len(fleet.classes) == 20
        assert list(confined.end()) == []
    assert rows == [1]


def test_a_secret_is_no_reason_to_look_at_what_a_class_writes() -> None:
    fleet = _many(3)
    carrier = Carrier(fleet, fleet.surfaces, "condor")
    assert [carrier.doubtful(kind, fleet.surfaces.of(kind)) for kind in fleet.classes] == [[], [], []]
