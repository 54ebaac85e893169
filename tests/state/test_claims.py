"""Keys that git does not have: all that compete are kept, and no more than the limits let be."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from gitcfg.state.nodes import FORGOTTEN, Limits, PresentedKey, find_origin
from gitcfg.state.records import Checkin, OtherKey
from gitcfg.state.state import State, connect

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI"
LIMITS = Limits(most=6, each=3, seconds=100.0)


def ask(
    state: State, node: str, key: str, at: float, address: str = "10.0.0.1", described: bool = False
) -> bool:
    return state.claims.present(PresentedKey(node, KEY + key, at, address, described), LIMITS).fresh


def kept(state: State) -> set[tuple[str, str]]:
    return {(one.node, claim.key[len(KEY) :]) for one in state.checkins.nodes() for claim in one.claims}


def told(state: State, kind: str) -> list[str]:
    return [event.node for event in state.events.after(0) if event.kind == kind]


def test_all_keys_of_a_name_are_kept_with_when_and_from_where(state: State) -> None:
    assert ask(state, "n1", "one", 1.0)
    assert ask(state, "n1", "two", 2.0, "10.0.0.2")
    assert not ask(state, "n1", "one", 3.0, "10.0.0.3")
    found = state.checkins.node("n1")
    assert found is not None
    assert found.key == f"{KEY}one"
    assert [(one.key[len(KEY) :], one.first, one.at, one.address) for one in found.claims] == [
        ("one", 1.0, 3.0, "10.0.0.3"),
        ("two", 2.0, 2.0, "10.0.0.2"),
    ]
    assert (found.last, found.address) == (3.0, "10.0.0.3")
    assert state.checkins.named(["n1"]) == [found] == state.checkins.nodes()
    assert told(state, "pending") == ["n1", "n1"]


def test_of_an_address_the_oldest_goes_first(state: State) -> None:
    for number in range(3):
        ask(state, f"n{number}", "key", float(number))
    ask(state, "other", "key", 3.0, "10.0.0.2")
    ask(state, "n0", "key", 4.0)  # it goes on asking
    ask(state, "n3", "key", 5.0)
    assert {node for node, _ in kept(state)} == {"n0", "n2", "n3", "other"}
    assert state.checkins.node("n1") is None
    assert told(state, FORGOTTEN) == ["n1"]


def test_of_all_the_oldest_goes_first_and_described_ones_last(state: State) -> None:
    ask(state, "mine", "key", 1.0, "10.0.1.1", described=True)
    for number in range(10):
        ask(state, f"n{number}", "key", 2.0 + number, f"10.0.0.{number}")
    assert {node for node, _ in kept(state)} == {"mine", "n5", "n6", "n7", "n8", "n9"}
    for number in range(6):
        assert ask(state, f"mine{number}", "key", 20.0 + number, f"10.0.2.{number}", described=True)
    assert not ask(state, "n10", "key", 30.0, "10.0.3.1")  # there is no room, and nobody goes for it
    assert {node for node, _ in kept(state)} == {f"mine{number}" for number in range(6)}
    known = state.checkins.node("mine")  # what git describes stays one that came
    assert known is not None
    assert (known.key, known.claims) == ("", ())


def test_what_came_too_long_ago_goes_by_itself(state: State) -> None:
    ask(state, "old", "key", 1.0)
    ask(state, "n1", "gone", 1.0, "10.0.0.2")
    ask(state, "n1", "key", 90.0)
    assert set(state.claims.prune(110.0, LIMITS)) == {"old"}
    assert kept(state) == {("n1", "key")}
    known = state.checkins.node("n1")
    assert known is not None
    assert known.key == f"{KEY}key"
    ask(state, "n2", "key", 200.0)
    assert kept(state) == {("n2", "key")}


def test_what_git_has_by_now_waits_no_longer(state: State) -> None:
    ask(state, "n1", "right", 1.0)
    ask(state, "n1", "wrong", 2.0)
    state.claims.settle({"n1": f"{KEY}right", "n2": f"{KEY}right"})
    assert kept(state) == {("n1", "wrong")}
    state.checkins.record([Checkin("n1", 3.0, f"{KEY}right", commit="c")])
    state.claims.prune(500.0, LIMITS)
    found = state.checkins.node("n1")
    assert found is not None
    assert (found.key, found.commit, found.claims) == (f"{KEY}right", "c", ())
    ask(state, "n1", "again", 500.5)
    state.forget(["n1"], 501.0)
    assert kept(state) == set()


def test_other_keys_of_a_node_that_git_knows_are_all_kept(state: State) -> None:
    state.checkins.record([Checkin("n1", 1.0, "own", commit="c")])
    for number in range(5):
        said = OtherKey(f"k{number}", 2.0 + number, f"10.0.0.{number}")
        state.claims.other("n1", "own", said, LIMITS)
    found = state.checkins.node("n1")
    assert found is not None
    assert [one.key for one in found.claims] == ["k0", "k1", "k2", "k3", "k4"]
    assert (found.other, found.key, found.last) == (OtherKey("k4", 6.0, "10.0.0.4"), "own", 1.0)


def test_servers_that_are_asked_at_once_keep_to_the_limits_together(url: str, state: State) -> None:
    states = [connect(url) for _ in range(4)]

    def flood(part: int) -> int:
        asked = ((number, f"10.0.{part}.{number % 4}") for number in range(15))
        return sum(ask(states[part], f"n{number}", f"k{part}", number, address) for number, address in asked)

    try:
        with ThreadPoolExecutor(4) as pool:
            assert sum(pool.map(flood, range(4))) >= LIMITS.most
    finally:
        for one in states:
            one.close()
    found = kept(state)
    assert len(found) == LIMITS.most
    assert {one.node for one in state.checkins.nodes()} == {node for node, _ in found}


@pytest.mark.parametrize(
    ("address", "origin"),
    [
        ("10.0.0.1", "10.0.0.1"),
        ("::ffff:10.0.0.1", "10.0.0.1"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8:0:0:ffff::2", "2001:db8::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("", ""),
        ("unix:", "unix:"),
    ],
)
def test_who_has_a_network_counts_as_one(address: str, origin: str) -> None:
    assert find_origin(address) == origin
