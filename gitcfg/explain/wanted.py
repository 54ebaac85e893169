"""The texts that a search is for."""

import re
from collections.abc import Iterable, Sequence

from gitcfg.model import GitcfgError


class Wanted:
    """Texts to be found, whatever the case of letters; a blank stands for any white space."""

    def __init__(self, texts: Sequence[str]) -> None:
        if not all(text.strip() for text in texts):
            raise GitcfgError("An empty text is found everywhere.", "Say what to search for.")
        sources = [r"\s+".join(map(re.escape, text.split())) for text in texts]
        self._each = [re.compile(source, re.IGNORECASE) for source in sources]
        self.pattern = re.compile("|".join(sources), re.IGNORECASE)
        self.all = frozenset(range(len(texts)))

    def held(self, *texts: str) -> frozenset[int]:
        """The numbers of those that are found in some of the texts."""
        return frozenset(
            number for number, pattern in enumerate(self._each) if any(pattern.search(text) for text in texts)
        )

    def spans(self, text: str) -> tuple[tuple[int, int], ...]:
        """Where any of them is found."""
        return tuple(match.span() for match in self.pattern.finditer(text))

    def may_hold(self, source: str) -> bool:
        """May a file's values hold one? Escapes might hide it."""
        return "\\" in source or "''" in source or self.pattern.search(source) is not None

    def among(self, names: Iterable[str]) -> tuple[str, ...]:
        """The names that hold one."""
        return tuple(name for name in names if self.pattern.search(name))
