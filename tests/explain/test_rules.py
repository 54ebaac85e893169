"""Rules and allocations are shown and found like all other definitions, without what is secret."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from gitcfg.cache import NoCache
from gitcfg.cli.main import run
from gitcfg.explain.definition import definition_record, summaries_record
from gitcfg.explain.search import search
from gitcfg.explain.show import KINDS, define, find_kind
from gitcfg.git.tree import DictTree
from gitcfg.library import Fleet
from tests.cli.published import judge

FILES = {
    "gitcfg.yaml": "format: 1\n",
    "parameters/p.yaml": """parameters:
  P: {description: One., type: integer}
  S: {description: Two., type: string, secret: true}
""",
    "features/F.yaml": "description: F.\n",
    "nodes/n1.yaml": "features: [F]\n",
    "rules/r.yaml": """rules:
  put: {install: F, description: Two of them., over: F, per: self.as, count: {min: 2}}
  set: {set: {P: 17, S: hidden}, where: 'true'}
  ports: {domain: {P: [80, "90-99"], S: [hidden]}, unique: node.name}
  own: {domain: {S: [shown]}, over: F}
  must: {require: 'false', message: Never.}
  out: {forbid: {by: [bill], features: ["F*"], nodes: [n1]}}
""",
    "allocations/put.yaml": "install: [n1/a, n1]\n",
    "allocations/ports.yaml": "values:\n  n1: {P: 80, S: hidden}\n",
}


@pytest.fixture
def fleet() -> Fleet:
    return Fleet(DictTree(FILES), None, date(2026, 1, 1), NoCache())


def shown(fleet: Fleet, kind: str, name: str) -> Mapping[str, Any]:
    """What is shown of a definition that is more than nothing."""
    with fleet:
        found = define(fleet.compiled, fleet.engine, find_kind(kind), name)
    record = definition_record(None, KINDS[kind], found)["definitions"][0]
    said = {key: value for key, value in record.items() if value not in (None, [], "")}
    del said["name"], said["origin"]
    return said


def names(field: Any) -> list[str]:
    return [item["name"] for item in field]


def test_what_a_rule_says_is_shown(fleet: Fleet) -> None:
    put = dict(shown(fleet, "rule", "put"))
    assert (names(put.pop("feature")), names(put.pop("over")), names(put.pop("decided"))) == (
        ["F"],
        ["F"],
        ["put"],
    )
    count = {"min": 2, "max": None}
    assert put == {"does": "install", "description": "Two of them.", "per": "self.as", "count": count}
    assert shown(fleet, "rule", "must") == {"does": "require", "require": "false", "message": "Never."}
    out = shown(fleet, "rule", "out")
    assert [names(out[f"permit_{key}"]) for key in ("by", "features", "nodes")] == [["bill"], ["F*"], ["n1"]]


def test_what_is_secret_is_not(fleet: Fleet) -> None:
    settings = shown(fleet, "rule", "set")["settings"]
    assert [(one["param"], one["layer"], one["given"] == "hidden") for one in settings] == [
        ("P", "rule set", False),
        ("S", "rule set", False),
    ]
    ports = shown(fleet, "rule", "ports")
    assert (ports["domains"]["P"], ports["unique"]) == ([80, "90-99"], "node.name")
    values = shown(fleet, "allocation", "ports")["values"]
    assert values["n1"]["P"] == 80
    assert "hidden" not in f"{ports} {values}"
    assert shown(fleet, "rule", "own")["domains"] == {"S": ["shown"]}


def test_what_was_decided_is_shown(fleet: Fleet) -> None:
    put = shown(fleet, "allocation", "put")
    assert (put["description"], names(put["rule"]), put["install"]) == (
        "Two of them.",
        ["put"],
        ["n1/a", "n1"],
    )


def test_features_and_parameters_say_which_rules_speak_of_them() -> None:
    rules = FILES["rules/r.yaml"] + "  few: {limit: F, count: {max: 9}}\n"
    found = Fleet(DictTree({**FILES, "rules/r.yaml": rules}), None, date(2026, 1, 1), NoCache())
    feature = shown(found, "feature", "F")
    assert (names(feature["installed_by"]), names(feature["limited_by"])) == (
        ["node n1", "rule put"],
        ["rule few"],
    )
    parameter = shown(found, "parameter", "P")
    assert (names(parameter["domains"]), [one["layer"] for one in parameter["settings"]]) == (
        ["rule ports"],
        ["rule set"],
    )


def test_all_are_told_in_short(fleet: Fleet) -> None:
    def figures(kind: str) -> dict[str, Any]:
        record = summaries_record(None, KINDS[kind], KINDS[kind].summaries(fleet.compiled))
        return {one["name"]: one["figures"] for one in record["definitions"]}

    assert figures("rule")["put"] == {"does": "install", "slots": 2}
    assert figures("rule")["must"] == {"does": "require", "slots": None}
    assert figures("allocation") == {"ports": {"slots": 1}, "put": {"slots": 2}}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Two of", ["rule put description"]),
        ("must", ["rule must name"]),
        ("90-99", ["rule ports domain P"]),
        ("17", ["rule set set P"]),
        ("n1/a", ["allocation put install"]),
        ("bill", ["rule out forbid by"]),
        ("unique", []),
        ("domain", []),
    ],
)
def test_a_search_finds_what_people_wrote(fleet: Fleet, text: str, found: list[str]) -> None:
    assert [f"{one.kind} {one.name} {one.field}" for one in search(fleet.compiled, [text])] == found


def test_a_search_shows_nothing_secret(fleet: Fleet) -> None:
    matches = search(fleet.compiled, ["hid"])
    assert {one.origin.file for one in matches} == {"rules/r.yaml", "allocations/ports.yaml"}
    assert not any("hid" in one.excerpt for one in matches)


def test_programs_read_them_as_the_schema_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    asked = [
        "feature F",
        "parameter P",
        "rules",
        "allocations",
        "rule put",
        "rule set",
        "rule ports",
        "rule out",
        "allocation ports",
    ]
    for words in asked:
        for output in ("json", "jsonl"):
            assert run(["show", *words.split(), "-o", output]) == 0, capfd.readouterr().err
            judge(capfd.readouterr().out, output)
    assert run(["search", "n1", "-o", "json"]) == 0
    judge(capfd.readouterr().out, "json")
