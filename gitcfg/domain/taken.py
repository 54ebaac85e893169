"""Values that are in use already, as one goes on to give them out."""

from bisect import bisect_right
from collections.abc import Iterable

from gitcfg.domain.codecs import CODECS
from gitcfg.domain.kinds import Kind
from gitcfg.domain.problem import DomainProblem


class Taken:
    """A growing set of values of one kind; looking for a free one takes no longer the more there are.

    It holds runs of values that follow each other: those that are given out from the least on are one run.
    """

    def __init__(self, kind: Kind, values: Iterable[object] = ()) -> None:
        self.kind = kind
        self._words: set[object] = set()
        self._firsts: list[int] = []
        self._lasts: list[int] = []
        for value in values:
            self.add(value)

    def add(self, value: object) -> None:
        """Takes a value, in any form it may be written in; what is no value of the kind takes nothing."""
        if self.kind is Kind.TEXT:
            self._words.update([value] if isinstance(value, str) else [])
            return
        try:
            self._take(CODECS[self.kind].number(value))
        except DomainProblem:
            return

    def _take(self, number: int) -> None:
        at = bisect_right(self._firsts, number)
        if at and number <= self._lasts[at - 1]:
            return
        before = at > 0 and self._lasts[at - 1] == number - 1
        behind = at < len(self._firsts) and self._firsts[at] == number + 1
        if before and behind:
            self._lasts[at - 1] = self._lasts.pop(at)
            del self._firsts[at]
        elif before:
            self._lasts[at - 1] = number
        elif behind:
            self._firsts[at] = number
        else:
            self._firsts.insert(at, number)
            self._lasts.insert(at, number)

    def free_from(self, number: int) -> int:
        """The least number from one on that no value has."""
        at = bisect_right(self._firsts, number)
        return max(number, self._lasts[at - 1] + 1) if at else number

    def __contains__(self, value: object) -> bool:
        if self.kind is Kind.TEXT:
            return value in self._words
        try:
            number = CODECS[self.kind].number(value)
        except DomainProblem:
            return False
        return self.free_from(number) != number
