"""What a node's files are made from: while its id is the same they are the same, whatever was edited."""

import random
from collections.abc import Mapping
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.generate import Options, repository
from gitcfg.git.tree import DictTree
from gitcfg.load.document import parse
from gitcfg.load.yaml import dump
from gitcfg.output.folder import Scope, Stale, UpdateRequest, update_folder
from gitcfg.output.source import File, Ingredients, Unmade, open_fleet_source
from tests.history.histories import Version, histories
from tests.history.ruled import RULED
from tests.history.runs import FEW
from tests.output.sources import held

TODAY = date(2026, 11, 20)
OPTIONS = Options(
    seed=9,
    nodes=14,
    groups=8,
    features=10,
    parameters=30,
    sets=0.5,
    set_files=0.5,
    without=0.3,
    overrides=4,
    secrets=3,
)

Files = Mapping[str, str]
Made = dict[str, tuple[str, list[File | Unmade]]]


def compiled(files: Files) -> Fleet:
    return compile_tree(DictTree(files), TODAY)


def fingerprint(files: Files) -> Made:
    """Each node's id and files."""
    fleet = compiled(files)
    with open_fleet_source(fleet, Ingredients(fleet)) as source:
        return {node: (source.fingerprint(node), list(source.files(node))) for node in fleet.names}


def edited(files: Files, rng: random.Random) -> Files:
    """A repository with something else in one file, or without it, or with one of another's content."""
    path = rng.choice(sorted(path for path in files if path.endswith(".yaml") and "/" in path))
    kind = rng.randrange(6)
    if kind == 0:
        return {name: text for name, text in files.items() if name != path}
    if kind == 1:
        others = [name for name in files if name.partition("/")[0] == path.partition("/")[0]]
        return {**files, path: files[rng.choice(sorted(others))]}
    document: Any = parse(path, files[path].encode()).value
    bound = document.get("params") if isinstance(document, dict) else None
    if kind == 2 or not bound:
        return {**files, path: files[path] + "# remark\n"}
    name = rng.choice(sorted(bound))
    value = {3: "other", 4: {"$append": ["more"]}, 5: None}[kind]
    return {**files, path: dump({**document, "params": {**bound, name: value}})}


@pytest.mark.parametrize("seed", range(6))
def test_nodes_with_the_same_id_have_the_same_files(seed: int) -> None:
    rng = random.Random(seed)
    files = repository(OPTIONS)
    before = fingerprint(files)
    kept = renewed = 0
    for _ in range(12):
        files = edited(files, rng)
        after = fingerprint(files)
        for node in before.keys() & after.keys():
            if before[node][0] == after[node][0]:
                kept += 1
                assert before[node][1] == after[node][1], node
            else:
                renewed += 1
        before = after
    assert kept
    assert renewed


BASE = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters: {A: {type: list, separator: comma}}\n",
    "templates/t": "{{ params.B }} {{ node.labels }}",
    "files/s": "as it is\n",
    "features/F.yaml": "include: [G]\nparams: {B: f}\n",
    "features/G.yaml": "params: {C: g}\n",
    "features/Lonely.yaml": "params: {C: lonely}\n",
    "groups/default.yaml": "files: {/a: {format: env, params: ['*']}, /t: {template: t}, /s: {source: s}}\n",
    "groups/one.yaml": "features: [F]\nparams: {A: [x]}\n",
    "groups/two.yaml": "params: {D: '1'}\n",
    "nodesets/s.yaml": "nodes: n[1-2]\ngroups: [one]\n",
    "nodes/n2.yaml": "labels: [old]\nparams: {B: own}\n",
    "nodes/n3.yaml": "groups: [two]\nparams: {B: '3'}\n",
    "overrides/o.yaml": "reason: r\nuntil: 2030-01-01\nnodes: n2\nparams: {D: '2'}\n",
    "overrides/w.yaml": "reason: r\nuntil: 2030-01-01\nwhere: '\"two\" in node.groups'\nparams: {E: w}\n",
}
ALL = {"n1", "n2", "n3"}


@pytest.mark.parametrize(
    ("path", "text", "renewed"),
    [
        ("parameters/p.yaml", "parameters: {A: {type: list, separator: blank-or-comma}}\n", ALL),
        ("templates/t", "{{ params.B }}", ALL),
        ("files/s", "other\n", ALL),
        ("gitcfg.yaml", "format: 1\nundeclared: error\n", ALL),
        ("groups/default.yaml", "files: {/a: {format: condor, params: ['*']}}\n", ALL),
        ("features/G.yaml", "params: {C: other}\n", {"n1", "n2"}),
        ("features/F.yaml", None, {"n1", "n2"}),
        ("features/Lonely.yaml", "params: {C: other}\n", set()),
        ("groups/one.yaml", "params: {A: [y]}\n", {"n1", "n2"}),
        ("groups/two.yaml", "params: {D: '4'}\n", {"n3"}),
        ("nodesets/s.yaml", "nodes: n[1-2]\ngroups: [one, two]\n", {"n1", "n2"}),
        ("nodes/n2.yaml", "labels: [new]\nparams: {B: own}\n", {"n2"}),
        ("overrides/o.yaml", "reason: r\nuntil: 2030-01-01\nnodes: n2\nparams: {D: '9'}\n", {"n2"}),
        ("overrides/o.yaml", "reason: r\nuntil: 2030-01-01\nnodes: n1\nparams: {D: '2'}\n", {"n1", "n2"}),
        ("overrides/w.yaml", 'reason: r\nuntil: 2030-01-01\nwhere: "true"\nparams: {E: w}\n', ALL),
        # An operation on an undeclared parameter decides of what type it is for everybody.
        ("features/Lonely.yaml", "params: {D: {$append: [x]}}\n", ALL),
    ],
)
def test_what_a_node_is_made_from(path: str, text: str | None, renewed: set[str]) -> None:
    changed = {name: said for name, said in {**BASE, path: text}.items() if said is not None}
    before, after = fingerprint(BASE), fingerprint(changed)
    assert {node for node in ALL if before[node][0] != after[node][0]} == renewed
    assert {node for node in ALL if before[node][1] != after[node][1]} <= renewed


@FEW
@given(versions=histories(extras=RULED))
def test_beside_rules_nodes_with_the_same_id_have_the_same_files(versions: list[Version]) -> None:
    files = (version.files for version in versions)
    sound = [each for each in files if each.get("gitcfg.yaml", "").startswith("format: 1")]
    for before, after in pairwise(map(fingerprint, sound)):
        for node in before.keys() & after.keys():
            if before[node][0] == after[node][0]:
                assert before[node][1] == after[node][1], node


JOINED = {
    **BASE,
    "features/H.yaml": "params: {I: {$collect: {param: B, feature: F}}}\n",
    "groups/two.yaml": "features: [H]\n",
    "rules/r.yaml": (
        "rules:\n"
        "  a: {install: Lonely, where: '\"two\" in node.groups'}\n"
        "  b: {set: {D: r}, where: '\"F\" in node.features'}\n"
        "  c: {install: K, count: 1}\n"
        "  d: {domain: {H: [80, 81]}}\n"
    ),
    "features/K.yaml": "{}\n",
    "allocations/c.yaml": "install: [n1]\n",
    "allocations/d.yaml": "values: {n1: {H: 80}, n3: {H: 80}}\n",
}


@pytest.mark.parametrize(
    ("path", "text", "renewed"),
    [
        ("features/Lonely.yaml", "params: {C: other}\n", {"n3"}),
        ("rules/s.yaml", "rules: {e: {set: {C: r}, where: 'node.name == \"n2\"'}}\n", {"n2"}),
        ("rules/s.yaml", "rules: {e: {require: 'true'}}\n", set()),
        ("rules/r.yaml", JOINED["rules/r.yaml"].replace("D: r", "D: s"), {"n1", "n2"}),
        ("rules/r.yaml", JOINED["rules/r.yaml"].replace('"two"', '"one"'), ALL),
        ("allocations/c.yaml", "install: [n2]\n", {"n1", "n2"}),
        ("allocations/d.yaml", "values: {n1: {H: 80}, n3: {H: 81}}\n", {"n3"}),
        ("nodes/n2.yaml", "labels: [old]\nparams: {B: other}\n", {"n2", "n3"}),
    ],
)
def test_what_rules_bring_and_nodes_collect_is_part_of_it(path: str, text: str, renewed: set[str]) -> None:
    before, after = fingerprint(JOINED), fingerprint({**JOINED, path: text})
    assert {node for node in ALL if before[node][0] != after[node][0]} == renewed
    assert {node for node in ALL if before[node][1] != after[node][1]} <= renewed


def test_it_is_the_same_wherever_the_repository_is() -> None:
    assert fingerprint(BASE) == fingerprint(dict(reversed(BASE.items())))


def update_from(files: Files, top: Path, workers: int = 1) -> dict[str, str]:
    fleet = compiled(files)
    ingredients = Ingredients(fleet)
    request = UpdateRequest(top, fleet.names, Scope.ALL, Stale.REMOVE, workers)
    update_folder(request, lambda: open_fleet_source(fleet, ingredients))
    return held(top)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_folder_follows_a_repository(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gitcfg.output.folder.CHUNK", 2)
    rng = random.Random(workers)
    files = repository(OPTIONS)
    for number in range(8):
        found = update_from(files, tmp_path / "out", workers)
        assert found == update_from(files, tmp_path / str(number))
        files = edited(files, rng)


@pytest.mark.parametrize("break_it", ["path", "mode", "text", "inside"])
def test_a_commit_with_errors_is_rendered_as_far_as_it_can_be(tmp_path: Path, break_it: str) -> None:
    entries = {
        "path": """  /../../x: {text: no}\n  ../y: {text: no}\n  /a//z: {text: x}\n  "/\\0": {text: no}\n""",
        "mode": "  /etc/m: {text: no, mode: rwx}\n",
        "text": '  /etc/t: {text: "\\ud800"}\n',
        "inside": "  /etc/ok/inside: {text: no}\n",
    }[break_it]
    files = {
        "gitcfg.yaml": "format: 1\n",
        "groups/default.yaml": "files:\n  /etc/ok: {text: yes it is}\n" + entries,
        "nodes/n1.yaml": "labels: [x]\n",
    }
    found = update_from(files, tmp_path / "deep/er/out")
    assert {name for name in found if not name.endswith("/")} <= {"n1/etc/ok"}
    assert [place.name for place in tmp_path.iterdir()] == ["deep"]
