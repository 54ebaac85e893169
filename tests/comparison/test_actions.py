"""What must happen to subsystems: a table of changes and their consequences."""

from collections.abc import Mapping

import pytest

import gitcfg
from gitcfg.comparison.change import Change

BASE = {
    "gitcfg.yaml": "format: 1\nundeclared: allow\n",
    "parameters/p.yaml": (
        "parameters:\n"
        "  HARD: {description: h, type: string, restart: true}\n"
        "  SOFT: {description: s, type: string}\n"
        "  TOP: {description: t, type: string, restart: true}\n"
    ),
    "subsystems/s.yaml": (
        "subsystems:\n"
        "  all: {description: a, params: [TOP], covers: ['*']}\n"
        "  one: {description: o, params: [HARD, SOFT], features: [F], covers: [two]}\n"
        "  two: {description: t, params: ['*', '!TOP', '!GONE'], files: [/etc/x], covers: [one]}\n"
        "  three: {description: r, params: [HARD, GONE], features: [G]}\n"
    ),
    "features/F.yaml": "params: {SOFT: a, HARD: a}\n",
    "features/G.yaml": "description: g\n",
    "groups/default.yaml": "files: {/etc/x: {text: x}}\n",
    "nodes/n.yaml": "features: [F, G]\n",
}
SUBSYSTEMS = "subsystems/s.yaml"
NODE = "nodes/n.yaml"
NOTHING = {"restart": (), "reload": (), "stop": ()}


def node(text: str) -> dict[str, str]:
    return {NODE: f"features: [F, G]\n{text}\n"}


CASES: Mapping[str, tuple[dict[str, str], dict[str, str], Mapping[str, tuple[str, ...]]]] = {
    "a parameter that needs no restart": ({}, node("params: {SOFT: b}"), {"reload": ("one", "two")}),
    "of two that cover each other the first": ({}, node("params: {HARD: b}"), {"restart": ("one", "three")}),
    "one restart covers all": ({}, node("params: {HARD: b, TOP: b}"), {"restart": ("all",)}),
    "a reload is no more than a restart": ({}, node("params: {SOFT: b, TOP: b}"), {"restart": ("all",)}),
    "a file": ({}, node("files: {/etc/x: {text: y}}"), {"reload": ("two",)}),
    "a file's mode": ({}, node("files: {/etc/x: {text: x, mode: '0600'}}"), {"reload": ("two",)}),
    "a file that nobody cares for": ({}, node("files: {/etc/y: {text: y}}"), {}),
    "a feature that leaves": ({}, {NODE: "features: [F]\n"}, {"stop": ("three",)}),
    "a feature that comes": ({NODE: "features: [F]\n"}, {}, {}),
    "what is stopped is not restarted": (
        {},
        {NODE: "features: [G]\n"},
        {"restart": ("three", "two"), "stop": ("one",)},
    ),
    "a retired node stops everything": ({}, node("state: retired"), {"stop": ("all", "one", "three", "two")}),
    "a parameter that is not declared any more": (
        node("params: {GONE: a}")
        | {"parameters/q.yaml": "parameters: {GONE: {description: g, restart: true}}\n"},
        {"parameters/q.yaml": "parameters: {}\n"},
        {"restart": ("three",)},
    ),
    "as the new fleet declares it": (
        {},
        node("params: {SOFT: b}")
        | {"parameters/p.yaml": BASE["parameters/p.yaml"].replace("s, type: string}", "s, restart: true}")},
        {"restart": ("one",)},
    ),
    "subsystems are the new fleet's": (
        {},
        node("params: {SOFT: b}") | {SUBSYSTEMS: "subsystems: {new: {description: n, params: [SOFT]}}\n"},
        {"reload": ("new",)},
    ),
    "a node that is gone": ({}, {NODE: ""}, {}),
}


def change(old: Mapping[str, str], new: Mapping[str, str]) -> Change:
    present = ({path: text for path, text in files.items() if text} for files in (old, new))
    with gitcfg.in_memory(next(present)) as a, gitcfg.in_memory(next(present)) as b:
        (found,) = gitcfg.compare(a, b)
    return found


@pytest.mark.parametrize("case", CASES)
def test_consequences(case: str) -> None:
    before, after, expected = CASES[case]
    found = change(BASE | before, BASE | after)
    assert {key: getattr(found, key) for key in NOTHING} == NOTHING | dict(expected)


def test_a_node_that_comes_starts_what_cares() -> None:
    found = change(BASE | {NODE: ""}, BASE)
    assert (found.kind, found.restart, found.stop) == ("added", ("one", "three"), ())


def test_settings_that_only_moved_are_no_change() -> None:
    moved = BASE | {
        "features/F.yaml": "description: f\n",
        "features/G.yaml": "params: {HARD: a}\n",
        NODE: "features: [G, F]\nparams: {SOFT: a}\n",
        "parameters/p.yaml": "# moved by a line\n" + BASE["parameters/p.yaml"],
    }
    with gitcfg.in_memory(BASE) as a, gitcfg.in_memory(moved) as b:
        assert not gitcfg.compare(a, b)


def test_values_compare_as_json() -> None:
    values = ("1", "1.0", "true", '"1"', "[1]", "null", "{}", "[]")
    fleets = [BASE | node(f"params: {{X: {value}}}") for value in values]
    for i, old in enumerate(fleets):
        for j, new in enumerate(fleets):
            with gitcfg.in_memory(old) as a, gitcfg.in_memory(new) as b:
                assert bool(gitcfg.compare(a, b)) == (i != j), (values[i], values[j])


def test_both_trails_of_a_change_are_known() -> None:
    with gitcfg.in_memory(BASE) as a, gitcfg.in_memory(BASE | node("params: {SOFT: b}")) as b:
        old, new = gitcfg.compare(a, b).trails("n", "SOFT")
    assert [(step.given, step.overridden) for step in old] == [("a", False)]
    assert [(step.given, step.overridden) for step in new] == [("a", True), ("b", False)]
