"""Schemas and hostile documents: bounded work, bounded answers, nothing that cannot be printed."""

import math
import time
from typing import Any

import pytest

from gitcfg.load.schema import MOST, OwnSchema, problems

ENDLESS = 16**3999  # Python refuses to print it
SECONDS = 5  # far more than any of this takes: what is caught is what would never end


def title(value: Any) -> str | None:
    """A case's name; pytest itself would print numbers that cannot be printed."""
    return value if isinstance(value, str) and len(value) < 50 else "" if isinstance(value, int) else None


@pytest.fixture(autouse=True)
def in_time() -> Any:
    begin = time.perf_counter()
    yield
    assert time.perf_counter() - begin < SECONDS


def nested(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = [value]
    return value


def test_one_mistake_among_many_entries() -> None:
    params: dict[str, Any] = {f"P{n}": {"$append": "x"} for n in range(100_000)}
    (found,) = problems("group", {"params": params | {"Q": {"$apend": 1}}})
    assert found.path == ("params", "Q", "$apend")


@pytest.mark.parametrize(("count", "more"), [(MOST + 1, "1"), (100, "80"), (100_000, "more than 180")])
def test_the_first_mistakes_are_told_in_order_and_the_others_counted(count: int, more: str) -> None:
    document = {"parameters": {f"P{n}": {"depends": 5} for n in range(count)}}
    *told, last = problems("parameters", document)
    assert [problem.path[1] for problem in told] == [f"P{n}" for n in range(MOST)]
    assert (last.path, last.message) == ((), f"The document has further mistakes: {more}.")


def test_as_many_mistakes_as_are_told_are_told_without_a_count() -> None:
    found = problems("parameters", {"parameters": {f"P{n}": None for n in range(MOST)}})
    assert len(found) == MOST
    assert all(problem.path for problem in found)


def test_a_map_of_many_keys_with_an_operation_among_them() -> None:
    found = problems("group", {"params": {"P": {f"k{n}": 1 for n in range(100_000)} | {"$x": 1}}})
    assert {problem.path[:2] for problem in found if problem.path} == {("params", "P")}


@pytest.mark.parametrize(
    ("kind", "document", "path"),
    [
        ("group", {"description": ENDLESS}, ("description",)),
        ("group", {"params": {"P": {"$and": -ENDLESS, "$or": 1}}}, ("params", "P")),
        ("group", {"features": [ENDLESS]}, ("features", 0)),
        ("gitcfg", {"max_nodes": -ENDLESS}, ("max_nodes",)),
        ("group", {"description": math.nan}, ("description",)),
        ("group", {"params": {"P": {"$append": math.inf}}}, ("params", "P", "$append")),
        ("gitcfg", {"max_nodes": math.inf}, ("max_nodes",)),
        ("override", {"nodes": "n", "reason": "r", "until": "2027-01-01\n"}, ("until",)),
        ("group", {"features": "x" * 1_000_000}, ("features",)),
    ],
    ids=title,
)
def test_values_that_cannot_be_printed_or_compared(kind: str, document: Any, path: tuple[str, ...]) -> None:
    (found,) = problems(kind, document)
    assert found.path == path
    assert len(found.message) < 200


def test_an_endless_number_where_a_number_may_stand() -> None:
    assert problems("gitcfg", {"format": 1, "max_nodes": ENDLESS}) == ()
    assert problems("group", {"params": {"P": ENDLESS, "Q": nested(60)}}) == ()


@pytest.mark.parametrize(
    ("own", "value", "said"),
    [
        ({"pattern": "^(a+)+$"}, "a" * 50_000 + "!", "does not match"),
        ({"pattern": "^(a+)+$"}, "a" * 500_000, "too large"),
        ({"items": {"enum": [{"a": n} for n in range(9000)]}}, [{"a": 8999}] * 20_000, "too large"),
        ({"propertyNames": {"pattern": "^[a-z]"}}, {f"0{n}": 1 for n in range(8000)}, "does not match"),
        ({"items": {"type": "string"}}, [1] * 100_000, "(at 0)"),
        ({"maximum": 9}, ENDLESS, "JSON does not allow"),
        ({"maximum": 9}, math.inf, "JSON does not allow"),
        ({}, [math.nan], "JSON does not allow"),
        ({"type": "integer", "allOf": [{"$ref": "#"}]}, "x", "not of type"),
        ({"type": ["array", "string"], "items": {"allOf": [{"$ref": "#"}] * 5}}, nested(60), "not of types"),
        ({"enum": ["a"]}, "x" * 100_000, "... is not one of"),
        ({"enum": ["a"]}, "\x1b[2J\n", "is not one of"),
    ],
    ids=title,
)
def test_values_that_are_meant_to_keep_the_validator_busy(own: Any, value: Any, said: str) -> None:
    assert OwnSchema(own).refusal is None
    told = OwnSchema(own).problem(value)
    assert told is not None
    assert said in told
    assert len(told) < 250
    assert told.isprintable()


def doubling(levels: int) -> Any:
    parts = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}, {"$ref": f"#/$defs/d{n + 1}"}]}
        for n in range(levels)
    }
    return {"$defs": parts | {f"d{levels}": {"type": "integer"}}, "$ref": "#/$defs/d0"}


def clique(size: int) -> Any:
    def others(own: int) -> list[Any]:
        return [{"$ref": f"#/$defs/d{n}"} for n in range(size) if n != own]

    return {
        "$defs": {f"d{n}": {"type": "integer", "allOf": others(n)} for n in range(size)},
        "$ref": "#/$defs/d0",
    }


@pytest.mark.parametrize(
    ("own", "said"),
    [
        (doubling(40), "might not finish"),
        (clique(8), "might not finish"),
        ({"pattern": "(a{1,1000}){1,1000}"}, "too large"),
        ({"pattern": r"(a)\1"}, "look-around"),
        ({"minimum": ENDLESS}, "JSON does not allow"),
        ({"minimum": math.inf}, "JSON does not allow"),
        ({"enum": list(range(20_000))}, "might not finish"),
    ],
    ids=title,
)
def test_schemas_that_are_meant_to_keep_the_validator_busy(own: Any, said: str) -> None:
    told = OwnSchema(own).refusal
    assert told is not None
    assert said in told
    assert OwnSchema(own).problem(1) is None  # that the schema is wrong is told once


@pytest.mark.parametrize("key", ["$ref", "$dynamicRef", "$schema"])
@pytest.mark.parametrize(
    "where", ["http://127.0.0.1:9/x", "https://localhost/x#", "file:///etc/passwd", "x.json"]
)
def test_nothing_is_fetched(key: str, where: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("socket.socket.connect", lambda *given: pytest.fail("a connection"))
    for own in ({key: where}, {"items": {key: where}}, {"$defs": {"a": {key: where}}}, {"not": {key: where}}):
        assert OwnSchema(own).refusal is not None


def test_words_of_keywords_may_be_names_and_data() -> None:
    own = {"properties": {"$ref": {"enum": [{"$ref": "http://x/y"}]}, "$id": {"const": {"$schema": "x"}}}}
    assert OwnSchema(own).refusal is None
    assert OwnSchema(own).problem({"$ref": {"$ref": "http://x/y"}, "$id": 1}) is not None
