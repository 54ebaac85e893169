"""Real dumps: everything in them is carried over or noted, and nothing odd goes unsaid."""

from collections import Counter
from pathlib import Path

import pytest

from gitcfg.convert.wallaby.repository import WallabyImport, import_wallaby
from gitcfg.model.names import glob
from tests.convert.dumps import declared, read
from tests.convert.naive import store

DATA = Path(__file__).parents[3] / "shared" / "data"
STEMS = ["condor-base-db", "pool-small", "pool-daemons"]


@pytest.fixture(params=STEMS)
def data(request: pytest.FixtureRequest) -> bytes:
    path = DATA / f"{request.param}.yaml"
    if not path.exists():
        pytest.skip("the dumps are not here")
    return path.read_bytes()


def noted(imported: WallabyImport, kind: str) -> set[str]:
    return {note.name for note in imported.notes if note.kind == kind and note.weight == "dropped"}


def test_every_definition_is_carried_over_or_noted(data: bytes) -> None:
    imported = import_wallaby(data)
    given, files = store(data), read(imported)
    for kind, key in (("feature", "features"), ("node", "nodes")):
        missing = {item["name"] for item in given[key] if f"{key}/{item['name']}.yaml" not in files}
        assert missing == noted(imported, kind)
    groups = {item["name"] for item in given["groups"] if item["is_identity_group"] == "false"}
    missing = {name for name in groups - {"+++DEFAULT"} if f"groups/{name}.yaml" not in files}
    assert missing == noted(imported, "group")
    patterns = [glob(name) for name in declared(imported)]
    for item in given["params"]:
        assert any(pattern.matches(item["name"]) for pattern in patterns) or item["name"] in noted(
            imported, "parameter"
        )
    processes = files["subsystems/condor.yaml"]["subsystems"]
    assert set(processes) == {item["name"] for item in given["subsystems"]}


def test_every_setting_is_carried_over_or_noted(data: bytes) -> None:
    imported = import_wallaby(data)
    given, files = store(data), read(imported)
    for feature in given["features"]:
        params = files[f"features/{feature['name']}.yaml"].get("params", {})
        assert set(params) == set(feature["params"])
        assert all(params[name] is not None for name, text in feature["params"].items() if text)
    count = sum(
        len(body.get("params", {}))
        for path, body in files.items()
        if path.split("/")[0] in ("groups", "nodes")
    )
    assert count == sum(len(group["params"]) for group in given["groups"])


def test_every_declaration_says_what_the_dump_says(data: bytes) -> None:
    ours = declared(import_wallaby(data))
    for item in store(data)["params"]:
        name = next((name for name in ours if name == item["name"]), None)
        body = ours[name] if name else next(ours[key] for key in ours if glob(key).matches(item["name"]))
        assert body.get("description", "") == item["description"]
        assert body.get("must_change", False) == (item["must_change"] == "true")
        assert body.get("restart", False) == (item["needs_restart"] == "true")
        assert body.get("depends", []) == item["depends"]
        assert body.get("conflicts", []) == item["conflicts"]
        assert ("default" in body) == (item["default_val"] != "")


def test_an_import_is_deterministic(data: bytes) -> None:
    first, second = import_wallaby(data), import_wallaby(data)
    assert first == second
    assert list(first.files) == sorted(first.files)


COUNTS = {
    "condor-base-db": {
        ("dropped", "group", ""): 1,
        ("changed", "parameter", "kind"): 1,
        ("look", "subsystem", ""): 1,
    },
    "pool-small": {
        ("changed", "parameter", "kind"): 2,
        ("changed", "parameter", "name"): 5,
        ("look", "node", "provisioned"): 4,
        ("look", "parameter", "type"): 2,
        ("look", "subsystem", ""): 1,
    },
    "pool-daemons": {
        ("changed", "parameter", "kind"): 1,
        ("look", "node", "provisioned"): 1,
        ("look", "parameter", "type"): 2,
        ("look", "subsystem", ""): 1,
    },
}


@pytest.mark.parametrize("stem", STEMS)
def test_the_notes_are_those_that_were_read_for_sense(stem: str) -> None:
    path = DATA / f"{stem}.yaml"
    if not path.exists():
        pytest.skip("the dumps are not here")
    notes = import_wallaby(path.read_bytes()).notes
    assert Counter((note.weight.value, note.kind, note.field) for note in notes) == COUNTS[stem]
