"""Random choices that several parts of a repository make alike."""

from collections.abc import Iterator
from math import isqrt
from random import Random
from typing import TypeVar

from gitcfg.generate.options import Options

T = TypeVar("T")


def random_part(options: Options, *part: object) -> Random:
    """The randomness of one part: it depends on the seed and the part's name, on no other part."""
    return Random("/".join(map(str, (options.seed, *part))))


def sample(rng: Random, things: tuple[T, ...], count: int) -> list[T]:
    """So many different ones, or all if there are fewer."""
    return rng.sample(things, min(count, len(things)))


def sample_pairs(rng: Random, size: int, count: int) -> Iterator[tuple[int, int]]:
    """Different pairs (high, low) of numbers below a size, as many as asked for if there are so many."""
    total = size * (size - 1) // 2
    for rank in sorted(rng.sample(range(total), min(count, total))):
        high = (1 + isqrt(1 + 8 * rank)) // 2
        yield high, rank - high * (high - 1) // 2
