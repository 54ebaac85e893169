"""Which files change: every kind of entry against every kind of change, and against rendering it all."""

from collections.abc import Mapping

import pytest

import gitcfg
from gitcfg.comparison.change import Delta
from tests.comparison.test_laws import check_laws

BASE = {
    "gitcfg.yaml": "format: 1\nundeclared: allow\n",
    "parameters/p.yaml": "parameters: {L: {description: l, type: list, separator: comma, tags: [t]}}\n",
    "features/F.yaml": "description: f\n",
    "groups/G.yaml": "description: g\n",
    "nodesets/n.yaml": "nodes: n[1-2]\nparams: {A: a, B: b, L: [x, y]}\nfeatures: [F]\n",
    "templates/by-name": "{{ params.A }}",
    "templates/by-loop": "{% for p in params %}{{ p }}{{ params[p] }}{% endfor %}",
    "templates/features": "{{ features }}",
    "templates/groups": "{{ groups }}",
    "templates/node": "{{ node.name }}{{ node.labels }}{{ node.facts }}{{ node.address }}",
    "templates/outer": "{% include 'plain' %}",
    "templates/maybe": "{% include 'gone' ignore missing %}.",
    "templates/computed": "{% include params.A ~ 'x' ignore missing %}.",
    "templates/plain": "one",
    "templates/broken": "{% if %}",
    "files/source": "one",
}
ENTRIES = {
    **{f"/t/{path[10:]}": f"{{template: {path[10:]}}}" for path in BASE if path.startswith("templates/")},
    "/f/all": "{format: json, params: ['*']}",
    "/f/a": "{format: json, params: [A]}",
    "/f/list": "{format: condor, params: [L]}",
    "/f/tags": "{format: condor, params: {tags: [t]}}",
    "/f/not": "{format: env, params: ['!A']}",
    "/s": "{source: source}",
    "/x": "{text: one}",
}
BASE["groups/default.yaml"] = "files:\n" + "".join(f"  {path}: {said}\n" for path, said in ENTRIES.items())


def said(before: str, after: str, path: str = "nodesets/n.yaml") -> dict[str, str]:
    assert before in BASE[path]
    return {path: BASE[path].replace(before, after)}


CHANGES: Mapping[str, tuple[dict[str, str], set[str]]] = {
    "nothing": ({}, set()),
    "a comment": ({"nodesets/n.yaml": "# more\n" + BASE["nodesets/n.yaml"]}, set()),
    "the value of A": (said("A: a", "A: c"), {"/f/all", "/f/a", "/t/by-loop", "/t/by-name"}),
    "the value of L": (said("[x, y]", "[x]"), {"/f/all", "/f/list", "/f/not", "/f/tags", "/t/by-loop"}),
    "A is not bound": (said("A: a, ", ""), {"/f/all", "/f/a", "/t/by-loop", "/t/by-name", "/t/computed"}),
    "a template that is computed is there": ({"templates/ax": "there"}, {"/t/computed"}),
    "a template that was missing is there": ({"templates/gone": "there"}, {"/t/maybe"}),
    "a template": ({"templates/plain": "two"}, {"/t/plain", "/t/outer"}),
    "a template that is mended": ({"templates/broken": "x"}, {"/t/broken"}),
    "a source": ({"files/source": "two"}, {"/s"}),
    "a text": (said("text: one", "text: two", "groups/default.yaml"), {"/x"}),
    "a mode": (said("text: one", "text: one, mode: '0600'", "groups/default.yaml"), {"/x"}),
    "an owner and a group": (
        said("text: one", "text: one, owner: condor, group: users", "groups/default.yaml"),
        {"/x"},
    ),
    "a secret": (
        {**said("A: a", "A: {$secret: s}"), "secrets/s.yaml": "for: 'true'\nversion: 1\nrecipients: [x]\n"},
        {"/f/all", "/f/a", "/t/by-loop", "/t/by-name", "/t/computed"},
    ),
    "an entry's parameters": (
        said("json, params: [A]", "json, params: [B]", "groups/default.yaml"),
        {"/f/a"},
    ),
    "a separator": (
        said("separator: comma", "separator: blank-or-comma", "parameters/p.yaml"),
        {"/f/list", "/f/not", "/f/tags"},
    ),
    "a list that is a text": (said("type: list, separator: comma", "type: list", "parameters/p.yaml"), set()),
    "a tag": (said("tags: [t]", "tags: [u]", "parameters/p.yaml"), {"/f/tags"}),
    "a group": (said("features: [F]", "features: [F]\ngroups: [G]"), {"/t/groups"}),
    "a feature": (said("features: [F]", "features: []"), {"/t/features"}),
    "a label": (said("features: [F]", "features: [F]\nlabels: [l]"), {"/t/node"}),
    "a fact": (said("features: [F]", "features: [F]\nfacts: {a: 1}"), {"/t/node"}),
    "an address": (said("features: [F]", "features: [F]\naddress: 10.0.0.1"), {"/t/node"}),
    "no entry": (said("  /x: {text: one}\n", "", "groups/default.yaml"), {"/x"}),
}


@pytest.mark.slow
@pytest.mark.parametrize("change", CHANGES)
def test_files_that_change(change: str) -> None:
    files, expected = CHANGES[change]
    with gitcfg.in_memory(BASE) as old, gitcfg.in_memory(BASE | files) as new:
        changed = {path for found in gitcfg.compare(old, new) for path in found.files}
        check_laws(old, new)
    assert changed == expected


def test_a_secret_closes_the_files_that_take_it() -> None:
    files, _ = CHANGES["a secret"]
    with gitcfg.in_memory(BASE) as old, gitcfg.in_memory(BASE | files) as new:
        (change,) = gitcfg.compare(old, new)
    closed = Delta({"mode": "0644"}, {"mode": "0600"})
    assert change.modes == dict.fromkeys(
        ("/f/a", "/f/all", "/t/by-loop", "/t/by-name", "/t/computed"), closed
    )


def test_nodes_whose_files_differ_are_told_apart() -> None:
    other = "{% if node.name == 'n1' %}other{% else %}" + BASE["templates/node"] + "{% endif %}"
    new = BASE | {"templates/node": other}
    with gitcfg.in_memory(BASE) as a, gitcfg.in_memory(new) as b:
        (found,) = gitcfg.compare(a, b)
    assert (found.nodes, found.files) == (("n1",), ("/t/node",))
