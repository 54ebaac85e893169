"""Nothing between an agent and its server can change, repeat, drop or make up a message."""

import math

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given
from hypothesis import strategies as st

from gitcfg.agent.channel import MOST, Keys, Opening, Receiver, Sender, derive_keys
from gitcfg.agent.errors import Untrusted

AGENT, SERVER = (X25519PrivateKey.from_private_bytes(bytes([number]) * 32) for number in (1, 2))
OPENING = Opening(
    "n1.example.com",
    "boot-1",
    AGENT.public_key().public_bytes_raw(),
    "https://config.example.com",
    "serve-1",
    SERVER.public_key().public_bytes_raw(),
)


def keys(opening: Opening = OPENING) -> Keys:
    return derive_keys(opening, AGENT, opening.server_ephemeral)


def test_both_sides_have_the_same_keys_one_for_each_direction() -> None:
    assert derive_keys(OPENING, SERVER, OPENING.node_ephemeral) == keys()
    assert keys().to_node != keys().to_server


@pytest.mark.parametrize(
    "opening",
    [
        OPENING._replace(node="other"),
        OPENING._replace(node_incarnation="other"),
        OPENING._replace(server="other"),
        OPENING._replace(server_incarnation="other"),
    ],
)
def test_another_opening_has_other_keys(opening: Opening) -> None:
    assert keys(opening) != keys()


def test_no_part_of_an_opening_runs_into_the_next_one() -> None:
    one = OPENING._replace(node="ab", node_incarnation="c").to_bytes()
    assert one != OPENING._replace(node="a", node_incarnation="bc").to_bytes()


@pytest.mark.parametrize("other", [b"", b"short", bytes(32), bytes([1]) + bytes(31), bytes(33)])
def test_a_key_that_gives_the_same_secret_to_all_is_refused(other: bytes) -> None:
    with pytest.raises(Untrusted, match="ephemeral key is not valid"):
        derive_keys(OPENING, AGENT, other)


@given(st.lists(st.binary(max_size=100), max_size=5))
def test_messages_arrive_as_they_were_sent(payloads: list[bytes]) -> None:
    sender, receiver = Sender(keys().to_server), Receiver(keys().to_server)
    assert [receiver.open(sender.seal(payload, 1.0), 2.0) for payload in payloads] == payloads


@given(st.binary(max_size=60), st.data())
def test_a_changed_message_is_refused(payload: bytes, data: st.DataObject) -> None:
    sealed = bytearray(Sender(keys().to_server).seal(payload, 1.0))
    place = data.draw(st.integers(0, len(sealed) - 1))
    sealed[place] ^= data.draw(st.integers(1, 255))
    with pytest.raises(Untrusted, match="changed"):
        Receiver(keys().to_server).open(bytes(sealed), 1.0)


@given(st.permutations(range(4)), st.integers(1, 4))
def test_only_the_next_message_is_taken(order: list[int], many: int) -> None:
    """Reordered, repeated or dropped: the first message that is not the next one closes the channel."""
    sender, receiver = Sender(keys().to_node), Receiver(keys().to_node)
    sent = [sender.seal(bytes([number]), 1.0) for number in range(4)]
    for due, number in enumerate(order[:many]):
        if number == due:
            assert receiver.open(sent[number], 1.0) == bytes([number])
        else:
            with pytest.raises(Untrusted, match="missing, or came twice"):
                receiver.open(sent[number], 1.0)
            return


def test_a_message_that_is_sent_back_is_refused() -> None:
    sealed = Sender(keys().to_server).seal(b"x", 1.0)
    with pytest.raises(Untrusted):
        Receiver(keys().to_node).open(sealed, 1.0)


@pytest.mark.parametrize("time", [-300.1, 300.1, math.inf, math.nan])
def test_a_message_of_another_time_is_ignored_and_the_next_one_is_not(time: float) -> None:
    sender, receiver = Sender(keys().to_server), Receiver(keys().to_server)
    assert receiver.open(sender.seal(b"x", time), 0.0) is None
    assert receiver.open(sender.seal(b"y", 300.0), 0.0) == b"y"


@pytest.mark.parametrize("size", [0, 15, 31])
def test_a_message_that_is_too_short_is_refused(size: int) -> None:
    with pytest.raises(Untrusted, match="length"):
        Receiver(keys().to_server).open(bytes(size), 0.0)


def test_a_message_that_is_too_long_is_refused() -> None:
    sealed = Sender(keys().to_server).seal(bytes(MOST + 1), 0.0)
    with pytest.raises(Untrusted, match="length"):
        Receiver(keys().to_server).open(sealed, 0.0)
