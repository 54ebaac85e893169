"""What stands for words, numbers, addresses and ids: one for each, in order, in the shape of the original."""

import re
from ipaddress import IPv4Network, ip_address, ip_network

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.convert.sanitize.numbers import IdPseudonyms, NumberPseudonyms
from gitcfg.convert.sanitize.pseudonyms import Pseudonyms
from gitcfg.convert.sanitize.words import EVERYWHERE, WordPseudonyms
from gitcfg.load.keys import public_key, written
from gitcfg.model.names import glob
from tests.properties.runs import QUICK

KEY = b"a key of tests"
LETTERS = WordPseudonyms(KEY, EVERYWHERE)
NAMES = Pseudonyms(KEY)
WORDS = st.text("abcDE", min_size=1, max_size=8) | st.text(
    st.characters(categories=["L"]), min_size=1, max_size=4
)


@given(WORDS, WORDS)
def test_two_words_never_become_one(one: str, other: str) -> None:
    assert (LETTERS.replace(one) == LETTERS.replace(other)) == (one == other)


@given(st.text("abcdeXYZ", min_size=1, max_size=8))
def test_a_word_keeps_length_and_capitals(word: str) -> None:
    found = LETTERS.replace(word)
    assert [letter.isupper() for letter in found] == [letter.isupper() for letter in word]
    assert LETTERS.replace(word.lower()) == found.lower()


@given(st.text(st.characters(categories=["L"]), min_size=1, max_size=6))
def test_a_word_keeps_its_size_in_bytes(word: str) -> None:
    assert len(LETTERS.replace(word).encode()) == len(word.encode())


def test_words_of_the_format_stay_and_no_other_becomes_one() -> None:
    assert [LETTERS.replace(word) for word in sorted(EVERYWHERE)] == sorted(EVERYWHERE)
    two = [a + b for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz"]
    assert len({LETTERS.replace(word) for word in two}) == len(two)


@given(st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_numbers_keep_their_order(one: int, other: int) -> None:
    figures = NumberPseudonyms(KEY)
    new = int(figures.replace(str(one))), int(figures.replace(str(other)))
    assert (new[0] < new[1]) == (one < other)
    assert (new[0] == new[1]) == (one == other)


def test_numbers_of_four_digits_and_more_are_others_and_short_ones_stay() -> None:
    figures = NumberPseudonyms(KEY)
    assert [figures.replace(text) for text in ("0", "999", "-12", "017")] == ["0", "999", "-12", "017"]
    assert all(figures.replace(str(number)) != str(number) for number in range(1000, 1100))
    assert float(figures.replace("1024.5")) == int(figures.replace("1024")) + 0.5


def test_addresses_stay_addresses_of_their_networks() -> None:
    figures = NumberPseudonyms(KEY)
    one, other = figures.replace("10.0.3.17"), figures.replace("10.0.3.18/24")
    assert one.rpartition(".")[0] == other.rpartition(".")[0]
    assert other.endswith("/24")
    assert all(int(octet) < 256 for octet in one.split("."))
    assert one != "10.0.3.17"


@given(st.integers(0, 2**32 - 1), st.integers(0, 32), st.integers(0, 2**32 - 1))
def test_networks_stay_networks_and_hold_the_same_addresses(number: int, length: int, other: int) -> None:
    figures, net = NumberPseudonyms(KEY), ip_network((number, length), strict=False)
    assert isinstance(net, IPv4Network)
    became = ip_network(figures.replace(str(net)))
    for address in (net[0], net[-1], net[other % net.num_addresses], ip_address(other)):
        assert (ip_address(figures.replace(str(address))) in became) == (address in net)


def test_functions_stay_where_they_are_called() -> None:
    said = NAMES.replace_cel("size(node.facts.size) > 2 && sets.contains(node.labels, node.facts.sets)")
    size, sets = NAMES.replace_name("size"), NAMES.replace_name("sets")
    assert said == f"size(node.facts.{size}) > 2 && sets.contains(node.labels, node.facts.{sets})"
    assert {size, sets}.isdisjoint({"size", "sets"})


def test_names_keep_their_digits_within_values_too() -> None:
    host = "exec-2024.example.com"
    assert NAMES.replace_value(f"to {host} on 5000") == NAMES.replace_value(
        "to"
    ) + f" {NAMES.replace_name(host)} " + NAMES.replace_value("on 5000")
    assert re.search(r"-2024\.", NAMES.replace_name(host))
    assert NAMES.replace_name("exec[0001-9000].example.com").endswith(NAMES.replace_name("].example.com"))


def test_references_within_texts_stay_references() -> None:
    assert NAMES.replace_value("$(START) && ${as}_X ${with.slots}") == (
        f"$({NAMES.replace_name('START')}) && ${{as}}_{NAMES.replace_name('X')}"
        f" ${{with.{NAMES.replace_name('slots')}}}"
    )


@given(st.text("ABLOG_", min_size=1, max_size=6))
def test_globs_match_what_they_matched(name: str) -> None:
    names = Pseudonyms(KEY, joints={"log"})
    for pattern in ("A*", "AB*", "*_LOG", "*LOG", "A_*_B"):
        assert glob(names.replace_name(pattern)).matches(names.replace_name(name)) == glob(pattern).matches(
            name
        ), pattern


def test_prose_does_not_say_how_often_a_word_stands_there() -> None:
    said = NAMES.replace_prose("word word word default")
    assert len(set(said.split())) == 4
    assert "default" not in said
    assert said == NAMES.replace_prose("word word word default")


def test_kept_names_stay_with_their_words() -> None:
    names = Pseudonyms(KEY, frozenset({"START_TIME"}))
    assert names.replace_name("START_Time STARTD") == "START_Time " + names.replace_name("STARTD")


# Commits and public keys.

COMMITS = st.text("0123456789abcdef", min_size=7, max_size=32)


@QUICK
@given(COMMITS, COMMITS)
def test_commits_that_begin_alike_still_do(one: str, other: str) -> None:
    ids = IdPseudonyms(b"key")
    made = [ids.replace_commit(text) or "" for text in (one, one + other, one[:7])]
    assert all(re.fullmatch("[0-9a-f]+", text) for text in made)
    assert [len(text) for text in made] == [len(one), len(one + other), 7]
    assert made[0].startswith(made[2])
    assert (ids.replace_commit(one) == ids.replace_commit(other)) == (one == other)


@QUICK
@given(st.binary(min_size=32, max_size=32), st.binary(min_size=32, max_size=32))
def test_keys_are_keys(one: bytes, other: bytes) -> None:
    ids = IdPseudonyms(b"key")
    made = [ids.replace_public_key(written(key)) or "" for key in (one, other)]
    assert public_key(made[0]) not in (None, one)
    assert (made[0] == made[1]) == (one == other)
    assert made[0] != IdPseudonyms(b"another").replace_public_key(written(one))


def test_what_is_none_stays_none() -> None:
    ids = IdPseudonyms(b"key")
    assert ids.replace_commit("main") is None
    assert ids.replace_commit("3f2a") is None
    assert ids.replace_public_key("ssh-ed25519 AAAA") is None
