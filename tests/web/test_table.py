"""Which nodes the table shows, and in which order."""

import pytest

from gitcfg.web.table import PAGE, Row, build_table, parse_query

ROWS = [
    Row("a1", "ok", ("Workers",), "c" * 40, last=30.0, outcome="ok"),
    Row("a2", "failed", ("Workers", "GPU"), "d" * 40, last=10.0, outcome="reverted", drifts=1),
    Row("b1", "never", ("Submit",), retired=True),
    Row("b2", "behind", (), "d" * 40, last=20.0, away=True, hold="H"),
]


def names(**query: str) -> list[str]:
    return [row.name for row in build_table(ROWS, parse_query(query)).rows]


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ({}, ["a1", "a2", "b1", "b2"]),
        ({"q": "A"}, ["a1", "a2"]),
        ({"q": "gpu a"}, ["a2"]),
        ({"q": "submit"}, ["b1"]),
        ({"state": "failed"}, ["a2"]),
        ({"state": "drifted"}, ["a2"]),
        ({"state": "away"}, ["b2"]),
        ({"state": "held"}, ["b2"]),
        ({"state": "retired"}, ["b1"]),
        ({"state": "nonsense"}, []),
        ({"commit": "dddd"}, ["a2", "b2"]),
        ({"group": "Workers"}, ["a1", "a2"]),
        ({"group": "Worker"}, []),
        ({"order": "down"}, ["b2", "b1", "a2", "a1"]),
        ({"sort": "checkin"}, ["a1", "b2", "a2", "b1"]),
        ({"sort": "state"}, ["a2", "b2", "b1", "a1"]),
        ({"sort": "nonsense", "page": "-7"}, ["a1", "a2", "b1", "b2"]),
        ({"page": "99999999999999999999"}, ["a1", "a2", "b1", "b2"]),
    ],
)
def test_what_is_asked_for_is_shown(query: dict[str, str], found: list[str]) -> None:
    assert names(**query) == found


def test_many_nodes_are_shown_a_page_at_a_time() -> None:
    rows = [Row(f"n{number:04}", "ok") for number in range(2 * PAGE + 5)]
    seen: list[str] = []
    for page in ("1", "2", "3"):
        found = build_table(rows, parse_query({"page": page}))
        assert (found.count, found.pages, found.query.page) == (len(rows), 3, int(page))
        seen += [row.name for row in found.rows]
    assert seen == [row.name for row in rows] == list(found.names)
    assert build_table(rows, parse_query({"page": "4"})).query.page == 3


def test_addresses_say_what_is_asked_for() -> None:
    said = parse_query({"q": "a b&c", "state": "failed", "sort": "checkin", "page": "3"})
    assert said.address() == "?q=a+b%26c&state=failed&sort=checkin"
    assert said.address(page=2).endswith("&page=2")
    assert said.sorted_address("checkin").endswith("&sort=checkin&order=down")
    assert said.sorted_address("name") == "?q=a+b%26c&state=failed"
    assert parse_query({}).address() == "?"
