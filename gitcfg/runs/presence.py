"""Presence: whether a node's agent is up, from its beats alone.

A moving average forgives a lost beat and notices silence in two or three intervals. A closed connection
alone says nothing.
"""

import msgspec
from msgspec.structs import replace

_WINDOW = 4  # intervals: the weight of one is 1/4
_START = 1.2  # a little more than with a beat in every interval, so that a new node is not down at once
_DOWN = 0.6  # below it a node is down
_UP = 2  # the number of beats after which it is up again


class Presence(msgspec.Struct, frozen=True):
    """The beats of an agent: `heard` are those of the interval, `again` those since it was down."""

    average: float = _START
    up: bool = True
    heard: int = 0
    again: int = 0
    incarnation: str = ""


def beat(presence: Presence) -> Presence:
    """Return the presence after a beat."""
    if presence.up:
        return replace(presence, heard=presence.heard + 1)
    again = presence.again + 1
    if again < _UP:
        return replace(presence, again=again, heard=presence.heard + 1)
    return Presence(incarnation=presence.incarnation, heard=1)


def end_interval(presence: Presence) -> Presence:
    """Return the presence after an interval has passed."""
    average = presence.average * (1 - 1 / _WINDOW) + presence.heard / _WINDOW
    up = presence.up and average >= _DOWN
    again = presence.again if presence.heard and not up else 0
    return replace(presence, average=average, up=up, heard=0, again=again)


def is_reborn(presence: Presence, incarnation: str) -> bool:
    """Return whether an agent has another incarnation than before: its former processes have ended."""
    return presence.incarnation not in ("", incarnation)
