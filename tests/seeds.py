"""How many random repositories tests draw: few in daily runs, `TIMES=20 make test-all` for a long night."""

import os
from collections.abc import Iterable
from typing import Any

import pytest

TIMES = int(os.environ.get("TIMES", "1"))
_QUICK = 2


def many(start: int, count: int) -> range:
    """Seeds from one on; the first ones are the same in every run."""
    return range(start, start + count * TIMES)


def mostly_slow(seeds: Iterable[int]) -> list[Any]:
    """Seeds of a law, of which all but the first two are marked slow."""
    return [
        pytest.param(seed, marks=pytest.mark.slow if number >= _QUICK else ())
        for number, seed in enumerate(seeds)
    ]
