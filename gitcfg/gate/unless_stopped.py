"""What is told of a push where it may be that nobody knows what nodes have, before it or after."""

from collections.abc import Callable
from typing import TypeVar

from gitcfg.compile.selection import Stopped

T = TypeVar("T")


def unless_stopped(told: Callable[[], T]) -> T | None:
    """Something told beside findings; None where an expression came to no end, which these say themselves.

    A push that takes such an expression away must get through.
    """
    try:
        return told()
    except Stopped:
        return None
