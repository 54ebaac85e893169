"""Facts of single members of a node set: what they cost, and which nodes a change of one concerns."""

from datetime import date
from functools import partial

import pytest

from gitcfg.compile.fleet import Fleet, compile_tree, find_facts_in_template
from gitcfg.compile.impact import Version, find_changed_nodes, index_nodes
from gitcfg.git.tree import DictTree

TODAY = date(2026, 1, 1)
BASE = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {RACK: {type: string}}\n",
    "groups/g.yaml": "params: {RACK: x}\n",
}


def _set(facts: dict[int, str], top: str = "") -> str:
    entries = "".join(f"  n{number:04d}: {text}\n" for number, text in facts.items())
    return f"nodes: n[0001-1000]\ngroups: [g]\n{top}node_facts:\n{entries}"


def _fleet(**files: str) -> Fleet:
    return compile_tree(DictTree(BASE | files), TODAY)


EACH = {number: f"{{serial: s{number}, rack: r{number % 3}}}" for number in range(1, 1001)}


@pytest.mark.parametrize(
    ("files", "classes"),
    [
        ({}, 1),
        ({"templates/t": "This node {{ node.name }} {% if node.groups %}{% endif %}"}, 1),
        ({"templates/t": "{{ node.facts.rack }}"}, 3),
        ({"templates/t": "{{ node['facts'] }}"}, 1000),
        ({"groups/g.yaml": "params: {RACK: {$fact: rack}}"}, 3),
    ],
)
def test_a_set_has_a_class_for_what_something_depends_on(files: dict[str, str], classes: int) -> None:
    fleet = _fleet(**{"nodesets/s.yaml": _set(EACH)}, **files)
    assert len(fleet.classes) == classes
    assert sum(len(node_class.names) for node_class in fleet.classes) == 1000
    for node_class in fleet.classes:
        assert all(fleet[name].node_class is node_class for name in node_class.names)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("node {# {{ node.name }} #}", frozenset()),
        (
            "{{ node.facts.a }}{{ node . facts['b.c'] }}{{ node.facts.get(\"d\") }}",
            frozenset({"a", "b.c", "d"}),
        ),
        ("{{ {'a': {'b': 1}}[node.facts.x] }}", frozenset({"x"})),
        ("{{ '{{' ~ node.facts.x ~ '}}' ~ node.facts.y }}", frozenset({"x", "y"})),
        *(
            (f"{{{{ {inner} }}}}", None)
            for inner in ("node", "node['facts']", "node.facts", "node.facts.items()")
        ),
        ("{% set n = node %}", None),
        ("{{ node.facts[key] }}", None),
    ],
)
def test_the_facts_that_a_template_may_look_at(text: str, facts: frozenset[str] | None) -> None:
    assert find_facts_in_template(text) == facts


def _changed(before: str, after: str) -> frozenset[str] | None:
    fleets = [_fleet(**{"nodesets/s.yaml": text}) for text in (before, after)]
    versions = [Version(fleet.tree, fleet.model, partial(index_nodes, fleet.roster)) for fleet in fleets]
    return find_changed_nodes(*versions)


@pytest.mark.parametrize(
    ("facts", "names"),
    [
        ({7: "{rack: other}"}, {"n0007"}),
        ({7: "{rack: r1, serial: s7}"}, set()),
        ({7: "{serial: s7, rack: 1}", 9: "{}"}, {"n0007", "n0009"}),
    ],
)
def test_a_change_of_an_entry_concerns_its_nodes(facts: dict[int, str], names: set[str]) -> None:
    found = _changed(_set(EACH), _set(EACH | facts))
    assert found is not None
    assert names <= found <= names | {"n0007"}


def test_a_change_above_concerns_all() -> None:
    found = _changed(_set(EACH), _set(EACH, "labels: [x]\n"))
    assert found is not None
    assert len(found) == 1000


def test_true_is_not_one() -> None:
    assert _changed(_set({7: "{a: {b: 1}}"}), _set({7: "{a: {b: true}}"})) == frozenset({"n0007"})


def test_very_many_overlapping_entries_are_refused() -> None:
    entries = "".join(
        f"  '{' ' * number}n[0001-1000]': {{f{number}: 1, g{number}: 2}}\n" for number in range(600)
    )
    fleet = _fleet(**{"nodesets/s.yaml": f"nodes: n[0001-1000]\nnode_facts:\n{entries}"})
    (finding,) = fleet.model.findings
    assert finding.code == "GC103"
    assert "more than 1,000,000 node facts" in finding.message
