"""Sets of names: ClusterShell's notation, without operators, within a budget."""

from typing import Any

import pytest
from ClusterShell import NodeSet as _NodeSet
from ClusterShell.NodeSet import RESOLVER_NOGROUP, NodeSet
from hypothesis import given
from hypothesis import strategies as st

from gitcfg import nodeset
from gitcfg.nodeset import LINE, NodeSetError, abridged, abridged_set, expand, fold

MANY = 100_000


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("a", ["a"]),
        ("a,b", ["a", "b"]),
        ("b,a,b", ["b", "a"]),
        ("n[1-3]", ["n1", "n2", "n3"]),
        ("n[01-03].example.com", ["n01.example.com", "n02.example.com", "n03.example.com"]),
        ("n[9-11]", ["n9", "n10", "n11"]),
        ("n[1-5/2]", ["n1", "n3", "n5"]),
        ("n[3,1]", ["n3", "n1"]),
        ("n[1-2]x[1-2]", ["n1x1", "n1x2", "n2x1", "n2x2"]),
        ("n1,n01", ["n1", "n01"]),
        (" a , b ", ["a", "b"]),
    ],
)
def test_expand(text: str, names: list[str]) -> None:
    assert list(expand(text, MANY)) == names


@pytest.mark.parametrize(
    "text",
    [
        *("", " ", "a,,b", ",", "@x", "a!b", "a&b", "a^b", "a*", "n[1-3", "n1-3]", "n[]", "n[a-b]", "n[3-1]"),
        *("n[1-3/0]", "n[01-3]", "n[08-100]", "n[[1]]", "a b", "n[1-2-3]", "n[-1]", "%s", "a\nb"),
    ],
)
def test_what_is_no_set(text: str) -> None:
    with pytest.raises(NodeSetError):
        expand(text, MANY)


@pytest.mark.parametrize("text", ["n[1-1000000000000]", "n[1-99999][1-99999]", "n[0-999999999999999999]" * 3])
def test_a_set_too_large_is_refused_before_it_is_expanded(text: str) -> None:
    with pytest.raises(NodeSetError, match="more than 100000"):
        expand(text, MANY)


def test_fold() -> None:
    assert fold(["n2", "n1", "n3", "login"]) == "login,n[1-3]"
    assert set(expand(fold(["n01", "n02", "n1"]), 9)) == {
        "n01",
        "n02",
        "n1",
    }
    assert fold([]) == ""


@given(
    st.sets(st.from_regex(r"[a-z]{1,2}[0-9]{0,3}(\.[a-z]{1,2})?", fullmatch=True), min_size=1, max_size=20)
)
def test_what_is_folded_expands_to_the_same(names: set[str]) -> None:
    assert set(expand(fold(names), MANY)) == names


@given(st.sets(st.from_regex(r"[a-b-]{0,1}[0-9]{0,2}(\.[ab]?)?", fullmatch=True).filter(bool), max_size=30))
def test_it_is_folded_as_the_library_does(names: set[str]) -> None:
    assert fold(names) == str(NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP))


@given(
    st.sets(st.from_regex(r"(a|net0[12])-?[a-b][0-9]{0,2}(/eth[0-9])?", fullmatch=True), max_size=6),
    st.sets(st.from_regex(r"n[0-9]{17,20}", fullmatch=True), max_size=2),
)
def test_names_with_several_numbers_are_folded_as_the_library_does(names: set[str], long: set[str]) -> None:
    names |= long
    assert fold(names) == str(NodeSet.fromlist(list(names), resolver=RESOLVER_NOGROUP))


@pytest.mark.parametrize(
    ("names", "loaded"),
    [
        (["net01-guest/eth0"], False),
        (["net01-a08/eth0", "net01-a09/eth0", "net01-a10/eth0"], False),
        (["net01-a1/eth0", "net02-a2/eth0"], True),
    ],
)
def test_only_names_that_differ_in_several_numbers_need_the_library(
    names: list[str], loaded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def library() -> Any:
        asked.append("")
        return _NodeSet

    monkeypatch.setattr(nodeset, "_library", library)
    assert set(expand(fold(names), MANY)) == set(names)
    assert bool(asked) == loaded


@given(
    st.sets(st.from_regex(r"(exec|r[0-9]n)[0-9]{1,4}(\.example\.com)?", fullmatch=True), max_size=200),
    st.sampled_from(["", "-o json lists all"]),
)
def test_what_is_abridged_is_a_line_and_counts_the_rest(names: set[str], see: str) -> None:
    line = abridged(names, see)
    shown, more, rest = line.partition(" and ")
    hidden = int(rest.split()[0].replace(",", "")) if more else 0
    assert len(line) <= LINE
    assert rest.removeprefix(f"{hidden:,} more") == (f" ({see})" if more and see else "")
    assert len(expand(shown, 1000) if shown else ()) + hidden == len(names)
    assert abridged_set(fold(names), len(names), see) == line


def test_many_names_are_cut_in_their_order() -> None:
    names = [f"exec{number:04}" for number in range(1, 4001, 2)]
    shown = ",".join(f"{number:04}" for number in range(1, 49, 2))
    assert abridged(names, "-o json lists all") == f"exec[{shown}] and 1,976 more (-o json lists all)"
    assert abridged(["x" * 200, "y"]) == f"{'x' * 200} and 1 more"
