"""Definitions: what they say, who uses them, and where that wins."""

from collections.abc import Mapping
from typing import Any

import pytest

from gitcfg.explain.definition import Definition, Summary, definition_record, summaries_record
from gitcfg.explain.show import KINDS, define, find_kind
from gitcfg.model import GitcfgError
from tests.explain.pool import pool


def shown(kind: str, name: str, **changed: str) -> Mapping[str, Any]:
    """A definition's record."""
    with pool(**changed) as fleet:
        found: Definition = define(fleet.compiled, fleet.engine, KINDS[kind], name)
    record: Mapping[str, Any] = definition_record(None, KINDS[kind], found)["definitions"][0]
    return record


def figures(kind: str, **changed: str) -> dict[str, Mapping[str, Any]]:
    found: list[Summary] = list(KINDS[kind].summaries(pool(**changed).compiled))
    record = summaries_record(None, KINDS[kind], found)
    assert [one["name"] for one in record["definitions"]] == [one.name for one in found]
    return {one.name: one.figures for one in found}


def names(field: Any) -> list[str]:
    return [item["name"] for item in field]


def wins(field: Any) -> dict[str, list[str]]:
    return {item.get("param") or item["path"]: item["wins"]["nodes"] for item in field}


@pytest.mark.parametrize(
    ("word", "kind"),
    [
        ("node", "node"),
        ("Nodes", "node"),
        ("node-set", "nodeset"),
        ("nodeset", "nodeset"),
        ("params", "parameter"),
        ("sub", "subsystem"),
        ("g", "group"),
        ("settings", "setting"),
    ],
)
def test_a_kind_is_found_by_its_name_its_plural_or_its_beginning(word: str, kind: str) -> None:
    assert find_kind(word).name == kind


def test_a_word_for_no_kind_or_for_several_is_an_error() -> None:
    with pytest.raises(GitcfgError, match="several kinds") as error:
        find_kind("f")
    assert error.value.hints == ("Use one of: feature, file.",)
    for word in ("colour", "", "s "):
        with pytest.raises(GitcfgError):
            find_kind(word)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_what_does_not_exist_is_an_error(kind: str) -> None:
    with pool() as fleet, pytest.raises(GitcfgError, match="There is no"):
        define(fleet.compiled, fleet.engine, KINDS[kind], "qqq")


def test_summaries_count_what_matters() -> None:
    assert figures("feature")["Execute"] == {"nodes": 2}
    assert figures("feature")["Idle"] == {"nodes": 0}
    assert figures("group")["default"] == {"features": 1, "nodes": 6}
    assert figures("group")["exec"] == {"features": 1, "nodes": 4}
    assert figures("parameter")["NUM_CPUS"] == {"type": "integer", "default": None, "nodes": 3}
    assert figures("parameter")["SLOT_TYPE_*"]["nodes"] == 3
    assert figures("subsystem") == {"master": {"nodes": 5}, "startd": {"nodes": 2}}
    assert figures("nodeset") == {"exec": {"nodes": 4, "groups": ["exec"]}}
    assert figures("override") == {"bad": {"nodes": 1, "until": "2026-06-01", "past": False}}
    assert figures("template") == {"motd.j2": {"entries": 1, "nodes": 2}}
    assert figures("file")["/etc/motd"] == {"entries": 3, "nodes": 4}
    assert figures("node")["exec2"] == {"groups": ["gpu", "exec"], "features": 4, "retired": False}
    assert figures("setting")["check"] == {"value": "tip"}


def test_a_parameter_that_is_unset_is_not_bound() -> None:
    found = figures("parameter", nodes__exec2="params: {NUM_CPUS: {$unset: true}}\n")
    assert found["NUM_CPUS"]["nodes"] == 2
    assert shown("parameter", "NUM_CPUS", nodes__exec2="params: {NUM_CPUS: {$unset: true}}\n")["nodes"][
        "nodes"
    ] == ["exec1", "exec3"]


def test_a_feature_with_who_uses_it_and_where_it_wins() -> None:
    found = shown("feature", "Execute")
    assert found["nodes"]["nodes"] == ["exec1", "exec2"]
    assert names(found["included_by"]) == ["Gpu"]
    assert names(found["installed_by"]) == ["group exec"]
    assert names(found["taken_away_by"]) == ["node exec3"]
    assert names(found["subsystems"]) == ["startd"]
    assert [(item["name"], item["instances"]) for item in found["include"]] == [
        ("Base", []),
        ("Slot", ["1", "2"]),
    ]
    assert wins(found["settings"]) == {"START": ["exec2"], "RACK": [], "DAEMON_LIST": ["exec1", "exec2"]}


def test_a_default_wins_where_the_fact_below_it_is_missing() -> None:
    found = shown("feature", "Execute", nodes__exec3="facts: {rack: null}\n")
    assert wins(found["settings"])["RACK"] == ["exec3"]


def test_a_feature_of_instances_wins_as_any_of_them() -> None:
    found = shown("feature", "Slot")
    assert wins(found["settings"]) == {"SLOT_TYPE_${as}": ["cm", "exec1", "exec2"]}
    assert found["settings"][0]["given"] == "${with.share}"


def test_features_know_what_depends_on_them_and_conflicts_with_them() -> None:
    other = "depends: [Base]\nconflicts: [Base]\nafter: [Base]\n"
    found = shown("feature", "Base", features__Other=other)
    for field in ("depended_on_by", "in_conflict_with", "awaited_by"):
        assert names(found[field]) == ["Other"]


def test_a_list_that_only_removes_lists_nothing() -> None:
    removes = "features: {$remove: [Base]}\ngroups: {$remove: [exec]}\nwithout: {$remove: [Execute]}\n"
    assert "node exec3" not in names(shown("feature", "Base", nodes__exec3=removes)["installed_by"])
    assert names(shown("feature", "Execute", nodes__exec3=removes)["taken_away_by"]) == []
    assert names(shown("group", "exec", nodes__exec3=removes)["listed_by"]) == ["node set exec", "node old"]


def test_a_group_with_its_nodes_and_settings() -> None:
    found = shown("group", "exec")
    assert found["nodes"]["nodes"] == ["exec1", "exec2", "exec3", "old"]
    assert names(found["listed_by"]) == ["node set exec", "node old"]
    assert wins(found["settings"]) == {"NUM_CPUS": ["exec1", "exec3"]}
    default = shown("group", "all", gitcfg="format: 1\ndefault_group: all\n")
    assert (default["default"], default["origin"]) == (True, None)


def test_a_parameter_with_its_layers_and_what_takes_it() -> None:
    found = shown("parameter", "NUM_CPUS")
    assert [(item["layer"], item["given"], item["wins"]["nodes"]) for item in found["settings"]] == [
        ("feature Idle", 1, []),
        ("group exec", 4, ["exec1", "exec3"]),
        ("node exec2", 8, ["exec2"]),
    ]
    assert [(item["layer"], item["path"]) for item in found["files"]] == [("feature Base", "/etc/condor")]
    assert names(shown("parameter", "DAEMON_LIST")["depended_on_by"]) == ["NUM_CPUS"]
    host = shown("parameter", "CONDOR_HOST")
    assert [(item["name"], item["origin"]["line"]) for item in host["templates"]] == [
        ("templates/motd.j2", 1)
    ]
    assert (host["must_change"], host["undeclared"]) == (True, False)
    assert names(shown("parameter", "SLOT_TYPE_1")["subsystems"]) == ["startd"]


def test_a_family_and_its_members() -> None:
    found = shown("parameter", "SLOT_TYPE_*")
    assert found["members"] == ["SLOT_TYPE_1", "SLOT_TYPE_2", "SLOT_TYPE_x"]
    assert [(item["param"], item["wins"]["nodes"]) for item in found["settings"]] == [
        ("SLOT_TYPE_${as}", ["cm", "exec1", "exec2"])
    ]
    member = shown("parameter", "SLOT_TYPE_x")
    assert (member["family"], member["nodes"]["nodes"]) == ("SLOT_TYPE_*", ["cm"])
    assert [item["wins"]["nodes"] for item in member["settings"]] == [["cm"]]


def test_a_value_that_does_not_fit_is_told() -> None:
    found = shown("parameter", "NUM_CPUS", nodes__exec2="params: {NUM_CPUS: {$append: x}}\n")
    assert [(item["layer"], item["fits"]) for item in found["settings"]][-1] == ("node exec2", False)


def test_a_subsystem_with_where_it_runs_and_whose_restart_covers_it() -> None:
    found = shown("subsystem", "startd")
    assert found["nodes"]["nodes"] == ["exec1", "exec2"]
    assert found["matching"] == ["SLOT_TYPE_1", "SLOT_TYPE_2", "SLOT_TYPE_x", "START"]
    assert found["covered_by"] == ["master"]
    assert (found["restart"], found["reload"]) == (("a", "b"), None)
    assert shown("subsystem", "master")["everywhere"]


def test_what_covers_what_covers_a_subsystem_covers_it() -> None:
    both = "subsystems:\n  a: {covers: [b]}\n  b: {covers: ['c*']}\n  c1: {}\n"
    assert shown("subsystem", "c1", subsystems__t=both)["covered_by"] == ["a", "b"]


def test_a_node_its_set_and_its_overrides() -> None:
    found = shown("node", "exec1")
    assert names(found["node_set"]) == ["exec"]
    assert names(found["overrides"]) == ["bad"]
    assert found["facts"] == {"rack": "A1"}
    assert found["origin"]["file"] == "nodesets/exec.yaml"
    nodeset = shown("nodeset", "exec")
    assert nodeset["nodes"]["nodeset"] == "exec[1-4]"
    assert nodeset["with_own_file"]["nodes"] == ["exec2", "exec3", "exec4"]
    override = shown("override", "bad")
    assert (override["until"], override["nodes"]["nodes"]) == ("2026-06-01", ["exec1"])
    assert wins(override["settings"]) == {"START": ["exec1"]}


def test_templates_and_files_with_the_entries_that_use_them() -> None:
    template = shown("template", "motd.j2")
    assert template["params"] == ["CONDOR_HOST"]
    assert template["nodes"]["nodes"] == ["exec3", "exec4"]
    file = shown("file", "/etc/motd")
    assert [(item["layer"], item["wins"]["nodes"]) for item in file["used_by"]] == [
        ("feature Base", ["exec3", "exec4"]),
        ("feature Gpu", ["exec1", "exec2"]),
        ("node cm", ["cm"]),
    ]
    assert file["nodes"]["nodes"] == ["exec1", "exec2", "exec3", "exec4"]


def test_settings_are_shown_with_what_is_taken_for_granted() -> None:
    assert shown("setting", "undeclared")["value"] == "error"
    assert shown("setting", "max_nodes")["value"] == 200_000
