"""JSON, YAML and TOML are read back as what was meant, by readers that are not ours."""

import json
import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.load.document import parse
from gitcfg.render.formats import formats
from tests.reference import yaml12

NAMES = st.lists(
    st.sampled_from(["a", "b", "c-d", "_1", "a.b", "on", "null", "1e3", ""]), min_size=1, max_size=3
).map(".".join)
# Words that some version of YAML reads as something else than text, and pieces that are easy to get wrong.
ODD = """
null ~ true No on y = << 017 0o17 0x1F 1_000 1:30 1.5 1e3 .5 .inf -.INF .nan 2001-01-01
# - ? : | > & * ! % @ ` --- ...
"""
TEXTS = st.one_of(
    st.text(),
    st.sampled_from(ODD.split()),
    st.lists(
        st.sampled_from([*"\n\t\r\0 #:'\"\\a-é", "\u2028", "\x85", "\ufeff", "\U0001f600", *ODD.split()])
    ).map("".join),
)
SCALARS = st.one_of(
    TEXTS, st.integers(), st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans(), st.none()
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXTS, inner), max_leaves=8)
PARAMS = st.dictionaries(NAMES, VALUES, max_size=6)


def fit(format: str, values: dict[str, Any]) -> dict[str, Any]:
    """The values without those that the format refuses; the rest it takes."""
    refused = {name for unfit in formats()[format].unfit(values, {}) for name in unfit.subjects}
    left = {name: value for name, value in values.items() if name not in refused}
    assert list(formats()[format].unfit(left, {})) == []
    return left


def meant(values: dict[str, Any]) -> dict[str, Any]:
    """Dotted names as maps in maps."""
    result: dict[str, Any] = {}
    for name, value in values.items():
        place = result
        *folders, key = name.split(".")
        for folder in folders:
            place = place.setdefault(folder, {})
        place[key] = value
    return result


def same(one: Any, other: Any) -> bool:
    """Equal, and of the same types all through."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


def written(format: str, values: dict[str, Any]) -> tuple[str, dict[str, Any]]:
    left = {name: value for name, value in fit(format, values).items() if value is not None}
    text = formats()[format].write(left, {})
    assert text == formats()[format].write(dict(reversed(left.items())), {})
    assert text == "" or text.endswith("\n")
    return text, meant(left)


@given(PARAMS)
def test_json(values: dict[str, Any]) -> None:
    text, expected = written("json", values)
    assert same(json.loads(text), expected)


@given(PARAMS)
def test_toml(values: dict[str, Any]) -> None:
    text, expected = written("toml", values)
    assert same(tomllib.loads(text), expected)


@given(PARAMS)
def test_yaml_for_readers_of_1_1(values: dict[str, Any]) -> None:
    text, expected = written("yaml", values)
    assert same(yaml.safe_load(text), expected)


@given(PARAMS)
def test_yaml_for_readers_of_1_2(values: dict[str, Any]) -> None:
    text, expected = written("yaml", values)
    assert same(_plain(yaml12.read(text)), expected)


@given(PARAMS)
def test_yaml_for_gitcfg_itself(values: dict[str, Any]) -> None:
    text, expected = written("yaml", values)
    document = parse("params.yaml", text.encode())
    assert document.findings == []
    assert same(document.value, expected)


def _plain(raw: Any) -> Any:
    if isinstance(raw, yaml12.Plain):
        return raw.value
    if isinstance(raw, dict):
        return {key: _plain(value) for key, value in raw.items()}
    return [_plain(item) for item in raw] if isinstance(raw, list) else raw


@pytest.mark.parametrize("format", ["json", "yaml", "toml"])
def test_bare_parameters_are_left_out(format: str) -> None:
    assert formats()[format].write({"a": 1, "b": None, "c.d": None}, {}) == formats()[format].write(
        {"a": 1}, {}
    )
