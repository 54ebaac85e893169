"""Whether HTCondor's parser is there, and one that answers as expected."""

from functools import cached_property

from gitcfg.parsers import requests
from gitcfg.parsers.member import ALWAYS, Asked
from gitcfg.parsers.pool import Pool


class There:
    """Asks children about their libraries, when it is first wanted to be known."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @cached_property
    def condor(self) -> bool:
        """Is HTCondor's parser installed, and one that answers as expected?"""
        return self._look("condor")

    @cached_property
    def table(self) -> bool:
        """Does it write out what it read? One that does it otherwise may die of being asked."""
        return self._look("table")

    def _look(self, wanted: str) -> bool:
        asked = Asked(requests.look(wanted), ALWAYS)
        self._pool.put(asked)
        self._pool.flush()
        while not asked.settled:
            self._pool.wait()
        return asked.error is None and bool(asked.answer)
