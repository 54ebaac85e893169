"""Tables of medians and ratios, and results that stay where others are measured anew."""

from pathlib import Path

from msgspec.structs import replace

from bench.measure import Record
from bench.report import Results, document, keep, read, tables, text
from bench.report.goals import goals
from bench.report.markdown import with_sections

YARD = Record(
    fleet="small",
    tool="yardstick",
    work="all nodes",
    cpu=(2.0, 1.0, 4.0),
    wall=(2.0, 2.5, 5.0),
    rss=(20.0, 20.0, 20.0),
    nodes=100,
    right="100/100 of 100",
    yardstick=2.0,
)
FAST = Record(
    fleet="small",
    tool="gitcfg",
    work="all nodes",
    state="cold",
    cpu=(1.0,),
    wall=(2.0,),
    rss=(30.0,),
    nodes=100,
    yardstick=2.0,
)
MISSING = Record(fleet="small", tool="nornir", work="all nodes", note="cannot be installed: no route")


def test_medians_and_ratios() -> None:
    (table,) = tables([YARD, FAST, MISSING])
    assert table.rows == (
        ("gitcfg", "all nodes", "cold", "1.000", "0.50", "2.000", "50", "30", "1", ""),
        ("yardstick", "all nodes", "", "2.000", "1.00", "2.500", "40", "20", "3", "100/100 of 100"),
        ("nornir", "all nodes", "", "-", "-", "-", "-", "-", "0", "cannot be installed: no route"),
    )


def test_columns_are_aligned() -> None:
    lines = text(next(iter(tables([YARD, FAST])))).splitlines()
    assert {line.index("all nodes") for line in lines[2:]} == {lines[1].index("work")}


def test_one_node_is_told_beside_a_fleet_of_one() -> None:
    said = {"tool": "gitcfg", "work": "one node, explain", "state": "cold", "rss": (50.0,)}
    least = Record(fleet="one", cpu=(0.2,), wall=(0.2,), **said)  # type: ignore[arg-type]
    large = Record(fleet="large", cpu=(0.25,), wall=(0.3,), **said)  # type: ignore[arg-type]
    _, table = tables([least, large])
    assert table.rows == (("gitcfg", "explain", "cold", "250", "+50", "300", "50", "1", ""),)


def test_results_of_other_tools_stay(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    keep([YARD, FAST], {}, path)
    again = Record(fleet="small", tool="gitcfg", work="check", cpu=(3.0,), wall=(3.0,), rss=(9.0,))
    kept = keep([again], {"cores": "2"}, path)
    assert set(kept.records) == {YARD, again}
    assert read(path) == kept


def test_page_names_machine_versions_and_fleets() -> None:
    results = Results((YARD, replace(FAST, version="commit 123")), {"cores": "2"})
    page = document(results, "2026-11-22")
    assert "Measured 2026-11-22." in page
    assert "- cores: 2\n- gitcfg: commit 123\n" in page
    assert "| small | 100 | 10 | 31 | 90 |" in page
    assert "| gitcfg | all nodes | cold | 1.000 | 0.50 |" in page


def test_sections_that_are_made_anew_replace_those_of_their_title_alone() -> None:
    page = "# Results\n\n## a\n\n1\n\n### more of a\n\n2\n\n## b\n\n3\n"
    assert with_sections(page, "## b\n\n4\n\n## c\n\n5\n") == (
        "# Results\n\n## a\n\n1\n\n### more of a\n\n2\n\n## b\n\n4\n\n## c\n\n5\n"
    )
    assert with_sections("", "## c\n\n5\n") == "## c\n\n5\n"
    assert with_sections(page, "") == page


def test_goals_are_judged_by_what_was_measured() -> None:
    check = Record(
        fleet="large", tool="gitcfg", work="check", state="cold", cpu=(2.0,), wall=(9.0,), rss=(200.0,)
    )
    found = {row[0]: row[1:] for row in goals([check, YARD]).rows}
    assert found["large: check, cold"] == ("2.5 s", "2.00", "reached")
    assert found["large: peak memory of all rows"] == ("180 MiB", "200", "not reached")
    assert found["sets: check, cold"] == ("30 s", "-", "not measured")


def test_diff_after_a_change_is_compared_with_its_cold_run() -> None:
    cold = Record(
        fleet="large", tool="gitcfg", work="diff", state="cold", cpu=(2.0,), wall=(2.0,), rss=(1.0,)
    )
    warm = replace(cold, state="one group changed", cpu=(0.1,))
    found = {row[0]: row[1:] for row in goals([cold, warm]).rows}
    assert found["large: diff after one group changed"] == ("0.1 x its cold run", "0.05", "reached")


def test_versions_that_differ_are_told_with_their_fleets() -> None:
    old = replace(FAST, version="commit 1")
    new = replace(FAST, fleet="large", version="commit 2")
    assert Results((old, new)).versions == {"gitcfg": "commit 1 (small); commit 2 (large)"}
    assert Results((old, replace(new, version="commit 1"))).versions == {"gitcfg": "commit 1"}
