"""What stands for words, numbers and addresses: one for each, in order, in the shape of the original."""

import re
from ipaddress import IPv4Network, ip_address, ip_network

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.convert.sanitize.figures import Figures
from gitcfg.convert.sanitize.letters import Letters
from gitcfg.convert.sanitize.pseudonyms import Pseudonyms
from gitcfg.convert.sanitize.words import EVERYWHERE
from gitcfg.model.names import glob

KEY = b"a key of tests"
LETTERS = Letters(KEY, EVERYWHERE)
NAMES = Pseudonyms(KEY)
WORDS = st.text("abcDE", min_size=1, max_size=8) | st.text(
    st.characters(categories=["L"]), min_size=1, max_size=4
)


@given(WORDS, WORDS)
def test_two_words_never_become_one(one: str, other: str) -> None:
    assert (LETTERS.word(one) == LETTERS.word(other)) == (one == other)


@given(st.text("abcdeXYZ", min_size=1, max_size=8))
def test_a_word_keeps_length_and_capitals(word: str) -> None:
    found = LETTERS.word(word)
    assert [letter.isupper() for letter in found] == [letter.isupper() for letter in word]
    assert LETTERS.word(word.lower()) == found.lower()


@given(st.text(st.characters(categories=["L"]), min_size=1, max_size=6))
def test_a_word_keeps_its_size_in_bytes(word: str) -> None:
    assert len(LETTERS.word(word).encode()) == len(word.encode())


def test_words_of_the_format_stay_and_no_other_becomes_one() -> None:
    assert [LETTERS.word(word) for word in sorted(EVERYWHERE)] == sorted(EVERYWHERE)
    two = [a + b for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz"]
    assert len({LETTERS.word(word) for word in two}) == len(two)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_numbers_keep_their_order(one: int, other: int) -> None:
    figures = Figures(KEY)
    new = int(figures.of(str(one))), int(figures.of(str(other)))
    assert (new[0] < new[1]) == (one < other)
    assert (new[0] == new[1]) == (one == other)


def test_numbers_of_four_digits_and_more_are_others_and_short_ones_stay() -> None:
    figures = Figures(KEY)
    assert [figures.of(text) for text in ("0", "999", "-12", "017")] == ["0", "999", "-12", "017"]
    assert all(figures.of(str(number)) != str(number) for number in range(1000, 1100))
    assert float(figures.of("1024.5")) == int(figures.of("1024")) + 0.5


def test_addresses_stay_addresses_of_their_networks() -> None:
    figures = Figures(KEY)
    one, other = figures.of("10.0.3.17"), figures.of("10.0.3.18/24")
    assert one.rpartition(".")[0] == other.rpartition(".")[0]
    assert other.endswith("/24")
    assert all(int(octet) < 256 for octet in one.split("."))
    assert one != "10.0.3.17"


@given(st.integers(0, 2**32 - 1), st.integers(0, 32), st.integers(0, 2**32 - 1))
def test_networks_stay_networks_and_hold_the_same_addresses(number: int, length: int, other: int) -> None:
    figures, net = Figures(KEY), ip_network((number, length), strict=False)
    assert isinstance(net, IPv4Network)
    became = ip_network(figures.of(str(net)))
    for address in (net[0], net[-1], net[other % net.num_addresses], ip_address(other)):
        assert (ip_address(figures.of(str(address))) in became) == (address in net)


def test_functions_stay_where_they_are_called() -> None:
    said = NAMES.cel("size(node.facts.size) > 2 && sets.contains(node.labels, node.facts.sets)")
    size, sets = NAMES.name("size"), NAMES.name("sets")
    assert said == f"size(node.facts.{size}) > 2 && sets.contains(node.labels, node.facts.{sets})"
    assert {size, sets}.isdisjoint({"size", "sets"})


def test_names_keep_their_digits_within_values_too() -> None:
    host = "exec-2024.example.com"
    assert NAMES.value(f"to {host} on 5000") == NAMES.value("to") + f" {NAMES.name(host)} " + NAMES.value(
        "on 5000"
    )
    assert re.search(r"-2024\.", NAMES.name(host))
    assert NAMES.name("exec[0001-9000].example.com").endswith(NAMES.name("].example.com"))


def test_references_within_texts_stay_references() -> None:
    assert NAMES.value("$(START) && ${as}_X ${with.slots}") == (
        f"$({NAMES.name('START')}) && ${{as}}_{NAMES.name('X')} ${{with.{NAMES.name('slots')}}}"
    )


@given(st.text("ABLOG_", min_size=1, max_size=6))
def test_globs_match_what_they_matched(name: str) -> None:
    names = Pseudonyms(KEY, joints={"log"})
    for pattern in ("A*", "AB*", "*_LOG", "*LOG", "A_*_B"):
        assert glob(names.name(pattern)).matches(names.name(name)) == glob(pattern).matches(name), pattern


def test_prose_does_not_say_how_often_a_word_stands_there() -> None:
    said = NAMES.prose("word word word default")
    assert len(set(said.split())) == 4
    assert "default" not in said
    assert said == NAMES.prose("word word word default")


def test_kept_names_stay_with_their_words() -> None:
    names = Pseudonyms(KEY, frozenset({"START_TIME"}))
    assert names.name("START_Time STARTD") == "START_Time " + names.name("STARTD")
