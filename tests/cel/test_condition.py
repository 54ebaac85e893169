"""Conditions: what they read, when they hold, what is wrong with them, and that none can do harm."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from gitcfg.cel import NODE_VARIABLES, NODES_VARIABLES, CelProblem, Condition, compile_condition

NODE: dict[str, Any] = {
    "node.name": "exec001",
    "node.groups": ["rack3"],
    "node.features": ["ExecuteNode"],
    "node.labels": ["server", "ssd"],
    "node.facts": {"rack": 3, "site": "north", "none": None, "gpus": ["a"], "disk": {"size": 2.5}},
    "node.params": {"START": "TRUE", "SLOTS": 4},
}

EXEC001 = 'text goes in quotes: "exec001", a fact is node.facts.exec001'
LONG_LIST = "[" + ", ".join(["1"] * 99) + "]"


def compiled(text: str) -> Condition:
    return compile_condition(text, NODE_VARIABLES)


def holds(text: str, **changes: Any) -> bool:
    condition = compiled(text)
    values = {**NODE, **{f"node.{name}": value for name, value in changes.items()}}
    return condition.holds({name: values[name] for name in condition.names})


def problem(text: str, **changes: Any) -> CelProblem:
    with pytest.raises(CelProblem) as raised:
        holds(text, **changes)
    return raised.value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('"server" in node.labels', True),
        ('"gpu" in node.labels', False),
        ("has(node.facts.rack)", True),
        ("has(node.facts.nope)", False),
        ("has(node.facts.nope) && node.facts.nope == 1", False),
        ("node.facts.rack == 3 && node.facts.rack < 3.5", True),
        ("node.facts.none == null", True),
        ("node.facts.disk.size > 2.0", True),
        ('"a" in node.facts.gpus', True),
        ('node.params["START"] == "TRUE" && node.params.SLOTS == 4', True),
        ('node.name.startsWith("exec") && !node.name.endsWith("2")', True),
        ('node.name == "x" ? false : "rack3" in node.groups', True),
        ('timestamp("2026-01-01T00:00:00Z") < timestamp("2026-01-02T00:00:00Z")', True),
        ('node.labels.exists(label, label.startsWith("ss"))', True),
        ("node.labels.all(label, label.size() == 3)", False),
        ('node.name.matches("^exec[0-9]+$")', True),
        ('node.name + "-a" == "exec001-a"', True),
        ('"ExecuteNode" in node.features // why not', True),
        ("true", True),
    ],
)
def test_conditions(text: str, expected: bool) -> None:
    assert holds(text) is expected


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("true", set()),
        ('"a" in node.labels', {"node.labels"}),
        ('node.facts.labels == "node.name"', {"node.facts"}),
        ("node.labels.exists(l, l == node.name) // node.params", {"node.labels", "node.name"}),
        ("[1].exists(name, has(node.facts.groups))", {"node.facts"}),
        ("has(node.params.features) || has(node.facts.x)", {"node.params", "node.facts"}),
    ],
)
def test_names_are_what_the_expression_reads(text: str, names: set[str]) -> None:
    assert compiled(text).names == names


def test_other_vocabularies() -> None:
    variables = {"self.slots": "int", "self.public": "bool", "other.name": "string"}
    condition = compile_condition("self.public && self.slots > 2", variables)
    assert condition.names == {"self.public", "self.slots"}
    assert condition.holds({"self.public": True, "self.slots": 3})


@pytest.mark.parametrize(
    ("text", "line", "column", "message", "hint"),
    [
        ('"a" in node.lables', 1, 8, "there is no 'node.lables'", "did you mean node.labels?"),
        ("true &&\n  nod.name == 'x'", 2, 3, "there is no 'nod.name'", "did you mean node.name?"),
        ("node.fact.rack == 3", 1, 1, "there is no 'node.fact.rack'", "did you mean node.facts?"),
        ('"ä" == node.nme', 1, 8, "there is no 'node.nme'", "did you mean node.name?"),
        ("node.name == exec001", 1, 14, "there is no 'exec001'", EXEC001),
        ('node.name.startWith("x")', 1, 11, "there is no function 'startWith'", "did you mean startsWith?"),
        ('not ("a" in node.labels)', 1, 1, "there is no function 'not'", "write !"),
        ('node.name == "x" and true', 1, 18, "and is not valid here", "write &&"),
        ('node.name = "x"', 1, 11, "= is not valid here", "write =="),
        ("node.name ==", 1, 13, "the expression ends too early", ""),
        ("", 1, 1, "the expression ends too early", ""),
        ("node.name == 1", 1, 11, "`==` does not take string and int", ""),
        (
            'node.labels.contains("x")',
            *(1, 21, "`contains` does not take list(string) and string"),
            'to search for an item, write "x" in LIST',
        ),
        (
            '"x" in node.name',
            *(1, 5, "`in` does not take string and string"),
            'to search in a text, write TEXT.contains("x")',
        ),
        ("node.labels", 1, 1, "the result is list(string), not true or false", "compare it with something"),
        ("1 + 1", 1, 1, "the result is int, not true or false", "compare it with something"),
    ],
)
def test_what_is_wrong_is_found_before_any_node_is_asked(
    text: str, line: int, column: int, message: str, hint: str
) -> None:
    with pytest.raises(CelProblem) as raised:
        compiled(text)
    found = raised.value
    assert (found.line, found.column, found.message, found.hint) == (line, column, message, hint)


def test_the_first_word_of_a_name_is_not_a_name() -> None:
    assert problem("node").hint.startswith("write one of node.facts, node.features")


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("node.facts.nope == 3", "node.facts has no 'nope'", "ask first: has(node.facts.nope) && ..."),
        ('node.params["N-O"] == 3', "node.params has no 'N-O'", 'ask first: "N-O" in node.params && ...'),
        ('node.facts.rack > "x"', "`>` does not take int and string", ""),
        ("node.facts.rack && true", "a value has the wrong type for this operation", ""),
        ("node.facts.rack", "the result is int, not true or false", "compare it with something"),
        ("node.facts.rack / 0 == 1", "divide by zero", ""),
        ('node.facts.site.matches("(")', "invalid regular expression: missing ): (", ""),
        ("node.facts.rack.all(x, true)", "a value has the wrong type for this operation", ""),
    ],
)
def test_an_evaluation_that_fails_is_never_taken_for_true(text: str, message: str, hint: str) -> None:
    found = problem(text)
    assert (found.message, found.hint) == (message, hint)


def test_a_name_that_looks_like_a_message_is_a_name() -> None:
    assert problem("node.recursion == 1").message == "there is no 'node.recursion'"


def test_a_missing_key_of_one_of_two_maps_is_not_guessed() -> None:
    assert problem("node.facts.nope == node.params.nope").message == "there is no key 'nope'"


def test_a_missing_key_is_found_in_the_text() -> None:
    found = problem('has(node.facts.rack) &&\n  node.facts.nope == "x"')
    assert (found.line, found.column) == (2, 3)


@pytest.mark.parametrize("text", ["node.facts.big > 5", "node.facts.big > 5 && [1].all(x, x == 1)"])
def test_values_that_cel_does_not_know_do_not_spoil_the_others(text: str) -> None:
    assert holds(text, facts={"big": 2**70, "huge": 10**400, "pair": ("a", "b"), "half": "\ud800"})
    assert holds('"b" in node.facts.pair', facts={"pair": ("a", "b"), "big": -(2**70)})
    assert holds('"b" in node.labels', labels=frozenset("ab"))


@pytest.mark.parametrize("text", ['node.facts["n"] > 1', "[node.facts.n].all(n, n > 1)"])
def test_many_rows_at_once(text: str) -> None:
    rows: list[dict[str, Any]] = [{"node.facts": {"n": n}} for n in range(250)]
    rows[7] = {"node.facts": {}}
    held, problems = compiled(text).holds_each(rows)
    assert held == [n > 1 and n != 7 for n in range(250)]
    assert list(problems) == [7]
    assert problems[7].message == "node.facts has no 'n'"


def nested_loops(depth: int) -> str:
    text = "true"
    for level in range(depth):
        text = f"{LONG_LIST}.all(x{level}, {text})"
    return text


def doubling(growth: str, end: str) -> str:
    text = end.format(last="l")
    for name, inner in reversed(list(zip("abcdefghijk", "bcdefghijkl", strict=True))):
        text = f"[{growth.format(x=name)}].exists({inner}, {text})"
    return f"[node.params.big].exists(a, {text})"


HOSTILE = {
    "loops": nested_loops(4),
    "texts that double": doubling("{x} + {x}", "{last}.size() > 3"),
    "lists that grow": doubling("[{x}, {x}, {x}, {x}]", "{last} == {last}"),
    "many large texts": f'{LONG_LIST}.map(x, {LONG_LIST}.map(y, node.params.big + "x")).size() == 3',
    "brackets": "(" * 4_000 + "true" + ")" * 4_000,
    "open brackets": "[" * 9_000,
    "a long sum": "1" + " + 1" * 2_000 + " > 0",
    "a long path": "node.facts" + ".a" * 4_000 + " == 1",
    "a long conjunction": "true" + " && true" * 1_200 + " && node.facts.nope",
    "too long": "true" + " || true" * 2_000,
    "a file": 'timestamp("2026-01-01T00:00:00Z").getHours("/etc/localtime") == 1',
    "NUL": "true\0",
    "half a character": '"\ud800" == node.name',
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_expression_ends_soon_with_a_problem(name: str) -> None:
    found = problem(HOSTILE[name], params={"big": "x" * (1 << 20)})
    assert len(found.message) < 400
    assert "\n" not in found.message
    assert holds("[1].all(x, x == 1)")


def test_hostile_expressions_are_told_why() -> None:
    assert problem(HOSTILE["loops"]).message == "the expression loops more than 10,000 times"
    assert problem(HOSTILE["brackets"]).message == "the expression is nested too deeply"
    assert problem(HOSTILE["too long"]).message == "the expression is longer than 10,000 characters"


@pytest.mark.parametrize(
    "part",
    [
        *("Date", "DayOfMonth", "DayOfWeek", "DayOfYear", "FullYear"),
        *("Hours", "Milliseconds", "Minutes", "Month", "Seconds"),
    ],
)
def test_time_zones_would_be_read_from_the_machine_and_are_not_there(part: str) -> None:
    time_of = f'timestamp("2026-01-01T00:00:00Z").get{part}'
    assert holds(f"{time_of}() >= 0")
    assert problem(f'{time_of}("UTC") >= 0').hint == "dates and times are read without a time zone"
    assert problem(f'{time_of}(dyn("UTC")) >= 0').message.startswith("there is no function")


def test_a_regular_expression_cannot_run_away() -> None:
    assert holds('!node.name.matches("^(a+)+$")', name="a" * 5_000 + "!")


def test_the_library_is_imported_with_the_first_expression_only() -> None:
    program = (
        "import sys; sys.path[:] = sys.argv[1:]\n"
        "import gitcfg.cel\n"
        "assert not any(name.startswith(('cel_expr_python', 'gitcfg.sandbox')) for name in sys.modules)\n"
        "gitcfg.cel.compile_condition('true', {})\n"
        "assert 'cel_expr_python.cel' in sys.modules and 'gitcfg.sandbox' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", program, *sys.path], check=True)


NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
TIMES = {"node.checkin": "timestamp", "node.since": "timestamp", "node.name": "string"}


@pytest.mark.parametrize(
    ("text", "minutes", "expected"),
    [
        ('age(node.checkin) > duration("2h")', 121, True),
        ('age(node.checkin) > duration("2h")', 119, False),
        ('age(node.checkin) < duration("0s")', -5, True),
        ("age(node.checkin) < age(node.since)", 5, True),
        ('node.checkin < timestamp("2026-11-22T11:00:00Z")', 61, True),
        ('node.name.matches("^n") && age(node.checkin) == duration("300s")', 5, True),
        ('[node.checkin].exists(t, age(t) > duration("1m"))', 5, True),
    ],
)
def test_ages_count_from_the_time_that_is_handed_in(text: str, minutes: int, expected: bool) -> None:
    condition = compile_condition(text, TIMES, NOW)
    row = {
        "node.checkin": NOW - timedelta(minutes=minutes),
        "node.since": NOW - timedelta(days=1),
        "node.name": "n",
    }
    assert condition.holds({name: row[name] for name in condition.names}) is expected


def test_another_time_gives_other_ages() -> None:
    row = {"node.checkin": NOW}
    for hours, expected in ((1, False), (3, True)):
        condition = compile_condition(AGED, TIMES, NOW + timedelta(hours=hours))
        assert condition.holds(row) is expected


AGED = 'age(node.checkin) > duration("2h")'


def test_without_a_time_there_is_no_age() -> None:
    with pytest.raises(CelProblem, match="there is no function 'age'"):
        compile_condition(AGED, TIMES)


def test_only_times_have_ages() -> None:
    with pytest.raises(CelProblem, match="`age` does not take string"):
        compile_condition('age(node.name) > duration("2h")', TIMES, NOW)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('node.facts["node.name"] == "\\n\\tnode.name"', {"node.facts"}),
        ('["x"].exists(nodes, nodes == "x")', set()),
        ('["x"].exists(nodes, nodes == "x") && size(nodes) == 1', {"nodes"}),
        ('node.labels.exists(node, node == "x")', {"node.labels"}),
        ('has(node.facts.rack) || "a" in node.features', {"node.facts", "node.features"}),
    ],
)
def test_it_is_known_what_is_read(text: str, names: set[str]) -> None:
    assert compile_condition(text, {**NODE_VARIABLES, **NODES_VARIABLES}).names == names


def test_what_was_compiled_is_not_compiled_again() -> None:
    text = "size(node.labels) == 3"
    assert compile_condition(text, NODE_VARIABLES) is compile_condition(text, dict(NODE_VARIABLES))
    assert compile_condition(text, NODE_VARIABLES) is not compile_condition(
        text, {**NODE_VARIABLES, **NODES_VARIABLES}
    )
