"""Why a node has a feature, a file or a group, or has not."""

import pytest

from gitcfg.compile.fleet import Fleet
from gitcfg.explain.trail import Place
from gitcfg.explain.why import FeatureAnswer, FileAnswer, GroupAnswer, why_feature, why_file, why_group
from gitcfg.model import GitcfgError
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
