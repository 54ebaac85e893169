"""Texts found in names, descriptions and values."""

import pytest

import gitcfg
from gitcfg.explain.search import Match, search
from gitcfg.model import GitcfgError
from tests.explain.pool import pool


def found(*texts: str, **changed: str) -> list[tuple[str, str, str, str]]:
    return [
        (match.kind, match.name, match.field, str(match.origin))
        for match in search(pool(**changed).compiled, texts)
    ]


def one(text: str, **changed: str) -> Match:
    (match,) = search(pool(**changed).compiled, [text])
    return match


def marked(match: Match) -> list[str]:
    return [match.excerpt[start:end] for start, end in match.spans]


def test_names_descriptions_and_values_are_found_whatever_their_case() -> None:
    assert found("gpu") == [
        ("node", "exec2", "groups", "nodes/exec2.yaml:1:21"),
        ("node", "exec4", "groups", "nodes/exec4.yaml:1:10"),
        ("node", "exec4", "without", "nodes/exec4.yaml:2:11"),
        ("group", "gpu", "name", "groups/gpu.yaml:1:1"),
        ("group", "gpu", "description", "groups/gpu.yaml:1:18"),
        ("group", "gpu", "features", "groups/gpu.yaml:2:12"),
        ("feature", "Gpu", "name", "features/Gpu.yaml:1:1"),
        ("feature", "Gpu", "description", "features/Gpu.yaml:1:20"),
        ("feature", "Gpu", "params START", "features/Gpu.yaml:4:31"),
        ("feature", "Gpu", "files /etc/motd text", "features/Gpu.yaml:6:22"),
        ("override", "bad", "features", "overrides/bad.yaml:5:12"),
    ]


def test_parameters_and_subsystems_are_found_in_their_common_files() -> None:
    assert found("slot") == [
        ("node", "cm", "features feature", "nodes/cm.yaml:1:22"),
        ("feature", "Execute", "include feature", "features/Execute.yaml:2:27"),
        ("feature", "Slot", "name", "features/Slot.yaml:1:1"),
        ("feature", "Slot", "description", "features/Slot.yaml:1:16"),
        ("feature", "Slot", "params SLOT_TYPE_${as}", "features/Slot.yaml:3:4"),
        ("parameter", "SLOT_TYPE_*", "name", "parameters/condor.yaml:7:4"),
        ("parameter", "SLOT_TYPE_*", "description", "parameters/condor.yaml:7:42"),
        ("subsystem", "startd", "params", "subsystems/s.yaml:3:56"),
    ]


def test_only_what_holds_all_texts_is_found() -> None:
    assert {(kind, name) for kind, name, _, _ in found("gpu", "machine")} == set()
    assert {(kind, name) for kind, name, _, _ in found("gpu", "has")} == {
        ("group", "gpu"),
        ("feature", "Gpu"),
    }


def test_the_words_of_the_format_are_not_found() -> None:
    assert found("description") == []
    assert found("separator") == []
    assert found("must_change") == []
    assert found("integer") == []
    assert found("$append") == []


def test_templates_and_files_are_found_by_name_and_by_line() -> None:
    assert found("motd.j2") == [
        ("feature", "Base", "files /etc/motd template", "features/Base.yaml:7:25"),
        ("template", "motd.j2", "name", "templates/motd.j2:1:1"),
    ]
    assert found("node.name") == [("template", "motd.j2", "line", "templates/motd.j2:1:12")]


def test_a_text_may_go_on_in_the_next_line_of_a_template() -> None:
    long = "a " * 100
    files = {"templates/t.j2": f"one two\nthree {long} four\n", "gitcfg.yaml": "format: 1\n"}
    with gitcfg.in_memory(files) as fleet:
        (match,) = search(fleet.compiled, ["two three"])
        assert (str(match.origin), match.excerpt, marked(match)) == ("templates/t.j2:1:5", "one two", ["two"])
        assert {match.origin.line for match in search(fleet.compiled, ["three", "four"])} == {2}


def test_settings_that_are_no_mapping_hold_nothing() -> None:
    with gitcfg.in_memory({"gitcfg.yaml": "needle\n"}) as fleet:
        assert search(fleet.compiled, ["needle"]) == ()


def test_nodes_are_found_in_the_set_that_names_them() -> None:
    match = one("exec1", overrides__bad="nodes: cm\nreason: r\nuntil: 2026-06-01\n")
    assert (match.kind, match.name, match.field, match.excerpt) == ("nodeset", "exec", "nodes", "exec1")
    assert found("exec4")[-1][:3] == ("nodeset", "exec", "nodes")


@pytest.mark.parametrize(
    ("written", "text", "line", "column", "excerpt", "held"),
    [
        ("reason: a needle here # no needle\n", "needle", 1, 11, "reason: a needle here # no needle", 1),
        ('reason: "a \\"sharp\\" needle"\n', '"sharp"', 1, 9, 'reason: "a \\"sharp\\" needle"', 0),
        ("reason: a long\n  needle\n", "LONG NEEDLE", 1, 9, "reason: a long", 0),
        ("reason: a long\n  needle\n", "needle", 2, 3, "needle", 1),
        ("reason: |\n  one\n  a needle\n", "needle", 3, 5, "a needle", 1),
    ],
)
def test_a_value_is_found_as_it_is_written_and_as_it_is_meant(
    written: str, text: str, line: int, column: int, excerpt: str, held: int
) -> None:
    match = one(text, overrides__bad=written + "nodes: cm\nuntil: 2026-06-01\n")
    assert (match.origin.line, match.origin.column, match.excerpt) == (line, column, excerpt)
    assert len(match.spans) == held


def test_comments_are_no_values() -> None:
    assert found("needle", nodes__cm="# needle\nlabels: [a]  # needle\n# needle\n") == []


def test_every_line_of_a_block_is_told_and_every_mark_in_a_line() -> None:
    text = "files:\n  /x:\n    text: |\n      needle needle\n      no\n      needle\n"
    found_ = search(pool(nodes__cm=text).compiled, ["needle"])
    assert [(match.origin.line, marked(match)) for match in found_] == [
        (4, ["needle", "needle"]),
        (6, ["needle"]),
    ]


def test_of_a_long_line_the_part_around_the_match_is_told() -> None:
    match = one("needle", nodes__cm=f"params: {{CONDOR_HOST: {'x' * 500}needle{'y' * 500}}}\n")
    assert len(match.excerpt) < 160
    assert marked(match) == ["needle"]


def test_files_that_cannot_be_read_hide_nothing_else() -> None:
    assert found("4711", nodes__cm="a: [\n", groups__x=": :\n") == [
        ("override", "bad", "reason", "overrides/bad.yaml:2:26")
    ]


def test_an_empty_text_is_an_error() -> None:
    with pytest.raises(GitcfgError):
        found("gpu", " ")
