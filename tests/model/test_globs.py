"""Globs and legal names."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.model import GitcfgError
from gitcfg.model.names import HOST, NAME, PARAMETER, did_you_mean, find_host, glob, literals, selects, shown


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("*", "", True),
        ("A*", "A.B.C", True),
        ("A?C", "ABC", True),
        ("A?C", "AC", False),
        ("A.C", "ABC", False),
        ("A[1]", "A1", False),
        ("**A**", "xAx", True),
    ],
)
def test_globs(pattern: str, name: str, fits: bool) -> None:
    assert bool(glob(pattern).matches(name)) == fits


def test_a_hostile_glob_stays_linear() -> None:
    assert not glob("*a" * 30 + "b").matches("a" * 31)
    assert glob("*" * 100_000).matches("a" * 100_000)


def test_literals() -> None:
    assert literals("SLOT_*_?") == 6


@pytest.mark.parametrize(
    ("patterns", "names"),
    [
        (("*",), "ABC"),
        (("A", "B"), "AB"),
        (("*", "!A"), "BC"),
        (("!A", "!B"), "C"),
        (("A", "!A"), ""),
        ((), ""),
    ],
)
def test_selects(patterns: tuple[str, ...], names: str) -> None:
    assert "".join(name for name in "ABC" if selects(patterns, name)) == names


@pytest.mark.parametrize("name", ["exec001.example.com", "a", "1", "a-b.c", "a" * 63])
def test_host_names(name: str) -> None:
    assert HOST.fullmatch(name)


@pytest.mark.parametrize(
    "name", ["", "-a", "a-", "a..b", ".a", "a.", "a_b", "a b", "a" * 64, "a.b" * 100, "a\n"]
)
def test_what_is_no_host_name(name: str) -> None:
    assert not HOST.fullmatch(name)


def test_names() -> None:
    assert NAME.fullmatch("On-demand workers")
    assert not NAME.fullmatch("a\n")
    assert PARAMETER.fullmatch("STARTD.ST000.X-y_z")
    assert not PARAMETER.fullmatch("1A")


def test_hints() -> None:
    assert did_you_mean("ExecuteNodes", ["ExecuteNode", "SubmitNode"]) == "Did you mean ExecuteNode?"
    assert did_you_mean("START", ["start"]) == "Did you mean start?"
    assert did_you_mean("exec01", ["exec01.example.com", "login"]) == "Did you mean exec01.example.com?"
    assert did_you_mean("xyz", ["abc"]) == ""


def test_shown() -> None:
    assert shown("a\nb\x1b") == "a\\nb\\x1b"
    assert len(shown("x" * 1000)) == 60


@given(st.text("ab*?", max_size=8), st.text("ab", max_size=10))
def test_a_glob_is_the_regular_expression_that_it_means(pattern: str, name: str) -> None:
    meant = "".join(".*" if c == "*" else "." if c == "?" else c for c in pattern)
    assert glob(pattern).matches(name) == bool(re.fullmatch(meant, name))


def test_a_host_is_found_by_its_first_labels_if_no_other_has_them() -> None:
    hosts = ["a.example.com", "ab.example.com", "db.north.example.com", "db.south.example.com"]
    assert find_host("a", hosts) == find_host("a.example", hosts) == "a.example.com"
    assert find_host("db.south", hosts) == "db.south.example.com"
    assert find_host("x", hosts) is find_host("example.com", hosts) is None
    assert find_host("db", [*hosts, "db"]) == "db"
    with pytest.raises(GitcfgError, match="short for several nodes"):
        find_host("db", hosts)
