"""Commands about some nodes read and compile those; about all, each class once; a second time, nothing."""

import re
from collections import Counter
from pathlib import Path

from tests.output.sources import age
from tests.work.counting import once
from tests.work.guards import (
    CHANGED,
    CHECK,
    PARAMS,
    a_node,
    folders,
    members,
    only_concerned,
    only_one_node,
    other,
    spliced_only,
    yaml,
)
from tests.work.pools import WITH_TEMPLATE, Pool


def test_to_render_a_node_reads_nothing_of_others(committed: Pool) -> None:
    name, _ = a_node(committed)
    only_one_node(committed, ("render", name, "--at", "HEAD"), name)
    only_one_node(committed, ("render", name), name)


def test_to_render_a_node_compiles_nothing_of_others_beside_rules(pool: Pool) -> None:
    (pool.folder / "rules").mkdir()
    feature = next(iter(pool.fleet.model.features))
    pool.say("rules/limits.yaml", f"rules:\n  all: {{limit: {feature}, count: {{max: 1000000}}}}\n")
    pool.commit()
    name, _ = a_node(pool)
    for words in (("render", name, "--at", "HEAD"), ("explain", name, "--at", "HEAD")):
        assert pool.cold(*words).total("compiled") == 1


def test_to_explain_a_parameter_reads_nothing_of_others(committed: Pool) -> None:
    name, param = a_node(committed)
    only_one_node(committed, ("explain", name, param, "--at", "HEAD"), name)
    only_one_node(committed, ("explain", name), name)


def test_what_changed_between_neighbours_compiles_those_concerned(pool: Pool) -> None:
    old = pool.fleet
    pool.cold(*CHECK, "--at", "HEAD")
    pool.say(CHANGED, other(pool))
    pool.commit()
    new, concerned = pool.fleet, members(pool.fleet, "group005")
    assert 0 < len(concerned) < 80
    first = pool.run("diff", "HEAD~1", "HEAD", "--stat")
    only_concerned(first, old, new, concerned)
    assert once(Counter(set(first["parsed"])), ["gitcfg.yaml", CHANGED])
    second = pool.run("diff", "HEAD~1", "HEAD", "--stat")
    only_concerned(second, old, new, concerned)
    assert folders(second["unpacked"])["nodes"] <= len(concerned)  # who is in the group is remembered
    assert set(second["parsed"]) == {"gitcfg.yaml"}
    cold = pool.cold("diff", "HEAD~1", "HEAD", "--stat")
    only_concerned(cold, old, new, concerned)


def test_a_change_of_one_node_reads_that_node(pool: Pool) -> None:
    old, (name, _) = pool.fleet, a_node(pool)
    pool.cold(*CHECK, "--at", "HEAD")
    said = f"nodes/{name}.yaml"
    pool.say(said, re.sub("groups: .*", f"groups: [{WITH_TEMPLATE}]", pool.files[said]))
    pool.commit()
    work = pool.run("diff", "HEAD~1", "HEAD", "--stat")
    only_concerned(work, old, pool.fleet, {name})
    assert folders(work["unpacked"])["nodes"] == 1
    assert set(work["parsed"]) == {"gitcfg.yaml", said}


def test_what_is_the_same_is_not_compared(committed: Pool) -> None:
    work = committed.warm("diff", "HEAD", "--stat")
    assert work.total("compiled") == work.total("values composed") == work.total("written") == 0
    assert folders(work["unpacked"])["nodes"] == 0


def test_all_parameters_are_spliced(committed: Pool) -> None:
    committed.cold(*CHECK)
    work = committed.run(*PARAMS)
    spliced_only(committed, work)
    assert once(work["parsed"], ["gitcfg.yaml"])
    assert work.most("looked at") <= 1
    assert work.total("kept") == 0


def test_all_parameters_are_checked_on_the_way(committed: Pool) -> None:
    work = committed.cold(*PARAMS)
    assert once(work["parsed"], yaml(committed))
    assert work.total("spliced") == len(committed.fleet.classes)
    assert work.most("looked at") <= 2  # by the check, and for its text
    assert work.most("suspected") == 1


def test_an_output_folder_that_is_right_is_left_alone(pool: Pool, tmp_path: Path) -> None:
    words = ("render", "--all", "--out", str(tmp_path / "out"))
    fleet = pool.fleet
    first = pool.cold(*words)
    rendered = sum(len(fleet[name].entries) for name in fleet.names)
    assert len(first["put"]) == rendered
    assert first.most("written") == 1  # of nodes that are alike one is rendered for all
    age(tmp_path / "out")
    again = pool.run(*words)
    for kind in ("put", "written", "rendered", "compiled", "composed", "looked at", "kept"):
        assert again.total(kind) == 0, kind
    pool.say(CHANGED, other(pool))
    concerned = members(pool.fleet, "group005")
    work = pool.run(*words)
    nodes = {str(place).removeprefix(f"{tmp_path}/out/").partition("/")[0] for place in work["put"]}
    assert nodes
    assert nodes <= concerned
    assert work.total("written") <= sum(len(pool.fleet[name].entries) for name in concerned)


def test_a_log_is_not_worked_out_again(committed: Pool) -> None:
    name, _ = a_node(committed)
    assert committed.cold("log", name).total("compiled") <= 2
    assert committed.run("log", name).told() == {}
