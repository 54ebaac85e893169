"""Documents: values beside their places."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.load import yaml
from gitcfg.load.document import parse
from gitcfg.load.yaml import resolve


def test_every_key_and_value_has_a_place() -> None:
    document = parse("f.yaml", b"a: 017\nb:\n  c: [x, TRUE]\n  d: {e: null}\n")
    assert document.findings == []
    assert document.value == {"a": 17, "b": {"c": ["x", True], "d": {"e": None}}}
    assert str(document.at("a")) == "f.yaml:1:4"
    assert str(document.key("b", "c")) == "f.yaml:3:3"
    assert str(document.at("b", "c", 1)) == "f.yaml:3:10"
    assert str(document.at("b", "d", "e")) == "f.yaml:4:10"
    assert document.mark.values["a"].text == "017"
    below = document.mark.values["b"].values["c"]
    assert [item.text for item in below.items] == [None, "TRUE"]


def test_what_is_not_there_is_placed_at_the_nearest_that_is() -> None:
    document = parse("f.yaml", b"a:\n  b: 1\n")
    assert str(document.at("a", "x", "y")) == "f.yaml:2:3"
    assert str(document.key("a", "x")) == "f.yaml:2:3"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("017", 17),
        ("0o17", 15),
        ("0x1F", 31),
        ("-3", -3),
        ("+3", 3),
        ("1_000", "1_000"),
        ("1.10", 1.1),
        (".5", 0.5),
        ("5.", 5.0),
        ("1e3", 1000.0),
        ("1e", "1e"),
        (".", "."),
        ("no", "no"),
        ("on", "on"),
        ("TRUE", True),
        ("tRUE", "tRUE"),
        ("~", None),
        ("NULL", None),
        ("nULL", "nULL"),
        ("2027-01-15", "2027-01-15"),
        ("12:30", "12:30"),
        ("-", "-"),
        ("0b1", "0b1"),
        ("=", "="),
    ],
)
def test_plain_scalars_are_those_of_yaml_1_2(text: str, value: Any) -> None:
    assert resolve(text) == value
    assert type(resolve(text)) is type(value)


@pytest.mark.parametrize("text", ["9" * 4001, "0x" + "f" * 4000, "0o" + "7" * 5000])
def test_an_integer_that_nothing_could_print_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="digits"):
        resolve(text)


plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.text(), plain, max_size=4))
def test_what_is_dumped_reads_back(value: dict[str, Any]) -> None:
    document = parse("f.yaml", yaml.dump(value).encode("utf-8", "surrogatepass"))
    assert document.value == value or _odd(value)


def _odd(value: Any) -> bool:
    """Text that YAML has no way to hold."""
    if isinstance(value, str):
        return any("\ud800" <= character <= "\udfff" for character in value)
    items = [*value, *value.values()] if isinstance(value, dict) else value if isinstance(value, list) else []
    return any(map(_odd, items))
