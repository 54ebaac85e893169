"""Edits of whole repositories: the same as by hand, refused where they would be wrong, committed alone."""

import subprocess
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest
from msgspec.structs import replace

from gitcfg.cli.main import run
from gitcfg.edit.draft import Draft
from gitcfg.edit.kinds import KINDS
from gitcfg.edit.orders import Action, Order, carry_out, parse_orders
from gitcfg.edit.rename import rename, rename_in_template
from gitcfg.edit.yaml.changes import Given
from gitcfg.edit.yaml.tree import from_json
from gitcfg.generate.repository import repository
from gitcfg.git.tree import DictTree
from gitcfg.library import in_memory
from gitcfg.load.document import parse
from gitcfg.model import GitcfgError
from tests.compile.fleets import mixed
from tests.seeds import many, mostly_slow
from tests.work.versions import first

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": "parameters:\n  A: {description: One., type: string}\n",
    "groups/default.yaml": "description: All.\nfeatures: [F]   # the only one\n",
    "features/F.yaml": "description: F.\nparams: {A: x}\n",
    "nodes/n1.yaml": "groups: []\n",
}


def read(data: bytes | str) -> Any:
    doc = parse("x", data.encode() if isinstance(data, str) else data)
    assert not doc.findings
    return doc.value


def by_hand(value: Any, order: Order) -> Any:
    """What an order about one file makes of what it says."""
    value = deepcopy(value)
    for key, items in order.add.items():
        found = value.setdefault(key, [])
        for offset, given in enumerate(items):
            if given.meaning in found:
                found.remove(given.meaning)
            found.insert(order.at + offset if order.at is not None else len(found), given.meaning)
    for key, entries in order.put.items():
        value.setdefault(key, {}).update({name: given.meaning for name, given in entries.items()})
    for key, names in order.take.items():
        for name in names:
            del value[key][name]
        if not value[key]:
            del value[key]
    return value


def drawn(rng: Random, files: dict[str, str]) -> tuple[str, Order, Order]:
    """A file, an order about what stands in it, and one that takes that back."""
    kind = rng.choice(("feature", "group"))
    path = rng.choice(sorted(path for path in files if path.startswith(f"{kind}s/")))
    name = path.rpartition("/")[2].removesuffix(".yaml")
    key = "include" if kind == "feature" else "features"
    if rng.random() < 0.5:
        item = (Given("NEW feature"),)
        at = rng.choice((None, 0, 1))
        return (
            path,
            Order(Action.MODIFY, kind, name, at=at, add={key: item}),
            Order(Action.MODIFY, kind, name, remove={key: item}),
        )
    value = Given(from_json(rng.choice(("x", {"$append": "y"}, ["a", "b: c"], "017"))))
    return (
        path,
        Order(Action.MODIFY, kind, name, put={"params": {"NEW": value}}),
        Order(Action.MODIFY, kind, name, take={"params": ("NEW",)}),
    )


def test_edits_of_random_repositories_are_what_they_are_by_hand_and_can_be_taken_back() -> None:
    backwards = 0
    for seed in many(0, 25):
        rng = Random(f"orders {seed}")
        files = {path: text for path, text in first(seed).items() if isinstance(text, str)}
        for _ in range(4):
            path, order, back = drawn(rng, files)
            if parse(path, files[path].encode()).findings:
                continue
            draft = Draft(DictTree(files))
            before = read(files[path])
            try:
                carry_out(draft, [order])
            except GitcfgError:
                assert draft.model.findings  # a mistake was planted in that very file, or its name
                continue
            assert list(draft.files) == [path]
            changed = draft.files[path]
            assert changed is not None
            assert read(changed) == by_hand(before, order)
            if before.get("params") != {} and before.get("include") != []:
                backwards += 1
                carry_out(draft, [back])
                assert draft.files == {} or read(draft.files[path] or b"") == before
    assert backwards > 40


def test_what_is_new_and_deleted_leaves_nothing() -> None:
    for name, kind in KINDS.items():
        draft = Draft(DictTree(FILES))
        carry_out(draft, [Order(Action.NEW, name, "fresh")])
        assert len(draft.files) == 1, kind
        carry_out(draft, [Order(Action.DELETE, name, "fresh")])
        if kind.sheet and name != "parameter":  # of which there is a file
            sheet = kind.sheet
            assert draft.files == {f"{sheet}/{sheet}.yaml": f"{sheet}: {{}}\n".encode()}
        else:
            assert draft.files == {}


@pytest.mark.parametrize("seed", mostly_slow(range(6)))
def test_a_rename_changes_no_node_and_can_be_taken_back(seed: int) -> None:
    files = dict(repository(replace(mixed(seed), mistakes=())))
    rng = Random(seed)
    with in_memory(files) as fleet:
        before = {name: dict(node.params) for name, node in fleet.items()}
        groups = sorted(set(fleet.model.groups) - {"default"})
        names = {"feature": sorted(fleet.model.features), "group": groups}
        names["parameter"] = sorted(name for name in fleet.model.parameters if "*" not in name)
    for kind, known in names.items():
        old = rng.choice(known)
        draft = Draft(DictTree(files))
        rename(draft, KINDS[kind], old, "RENAMED")
        after: dict[str, str | bytes] = {
            path: text for path, text in files.items() if path not in draft.files
        }
        after.update({path: text for path, text in draft.files.items() if text is not None})
        with in_memory(after) as fleet:
            named = {
                name: {old if param == "RENAMED" else param: value for param, value in node.params.items()}
                for name, node in fleet.items()
            }
        assert named == before, (kind, old)
        rename(draft, KINDS[kind], "RENAMED", old)
        assert draft.files == {}


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{{ params.A }} {{params['A']}} {% if params.A %}x{% endif %}",) * 2,
        ("{{ params.AB }} {{ x.params.A }} {{ params.A() }} {{ 'params.A' }} params.A {# params.A #}", None),
        ("{% set params = {} %}{{ params.A }}", None),
        ("{% raw %}{{ params.A }}{% endraw %}", None),
        ("{% for params in x %}{{ params.A }}{% endfor %}", None),
        ("{% include 'x' %}{{ params.A }}", None),
    ],
)
def test_names_in_templates_follow_where_they_are_certain(text: str, wanted: str | None) -> None:
    found = rename_in_template(text, "A", "B")
    assert found == (text if wanted is None else text.replace("params.A", "params.B").replace("'A'", "'B'"))
    if wanted is not None:
        assert 'params["B.c"] ' in rename_in_template(text, "A", "B.c")


@pytest.mark.parametrize(
    "line",
    [
        b"[]",
        b"{",
        b'{"do": "modify"}',
        b'{"do": "burn", "kind": "node", "name": "x"}',
        b'{"do": "new", "kind": "node", "name": "x", "at": "0"}',
        b'\xff{"do": "new", "kind": "node", "name": "x"}',
    ],
)
def test_lines_that_are_no_edits(line: bytes) -> None:
    with pytest.raises(GitcfgError, match="Line 2 is not an edit"):
        parse_orders([b"\n", line])


def test_a_position_below_0_is_refused() -> None:
    with pytest.raises(GitcfgError, match="-1 is not a position"):
        carry_out(Draft(DictTree(FILES)), [Order(Action.MODIFY, "feature", "F", at=-1)])


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    for role in ("AUTHOR", "COMMITTER"):
        monkeypatch.setenv(f"GIT_{role}_NAME", "n")
        monkeypatch.setenv(f"GIT_{role}_EMAIL", "e@example.org")
    git("init", "--quiet", "-b", "main")
    git("add", "--all")
    git("commit", "--quiet", "-m", "Begin")
    return tmp_path


def git(*words: str) -> str:
    return subprocess.run(["git", *words], check=True, capture_output=True, text=True).stdout.strip()


def test_a_commit_holds_just_what_was_edited(pool: Path) -> None:
    (pool / "nodes/n1.yaml").write_text("groups: []\nlabels: [staged]\n")
    git("add", "nodes/n1.yaml")
    (pool / "features/F.yaml").write_text("description: F.\nparams: {A: y}\n")
    (pool / "edits").write_text(
        '{"do": "new", "kind": "group", "name": "g", "fields": {"description": "G."}}\n'
        '{"do": "modify", "kind": "group", "name": "default", "set": {"params": {"A": "z"}}}\n'
    )
    assert run(["modify", "--from", "edits", "--commit", "-m", "Two at once"]) == 0
    assert git("log", "-1", "--format=%s") == "Two at once"
    assert git("show", "--name-status", "--format=") == "M\tgroups/default.yaml\nA\tgroups/g.yaml"
    assert git("diff", "--cached", "--name-only") == "nodes/n1.yaml"
    assert git("diff", "--name-only") == "features/F.yaml"
    assert (pool / "groups/default.yaml").read_text() == (
        "description: All.\nfeatures: [F]   # the only one\nparams:\n  A: z\n"
    )
    assert run(["delete", "group", "g", "--commit"]) == 0
    assert git("show", "--name-status", "--format=%s") == "Delete group g\n\nD\tgroups/g.yaml"
    assert git("diff", "--cached", "--name-only") == "nodes/n1.yaml"


def test_files_that_git_has_never_seen_can_go_with_a_commit(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(["rename", "feature", "F", "G"]) == 0
    assert run(["rename", "feature", "G", "H", "--commit"]) == 0
    assert git("show", "--name-status", "--format=%s") == (
        "Rename feature G to H\n\nA\tfeatures/H.yaml\nM\tgroups/default.yaml"
    )
    assert git("status", "--short") == "D features/F.yaml"
    assert run(["new", "node", "n2"]) == 0
    assert run(["delete", "node", "n2", "--force", "--commit"]) == 2
    assert "nothing to commit" in capfd.readouterr().err
    assert (pool / "nodes/n2.yaml").exists()


def test_where_git_does_not_take_a_commit_nothing_is_changed(
    pool: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    hook = pool / ".git/hooks/pre-commit"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text("#!/bin/sh\necho not on Sundays >&2\nexit 1\n")
    hook.chmod(0o755)
    (pool / "edits").write_text(
        '{"do": "new", "kind": "group", "name": "g"}\n'
        '{"do": "modify", "kind": "group", "name": "g", "add": {"nodes": ["n1"]}}\n'
    )
    assert run(["modify", "--from", "edits", "--commit"]) == 1
    assert "not on Sundays" in capfd.readouterr().err
    assert git("status", "--short") == "?? edits"
    assert not (pool / ".git/gitcfg-edit").exists()


def test_what_would_be_wrong_is_not_written(pool: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["modify", "feature", "F", "--include", "Nobody"]) == 1
    assert "GC201" in capfd.readouterr().err
    assert git("status", "--short") == ""
    assert run(["modify", "feature", "F", "--include", "Nobody", "--force"]) == 0
    assert git("status", "--short") == "M features/F.yaml"
    # What is wrong already does not stand in the way of another edit.
    assert run(["modify", "feature", "F", "--description", "Better."]) == 0


def test_a_new_file_names_its_schema_where_there_is_one(pool: Path) -> None:
    assert run(["new", "group", "g"]) == 0
    (pool / ".gitcfg/schema").mkdir(parents=True)
    (pool / ".gitcfg/schema/groups.json").write_text("{}")
    assert run(["new", "group", "h", "--description", "H.", "--in", "groups/racks"]) == 0
    assert (pool / "groups/g.yaml").read_text() == "{}\n"
    assert (pool / "groups/racks/h.yaml").read_text() == (
        "# yaml-language-server: $schema=../../.gitcfg/schema/groups.json\ndescription: H.\n"
    )


def test_words_that_are_no_text_are_refused(pool: Path) -> None:
    assert run(["modify", "feature", "F", "--description", "\udcff"]) == 2
    assert run(["modify", "feature", "F", "--set", "A=\udcff"]) == 2
    assert git("status", "--short") == ""


def test_without_git_it_works_but_for_commits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    assert run(["modify", "feature", "F", "--set", "A=z"]) == 0
    assert (tmp_path / "features/F.yaml").read_text() == "description: F.\nparams: {A: z}\n"
    assert run(["modify", "feature", "F", "--set", "A=y", "--commit"]) == 2
    assert (tmp_path / "features/F.yaml").read_text() == "description: F.\nparams: {A: z}\n"
