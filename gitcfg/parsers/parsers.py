"""Asks targets' own parsers about texts: each distinct one once, in guarded child processes."""

import contextlib
import os
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Set
from functools import cached_property

from gitcfg.check.judge import Question, Verdicts
from gitcfg.parsers.cases import LARGEST, Case, Cases
from gitcfg.parsers.child.htcondor import installed
from gitcfg.parsers.ends import Ends
from gitcfg.parsers.kept import Kept
from gitcfg.parsers.plain import plain
from gitcfg.parsers.pool import Pool
from gitcfg.sandbox import Closing, GuardError, Limits

_OF_HTCONDOR = frozenset({"classad", "condor"})
_CHILD = "gitcfg.parsers.child"
_LIMITS = Limits(cpu_seconds=3.0, wall_seconds=30.0, file=2 * LARGEST)
_MOST_ENDS = 20
_MOST = 256  # questions that wait for the verdicts on earlier ones
_MOST_SIZE = 8 << 20  # of the texts that are not judged yet
_TOGETHER = 16  # questions that are looked up at once
_TOGETHER_SIZE = 1 << 20


class Parsers(Closing):
    """Parsers for what is rendered; close them at the end.

    `workers` children judge at the same time (as many as processors may be used, unless told), `kept` is
    what keeps verdicts from one run to the next.
    """

    formats = frozenset({"classad", "condor", "ini", "json", "toml", "yaml"})
    plain = staticmethod(plain)

    def __init__(self, workers: int | None = None, kept: Kept | None = None) -> None:
        ends = Ends(_MOST_ENDS)
        workers = workers or len(os.sched_getaffinity(0))
        self._pool = Pool(_CHILD, _LIMITS, workers, lambda asked: ends.before(asked.place))
        self._cases = Cases(self._pool, ends, kept)

    @property
    def asked(self) -> int:
        """Questions that parsers were asked."""
        return self._cases.asked

    def begin(self, formats: Set[str] = formats) -> None:
        """Start a child, if one is of use for these formats; it loads what it needs while others work."""
        if not formats <= _OF_HTCONDOR or installed():
            with contextlib.suppress(GuardError):  # then the first question says so
                self._pool.begin()

    def lacks(self, format: str) -> bool:
        """Is it HTCondor's parser, and not installed, or not one that answers as expected?"""
        return format in _OF_HTCONDOR and self._lacks_htcondor

    @cached_property
    def _lacks_htcondor(self) -> bool:
        return not (installed() and self._cases.there.condor)

    def judge(self, questions: Iterable[Question]) -> Generator[Verdicts, None, None]:
        """What is wrong with each text, in order."""
        waiting: deque[Case] = deque()
        try:
            for some in _some(questions):
                waiting += self._cases.open(some)
                self._pool.move()
                yield from self._settled(waiting)
                while self._pool.full or len(waiting) > _MOST or self._cases.size > _MOST_SIZE:
                    self._pool.wait()
                    yield from self._settled(waiting)
            while waiting:
                self._pool.flush()
                self._pool.wait()
                yield from self._settled(waiting)
        finally:
            self._cases.keep()
            self._cases.abandon()

    def _settled(self, waiting: deque[Case]) -> Iterator[Verdicts]:
        while waiting and waiting[0].verdicts is not None:
            yield self._cases.verdicts(waiting.popleft())

    def close(self) -> None:
        """End the children."""
        self._pool.close()


def _some(questions: Iterable[Question]) -> Iterator[list[Question]]:
    """Questions that are looked up together."""
    some: list[Question] = []
    for question in questions:
        some.append(question)
        if len(some) >= _TOGETHER or sum(len(question.text) for question in some) > _TOGETHER_SIZE:
            yield some
            some = []
    yield some
