"""Verdicts in a cache: all in one answer, for each by itself would be a file of its own."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice

from gitcfg.cache import Cache
from gitcfg.check.judge import Verdict, Verdicts

_QUESTION = "verdicts 1"
MOST = 1 << 16
"""Verdicts that are held: some 5 MB, and enough for the classes of most fleets."""


class CachedVerdicts:
    """Keeps the verdicts that came last. Their keys name all that they depend on."""

    def __init__(self, cache: Cache) -> None:
        self._cache = cache

    @cached_property
    def _known(self) -> dict[bytes, tuple[Verdict, ...]]:
        return self._cache.get(_QUESTION, dict[bytes, tuple[Verdict, ...]]) or {}

    def get(self, keys: Sequence[bytes]) -> Mapping[bytes, Verdicts]:
        """The verdicts that are there for these keys."""
        return {key: self._known[key] for key in keys if key in self._known}

    def put(self, found: Mapping[bytes, Verdicts]) -> None:
        """Keep verdicts, in place of the oldest if there are too many."""
        for key, verdicts in found.items():
            self._known.pop(key, None)
            self._known[key] = verdicts
        for key in list(islice(self._known, max(0, len(self._known) - MOST))):
            del self._known[key]
        self._cache.put(_QUESTION, self._known)
