"""When a node counts as down, and when as up again."""

from hypothesis import given
from hypothesis import strategies as st

from gitcfg.runs.presence import Presence, beat, end_interval, is_reborn


def after(*beats: int) -> Presence:
    """The presence after intervals with so many beats."""
    presence = Presence()
    for number in beats:
        for _ in range(number):
            presence = beat(presence)
        presence = end_interval(presence)
    return presence


def test_silence_is_noticed_after_two_or_three_intervals() -> None:
    assert after(0).up
    assert after(0, 0).up
    assert not after(0, 0, 0).up
    assert after(*[1] * 100, 0).up
    assert not after(*[1] * 100, 0, 0).up


def test_a_lost_beat_is_forgiven() -> None:
    assert after(*[1, 1, 0] * 50).up
    assert after(1, 0, 1, 0, 1, 1).up


def test_it_is_up_again_after_two_beats() -> None:
    down = after(0, 0, 0)
    once = beat(down)
    assert not once.up
    twice = beat(once)
    assert twice.up
    assert twice.average == 1.2
    assert not beat(after(0, 0, 0, 1, 0)).up  # two beats that do not follow each other
    assert beat(end_interval(once)).up


@given(st.lists(st.integers(1, 3), max_size=50))
def test_a_node_that_beats_in_every_interval_is_never_down(beats: list[int]) -> None:
    assert after(*beats).up


@given(st.lists(st.integers(0, 3), max_size=50))
def test_a_node_that_is_silent_is_down_in_the_end(beats: list[int]) -> None:
    assert not after(*beats, *[0] * 8).up


def test_a_new_incarnation() -> None:
    assert not is_reborn(Presence(), "a")
    assert not is_reborn(Presence(incarnation="a"), "a")
    assert is_reborn(Presence(incarnation="a"), "b")
