"""SARIF: what OASIS's specification 2.1.0 asks for, section by section, and what forges need beyond it."""

import re
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from msgspec.structs import replace

from gitcfg import __version__
from gitcfg.check.findings import CODES
from gitcfg.cli.forges import sarif_record, whole
from gitcfg.cli.main import run
from gitcfg.model import Finding, Origin, Severity
from tests.cli.reports import FINDINGS, WRITTEN, follows, make
from tests.properties.runs import QUICK

# The part of the specification's schema that is used here, closed, so that a misspelt name is found.
TEXT = {"type": "string", "minLength": 1}


def closed(required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required.split(),
        "additionalProperties": False,
    }


def many(item: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": item, **more}


LEVEL = {"enum": ["none", "note", "warning", "error"]}
NUMBER = {"type": "integer", "minimum": 1}
INDEX = {"type": "integer", "minimum": 0}
PHYSICAL = closed(
    "artifactLocation region",
    artifactLocation=closed("uri uriBaseId", uri=TEXT, uriBaseId={"const": "%SRCROOT%"}),
    region=closed("startLine startColumn", startLine=NUMBER, startColumn=NUMBER),
)
RULE = closed(
    "id shortDescription fullDescription help defaultConfiguration",
    id={"pattern": "^GC[0-9]{3}$"},
    shortDescription=closed("text", text=TEXT),
    fullDescription=closed("text", text={**TEXT, "maxLength": 1024}),
    help=closed("text markdown", text=TEXT, markdown=TEXT),
    defaultConfiguration=closed("level", level=LEVEL),
)
RESULT = closed(
    "ruleId ruleIndex level message locations partialFingerprints",
    ruleId=TEXT,
    ruleIndex=INDEX,
    level=LEVEL,
    message=closed("text", text={"type": "string"}),
    locations=many(closed("physicalLocation", physicalLocation=PHYSICAL), minItems=1, maxItems=1),
    relatedLocations=many(closed("id physicalLocation", id=INDEX, physicalLocation=PHYSICAL)),
    partialFingerprints={"type": "object", "additionalProperties": TEXT, "minProperties": 1},
    properties={"type": "object"},
)
RUN = closed(
    "tool invocations originalUriBaseIds columnKind results",
    tool=closed(
        "driver",
        driver=closed("name version rules", name=TEXT, version=TEXT, rules=many(RULE, uniqueItems=True)),
    ),
    invocations=many(closed("executionSuccessful", executionSuccessful={"const": True}), minItems=1),
    originalUriBaseIds=closed(
        "%SRCROOT%", **{"%SRCROOT%": closed("description", description=closed("text", text=TEXT))}
    ),
    columnKind={"enum": ["utf16CodeUnits", "unicodeCodePoints"]},
    results=many(RESULT),
)
LOG = closed(
    "$schema version runs",
    **{"$schema": {"pattern": "^https://"}, "version": {"const": "2.1.0"}, "runs": many(RUN, minItems=1)},
)
VALIDATOR = Draft202012Validator(LOG)
# 3.11.6: a link in a message is [TEXT](TARGET); brackets and backslashes in TEXT stand behind backslashes.
LINK = re.compile(r"\[((?:[^\[\]\\]|\\[\[\]\\])*)\]\(([^)]*)\)")


def written(findings: list[Finding], prefix: str = "") -> Any:
    """The one run of a log that is valid."""
    log = msgspec.json.decode(msgspec.json.encode(sarif_record(findings, prefix)))
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []
    return log["runs"][0]


def path_of(location: Any) -> str:
    """The file that a location names, as a reader of URIs finds it."""
    uri = location["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"(?:[A-Za-z0-9._~/-]|%[0-9A-F]{2})+", uri)
    whole_uri = urljoin("file:///top/", uri)
    assert whole_uri.startswith("file:///top/")
    return unquote(whole_uri.removeprefix("file:///top/"))


@QUICK
@given(findings=st.lists(FINDINGS, max_size=4), prefix=st.sampled_from(["", "a:b", "x y/100%"]))
def test_a_log_is_valid_and_names_the_places(findings: list[Finding], prefix: str) -> None:
    results = written(findings, prefix)["results"]
    ordered = sorted(findings, key=lambda finding: finding.severity is Severity.WARNING)
    for result, finding in zip(results, ordered, strict=True):
        locations = [*result["locations"], *result["relatedLocations"]]
        origins = finding.origins or (Origin("gitcfg.yaml"),)
        for location, origin in zip(locations, origins, strict=True):
            file = f"{prefix}/{origin.file}" if prefix else origin.file
            assert path_of(location) == whole(file)
            region = location["physicalLocation"]["region"]
            assert (region["startLine"], region["startColumn"]) == (origin.line, origin.column)


@QUICK
@given(findings=st.lists(FINDINGS, max_size=4))
def test_links_lead_to_the_other_places_and_nowhere_else(findings: list[Finding]) -> None:
    for result in written(findings)["results"]:
        text = result["message"]["text"]
        numbers = [str(location["id"]) for location in result["relatedLocations"]]
        assert [target for _, target in LINK.findall(text)] == numbers
        assert all(line.isprintable() for line in text.split("\n"))


@QUICK
@given(findings=st.lists(FINDINGS, max_size=5))
def test_there_is_a_rule_for_each_code_that_occurs(findings: list[Finding]) -> None:
    run = written(findings)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == sorted({finding.code for finding in findings})
    assert all(rules[result["ruleIndex"]]["id"] == result["ruleId"] for result in run["results"])


@pytest.mark.parametrize("code", list(CODES))
def test_a_rule_says_what_must_hold_and_why(code: str) -> None:
    (rule,) = written([Finding(code, (), "m")])["tool"]["driver"]["rules"]
    assert rule["shortDescription"]["text"] == CODES[code].title
    assert len(rule["fullDescription"]["text"]) > 40
    assert not rule["fullDescription"]["text"].startswith(("#", "```"))
    assert rule["help"]["markdown"].startswith(f"# {code}: ")


FINDING = Finding("GC206", ("NUM",), "It is wrong.", (Origin("groups/g.yaml", 4, 9),), ("n1", "n2"))


def fingerprint(*findings: Finding) -> list[str]:
    return [result["partialFingerprints"]["gitcfg/v1"] for result in written(list(findings))["results"]]


@pytest.mark.parametrize(
    "moved",
    [
        {"origins": (Origin("groups/g.yaml", 40, 1),)},
        {"nodes": ("n1", "n2", "n3")},
        {"hint": "Did you mean MUM?"},
        {"origins": (Origin("groups/g.yaml", 4, 9), Origin("nodes/n.yaml"))},
    ],
)
def test_a_fingerprint_stays(moved: dict[str, Any]) -> None:
    assert fingerprint(replace(FINDING, **moved)) == fingerprint(FINDING)


@pytest.mark.parametrize(
    "other",
    [
        {"code": "GC207"},
        {"subjects": ("MUM",)},
        {"message": "It is wronger."},
        {"origins": (Origin("groups/h.yaml", 4, 9),)},
    ],
)
def test_other_findings_have_others(other: dict[str, Any]) -> None:
    assert fingerprint(replace(FINDING, **other)) != fingerprint(FINDING)


def test_the_same_said_twice_is_told_apart() -> None:
    first, second = fingerprint(FINDING, replace(FINDING, origins=(Origin("groups/g.yaml", 9, 1),)))
    assert first != second
    assert [first] == fingerprint(FINDING)


@pytest.mark.parametrize("prefix", ["", "pool", "sites/a b, c"])
def test_it_points_at_what_is_wrong(prefix: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = make(tmp_path, prefix)
    assert run(["-C", str(root), "check", "-o", "sarif"]) == 1
    log = msgspec.json.decode(capfd.readouterr().out)
    assert [error.message for error in VALIDATOR.iter_errors(log)] == []
    (found,) = log["runs"]
    assert found["tool"]["driver"]["version"] == __version__
    assert found["columnKind"] == "unicodeCodePoints"
    places = {}
    for result in found["results"]:
        (location,) = result["locations"]
        region = location["physicalLocation"]["region"]
        inside = str((tmp_path / path_of(location)).relative_to(root))
        text = follows(tmp_path, path_of(location), region["startLine"], region["startColumn"])
        places[result["ruleId"], inside] = text
    assert places.keys() >= WRITTEN.keys()
    assert not {at: places[at] for at, text in WRITTEN.items() if not places[at].startswith(text)}


def test_nodes_are_folded(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    root = make(tmp_path)
    run(["-C", str(root), "check", "-o", "sarif"])
    results = msgspec.json.decode(capfd.readouterr().out)["runs"][0]["results"]
    (missing,) = (result for result in results if result["ruleId"] == "GC301")
    hint = "Add B to the nodes or to one of their groups."
    assert missing["properties"] == {"subjects": ["B"], "nodeset": "n[1-4]", "count": 4, "hint": hint}
    assert "on 4 nodes: n[1-4]" in missing["message"]["text"]
