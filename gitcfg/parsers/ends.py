"""How many texts have ended their parsers: using up time or memory is costly, so there is an end to it."""

from bisect import insort

from gitcfg.check.judge import Verdict


class Ends:
    """Ends by the rank of the question, which several children find in any order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places: list[int] = []

    def add(self, place: int) -> None:
        """One more."""
        insort(self._places, place)

    def before(self, place: int) -> bool:
        """Are there too many before that question, so that nobody looks at it?"""
        return len(self._places) >= self._most and place > self._places[self._most - 1]

    @property
    def verdict(self) -> Verdict:
        """What is said of those that nobody looks at."""
        return Verdict(f"is not judged, for {self._most} others have ended their parsers", grave=False)
