"""How many random repositories slow tests draw: few in daily runs, `TIMES=20 make test` for a long night."""

import os

TIMES = int(os.environ.get("TIMES", "1"))


def many(start: int, count: int) -> range:
    """Seeds from one on; the first ones are the same in every run."""
    return range(start, start + count * TIMES)
