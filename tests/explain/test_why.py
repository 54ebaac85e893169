"""Why a node has a feature, a file or a group, or has not."""

import pytest

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import NOTHING
from gitcfg.explain.rules import Passing, Reason
from gitcfg.explain.trail import Place
from gitcfg.explain.why import (
    FeatureAnswer,
    FileAnswer,
    GroupAnswer,
    ParamAnswer,
    why_feature,
    why_file,
    why_group,
    why_not,
    why_param,
)
from gitcfg.model import GitcfgError, Op
from tests.explain.pool import pool


def feature(node: str, name: str, **changed: str) -> FeatureAnswer:
    fleet: Fleet = pool(**changed).compiled
    return why_feature(fleet, fleet[node], name)


def file(node: str, path: str, **changed: str) -> FileAnswer:
    library = pool(**changed)
    with library:
        return why_file(library.compiled, library.compiled[node], path, library.engine)


def group(node: str, name: str, **changed: str) -> GroupAnswer:
    fleet: Fleet = pool(**changed).compiled
    return why_group(fleet, fleet[node], name)


def param(node: str, name: str, wanted: str | None = None, **changed: str) -> ParamAnswer:
    fleet: Fleet = pool(**changed).compiled
    return why_param(fleet, fleet[node], name, wanted)


def told(place: Place) -> list[tuple[str, str]]:
    return [(layer, str(origin)) for layer, origin in zip(place.layers, place.origins, strict=True)]


def test_a_feature_stands_wherever_a_list_or_an_include_puts_it() -> None:
    found = feature("exec2", "Base")
    assert found.has
    assert [told(place) for place in found.places] == [
        [("group default", "groups/default.yaml:2:12")],
        [("feature Execute", "features/Execute.yaml:2:11"), ("group exec", "groups/exec.yaml:2:12")],
        [
            ("feature Execute", "features/Execute.yaml:2:11"),
            ("feature Gpu", "features/Gpu.yaml:2:11"),
            ("group gpu", "groups/gpu.yaml:2:12"),
        ],
    ]
    assert (found.taken, found.elsewhere, found.barred, found.instances) == ((), (), False, ())


def test_instances_of_one_entry_are_told_together() -> None:
    found = feature("cm", "Slot")
    assert [(told(place), place.instances) for place in found.places] == [
        ([("node cm", "nodes/cm.yaml:1:22")], ("x",))
    ]
    several = feature("exec1", "Slot")
    assert [place.instances for place in several.places] == [("1", "2"), ("1", "2")]
    assert several.instances == ("1", "2")


def test_instances_of_instances_have_the_names_that_their_outer_ones_give_them() -> None:
    outer = 'include: [{feature: Slot, as: "${as}-[1-2]", with: {share: 1%}}]\n'
    node = 'features: [{feature: Outer, as: "[7-8]"}]\n'
    found = feature("cm", "Slot", features__Outer=outer, nodes__cm=node)
    assert found.instances == ("7-1", "7-2", "8-1", "8-2")
    assert [place.layers for place in found.places] == [("feature Outer", "node cm")]


def test_overrides_and_sets_install_features_too() -> None:
    assert [place.layers for place in feature("exec1", "Gpu").places] == [("override bad",)]
    given = "nodes: exec[1-4]\nfeatures: [Idle]\n"
    assert [place.layers for place in feature("exec1", "Idle", nodesets__exec=given).places] == [
        ("node set exec",)
    ]


def test_without_takes_a_feature_away_and_what_only_it_includes() -> None:
    found = feature("exec3", "Execute")
    assert not found.has
    (taken,) = found.taken
    assert told(taken.place) == [("group exec", "groups/exec.yaml:2:12")]
    (removal,) = taken.removals
    assert (removal.feature, removal.by.layer) == ("Execute", "node exec3")
    assert str(removal.by.origin) == "nodes/exec3.yaml:1:11"
    inside = feature("exec3", "Slot")
    assert not inside.has
    assert [taken.removals[0].feature for taken in inside.taken] == ["Execute"]
    base = feature("exec3", "Base")
    assert base.has
    assert [taken.place.layers for taken in base.taken] == [("feature Execute", "group exec")]


def test_an_override_takes_away_too() -> None:
    bad = "nodes: exec1\nreason: r\nuntil: 2026-06-01\nwithout: [Execute]\n"
    (taken,) = feature("exec1", "Execute", overrides__bad=bad).taken
    assert taken.removals[0].by.layer == "override bad"


def test_what_no_layer_of_the_node_lists_is_told_where_it_is() -> None:
    found = feature("cm", "Execute")
    assert (found.places, found.taken, found.barred) == ((), (), False)
    assert found.elsewhere == ("group exec", "group gpu", "override bad")
    assert feature("cm", "Idle").elsewhere == ()


def test_an_include_that_does_not_count_is_told() -> None:
    deep = {f"features__F{n:03}": f"include: [F{n + 1:03}]\n" for n in range(120)}
    found = feature("cm", "F120", nodes__cm="features: [F000]\n", features__F120="{}\n", **deep)
    assert found.barred
    assert (found.places, found.elsewhere) == ((), ())


def test_a_retired_node_has_nothing() -> None:
    found = feature("old", "Execute")
    assert found.retired
    assert (found.places, found.taken, found.barred) == ((), (), False)
    assert file("old", "/etc/motd").retired
    assert not file("old", "/etc/motd").has
    assert group("old", "exec").has
    assert group("old", "exec").retired


def test_what_does_not_exist_is_an_error_with_the_nearest_name() -> None:
    with pytest.raises(GitcfgError, match="no feature Exec") as error:
        feature("cm", "Execut")
    assert error.value.hints == ("Did you mean Execute?",)
    with pytest.raises(GitcfgError, match="/etc/mtd") as error:
        file("cm", "/etc/mtd")
    assert error.value.hints == ("Did you mean /etc/motd?",)
    with pytest.raises(GitcfgError, match="no group Exec") as error:
        group("cm", "Exec")
    assert error.value.hints == ("Did you mean exec?",)


def test_the_highest_entry_decides_about_a_file() -> None:
    found = file("exec2", "/etc/motd")
    assert [brought.path for brought in found.entries] == [
        ("feature Base", "group default"),
        ("feature Base", "feature Execute", "group exec"),
        ("feature Base", "feature Execute", "feature Gpu", "group gpu"),
        ("feature Gpu", "group gpu"),
    ]
    assert found.deciding is not None
    assert found.deciding.entry.text == "GPU\n"
    assert (found.has, found.params) == (True, None)


def test_a_format_writes_the_parameters_that_it_takes() -> None:
    fleet = pool()
    found = file("exec2", "/etc/condor")
    assert found.params == len(fleet["exec2"].files["/etc/condor"].splitlines()) > 3


def test_an_entry_may_take_a_file_away() -> None:
    found = file("cm", "/etc/motd")
    assert not found.has
    assert [brought.entry.removed for brought in found.entries] == [False, True]


def test_entries_of_features_that_without_takes_away_are_told() -> None:
    found = file("exec4", "/etc/motd")
    assert [brought.path for brought in found.entries] == [("feature Base", "group default")]
    assert [brought.path[-2:] for brought in found.taken] == [("feature Gpu", "group gpu")] * 2
    assert {removal.by.layer for brought in found.taken for removal in brought.removals} == {"node exec4"}


def test_a_file_of_other_nodes_is_told_where_it_is() -> None:
    found = file("cm", "/etc/x", features__Gpu="files: {/etc/x: {text: x}}\n")
    assert (found.has, found.entries, found.taken) == (False, (), ())
    assert found.elsewhere == ("feature Gpu",)


def test_a_group_is_listed_by_the_node_or_its_set() -> None:
    found = group("exec2", "exec")
    assert found.by is not None
    assert (found.by.layer, str(found.by.origin)) == ("node set exec", "nodesets/exec.yaml:2:10")
    assert found.groups == ("gpu", "exec", "default")
    own = group("exec2", "gpu")
    assert own.by is not None
    assert (own.by.layer, str(own.by.origin)) == ("node exec2", "nodes/exec2.yaml:1:21")


def test_every_node_is_in_the_default_group_file_or_not() -> None:
    assert group("cm", "default").has
    found = group("cm", "all", gitcfg="format: 1\ndefault_group: all\n")
    assert (found.has, found.default, found.by) == (True, True, None)


def test_a_group_that_the_nodes_own_list_drops_is_told_with_both_places() -> None:
    found = group("exec4", "exec")
    assert not found.has
    assert found.replaced
    assert found.listed is not None
    assert found.dropped is not None
    assert (found.listed.layer, found.dropped.layer) == ("node set exec", "node exec4")
    assert str(found.dropped.origin) == "nodes/exec4.yaml:1:9"
    removed = group("exec4", "exec", nodes__exec4="groups: {$remove: [exec]}\n")
    assert removed.dropped is not None
    assert (removed.has, removed.replaced) == (False, False)
    assert str(removed.dropped.origin) == "nodes/exec4.yaml:1:20"


def test_a_group_that_nobody_lists() -> None:
    found = group("cm", "gpu")
    assert (found.has, found.by, found.listed, found.dropped) == (False, None, None, None)


def test_a_parameter_that_is_not_bound_is_told_with_all_who_bind_it() -> None:
    found = param("cm", "START")
    assert (found.has, found.value, found.deciding, found.losses) == (False, NOTHING, None, ())
    assert (found.default, found.nodes) == ("TRUE", ("exec1", "exec2"))
    assert [(source.setting.layer, source.setting.op) for source in found.sources] == [
        ("feature Execute", Op.NULL),
        ("feature Gpu", Op.AND),
        ("override bad", Op.SET),
    ]
    execute, _, override = found.sources
    assert isinstance(execute.why, FeatureAnswer)
    assert execute.why.elsewhere == ("group exec", "group gpu", "override bad")
    assert override.why is None


def test_a_feature_that_without_removes_is_the_reason_for_its_parameters() -> None:
    why = param("exec3", "START").sources[0].why
    assert isinstance(why, FeatureAnswer)
    assert [removal.by.layer for taken in why.taken for removal in taken.removals] == ["node exec3"]


def test_a_group_that_the_node_removes_is_the_reason_for_its_parameters() -> None:
    (source,) = [one for one in param("exec4", "NUM_CPUS").sources if one.setting.layer == "group exec"]
    assert isinstance(source.why, GroupAnswer)
    assert source.why.dropped is not None


def test_the_same_feature_as_another_instance_is_a_source() -> None:
    (source,) = param("exec1", "SLOT_TYPE_x").sources
    assert isinstance(source.why, FeatureAnswer)
    assert (source.setting.layer, source.why.has, source.why.instances) == ("feature Slot", True, ("1", "2"))


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("{set: {NUM_CPUS: 1}, where: node.name == 'x'}", Reason.WHERE),
        ("{set: {NUM_CPUS: 1}, where: node.facts.x == 1}", Reason.FAILED),
        ("{set: {NUM_CPUS: 1}, where: node.}", Reason.IDLE),
        ("{domain: {NUM_CPUS: [1-4]}, where: node.name == 'x'}", Reason.WHERE),
        ("{domain: {NUM_CPUS: [1-4]}}", Reason.OPEN),
    ],
)
def test_rules_that_pass_the_node_by_are_told_with_their_reason(rule: str, reason: Reason) -> None:
    sources = param("cm", "NUM_CPUS", rules__r=f"rules: {{r: {rule}}}\n").sources
    (why,) = [source.why for source in sources if source.setting.layer == "rule r"]
    assert isinstance(why, Passing)
    assert (why.reason, why.feature) == (reason, "")


@pytest.mark.parametrize(
    ("node", "name", "wanted", "step", "by"),
    [
        ("exec2", "NUM_CPUS", "4", "group exec", "node exec2"),
        ("exec2", "START", "TRUE", "feature Execute", "feature Gpu"),
        ("exec1", "START", "TRUE", "feature Execute", "feature Gpu"),
        ("exec1", "RACK", "none", "feature Execute", "feature Base"),
    ],
)
def test_a_value_that_another_layer_gives_is_told_with_what_changes_it(
    node: str, name: str, wanted: str, step: str, by: str
) -> None:
    found = param(node, name, wanted)
    assert not found.has
    assert (found.losses[-1].step.path[0], found.losses[-1].by.path[0]) == (step, by)


def test_what_unset_hides_is_lost() -> None:
    found = param("exec2", "NUM_CPUS", nodes__exec2="params: {NUM_CPUS: {$unset: true}}\n")
    (loss,) = found.losses
    assert (loss.step.path, loss.by.op, found.value) == (("group exec",), Op.UNSET, NOTHING)


@pytest.mark.parametrize(
    ("name", "wanted", "has"),
    [
        ("NUM_CPUS", "8", True),
        ("NUM_CPUS", "9", False),
        ("NUM_CPUS", "eight", False),
        ("DAEMON_LIST", "STARTD", True),
        ("DAEMON_LIST", "STARTD, MASTER", True),
        ("DAEMON_LIST", '["MASTER","STARTD"]', True),
        ("DAEMON_LIST", "SCHEDD", False),
        ("RACK", "A1", True),
        ("CONDOR_HOST", "", False),
    ],
)
def test_a_value_is_written_as_text_or_json(name: str, wanted: str, has: bool) -> None:
    assert param("exec2", name, wanted).has is has


def test_a_map_has_a_value_whose_keys_it_has() -> None:
    declared = "parameters: {M: {description: A map., type: map}}\n"
    node = "params: {M: {a: 1, b: {c: 2}}}\n"
    changed = {"parameters__m": declared, "nodes__cm": node}
    assert param("cm", "M", '{"b":{"c":2}}', **changed).has
    assert not param("cm", "M", '{"b":{"c":3}}', **changed).has


def test_a_name_of_both_a_parameter_and_a_feature_has_both_answers() -> None:
    both = "parameters: {Gpu: {description: Named as a feature.}}\n"
    fleet: Fleet = pool(parameters__both=both).compiled
    assert [type(found) for found in why_not(fleet, fleet["cm"], "Gpu")] == [ParamAnswer, FeatureAnswer]
    assert [type(found) for found in why_not(fleet, fleet["cm"], "Gpu", "1")] == [ParamAnswer]
    assert [type(found) for found in why_not(fleet, fleet["cm"], "Slot")] == [FeatureAnswer]


@pytest.mark.parametrize(
    ("name", "wanted", "hint"),
    [
        ("Execut", None, "Did you mean Execute?"),
        ("STRT", None, "Did you mean START?"),
        ("exec", None, "Use `--group`."),
        ("/etc/motd", None, "Use `--file`."),
    ],
)
def test_an_unknown_name_is_an_error(name: str, wanted: str | None, hint: str) -> None:
    fleet: Fleet = pool().compiled
    with pytest.raises(GitcfgError, match="no parameter or feature") as error:
        list(why_not(fleet, fleet["cm"], name, wanted))
    assert error.value.hints == (hint,)
