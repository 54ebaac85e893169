"""Targets' own parsers (GC307): which parser checks a text, and its verdicts."""

import contextlib
import os
from bisect import insort
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Sequence, Set
from functools import cached_property, partial
from itertools import count
from typing import Any

from gitcfg.check.target_parsers import Question, Verdict, Verdicts
from gitcfg.parsers import pool as requests
from gitcfg.parsers.child import condor as condor_text
from gitcfg.parsers.child.data import means
from gitcfg.parsers.child.htcondor import installed
from gitcfg.parsers.pool import ALWAYS, Pool, Request
from gitcfg.parsers.verdicts import VerdictCache, ended, refused, version
from gitcfg.sandbox import Closing, GuardError, Limits


class EndedParsers:
    """The ranks of questions that ended their parsers, which several children report in any order."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._places: list[int] = []

    def add(self, place: int) -> None:
        """Add the rank of a question that ended its parser."""
        insort(self._places, place)

    def before(self, place: int) -> bool:
        """Return whether too many earlier requests ended their parsers, so that this one is not made."""
        return len(self._places) >= self._most and place > self._places[self._most - 1]

    @property
    def verdict(self) -> Verdict:
        """The verdict on texts that are not checked."""
        return Verdict(f"is not checked, because {self._most} others ended their parsers", grave=False)


# Whether HTCondor's parser is installed and answers as expected.


class Libraries:
    """What children report about their libraries, requested at first use."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    @cached_property
    def condor(self) -> bool:
        """Return whether HTCondor's parser is installed and answers as expected."""
        return self._look("condor")

    @cached_property
    def table(self) -> bool:
        """Return whether it can write out what it read. A version that does this in another way may crash."""
        return self._look("table")

    def _look(self, wanted: str) -> bool:
        request = Request(requests.look(wanted), ALWAYS)
        self._pool.put(request)
        self._pool.flush()
        while not request.settled:
            self._pool.wait()
        return request.error is None and bool(request.answer)


# From questions to verdicts: each distinct question is asked once, with its values only where necessary.

LARGEST = 16 << 20
_TOO_LARGE = Verdict(f"is larger than {LARGEST >> 20} MiB, too large to be checked", grave=False)
_PUT = 4096  # verdicts that are cached at once

Known = tuple[int, Verdicts | None]
"""The rank of the first equal question, and its verdicts; None: the whole question must be asked."""


class Case:
    """A question, and later its verdicts. `place` is the rank of the first equal question."""

    def __init__(self, question: Question, place: int) -> None:
        self.question, self.place, self.size = question, place, len(question.text)
        self.verdicts: Verdicts | None = None
        self.lasting: bytes | None = None


Asking = tuple[Case, bytes, bytes]  # a case, the key of its request, and the request


class Cases:
    """Opens cases, which are settled as the pool answers, and returns their verdicts."""

    def __init__(self, pool: Pool, ends: EndedParsers, kept: VerdictCache | None) -> None:
        self._pool, self._ends, self._kept = pool, ends, kept
        self._version = version() if kept is not None else b""
        self._places = count()
        self.libraries = Libraries(pool)
        self._known: dict[bytes, Known] = {}
        self._under_way: dict[bytes, list[Case]] = {}
        self._lasting: dict[bytes, Verdicts] = {}
        self.count = self.size = 0

    def open(self, questions: Sequence[Question]) -> list[Case]:
        """Return a case for each question."""
        cases = [Case(question, next(self._places)) for question in questions]
        firsts = [first for case in cases for first in self._first(case)]
        self._recall([(case, key) for case, key, _ in firsts])
        for case, key, request in firsts:
            self.size += case.size
            self._ask(case, key, request)
        return cases

    def verdicts(self, case: Case) -> Verdicts:
        """Return the verdicts of a settled case. All cases before it must be settled too."""
        if self._ends.before(case.place):
            return (self._ends.verdict,)
        assert case.verdicts is not None
        if case.lasting is not None:
            self._lasting[case.lasting] = case.verdicts
            if len(self._lasting) >= _PUT:
                self.keep()
        return case.verdicts

    def keep(self) -> None:
        """Put lasting verdicts into the cache."""
        if self._kept is not None and self._lasting:
            self._kept.put(self._lasting)
        self._lasting = {}

    def abandon(self) -> None:
        """Drop all requests that are not answered."""
        if self._under_way:
            self._pool.drop()
        self._under_way.clear()
        self.size = 0

    def _first(self, case: Case) -> Iterator[Asking]:
        """Yield the first request for a case, with its key."""
        if case.size > LARGEST:
            case.place, case.verdicts = ALWAYS, (_TOO_LARGE,)
            return
        try:
            question = case.question
            if (
                question.plain
                and question.format == "condor"
                and self.libraries.condor
                and self.libraries.table
            ):
                request = requests.written(question.text)
                yield case, requests.key(request, self._version), request
            else:
                yield self._whole(case)
        except GuardError as error:  # it is not UTF-8
            case.place, case.verdicts = ALWAYS, (ended(error, case.question.format),)

    def _whole(self, case: Case) -> Asking:
        request = requests.whole(case.question)
        return case, requests.key(request, self._version), request

    def _recall(self, firsts: list[tuple[Case, bytes]]) -> None:
        """Look up verdicts of earlier runs."""
        wanted = {key: case for case, key in reversed(firsts) if key not in self._known}
        if self._kept is not None and wanted:
            for key, verdicts in self._kept.get(list(wanted)).items():
                self._known[key] = (wanted[key].place, verdicts)

    def _ask(self, case: Case, key: bytes, request: bytes) -> None:
        if key in self._known:
            self._learn(case, *self._known[key])
        elif key in self._under_way:
            self._under_way[key].append(case)
        else:
            self._under_way[key] = [case]
            self.count += 1
            self._pool.put(Request(request, case.place, partial(self._answered, key)))

    def _answered(self, key: bytes, request: Request) -> None:
        cases = self._under_way.pop(key)
        first = cases[0]
        verdicts = self._verdicts(request, first)
        self._known[key] = (first.place, verdicts)
        for case in cases:
            self._learn(case, first.place, verdicts)
        if verdicts is not None and request.error is None:
            first.lasting = key

    def _verdicts(self, request: Request, first: Case) -> Verdicts | None:
        if request.error is not None:
            question = first.question
            meant = question.meant() if question.meant is not None else None
            refusal = refused(request.error, question.text, meant)
            if refusal is None:
                self._ends.add(first.place)
            return (refusal or ended(request.error, question.format),)
        if isinstance(request.answer, bool):
            return () if request.answer else None
        return requests.verdicts(request.answer or ())

    def _learn(self, case: Case, place: int, verdicts: Verdicts | None) -> None:
        if verdicts is None:
            _, key, request = self._whole(case)
            self._recall([(case, key)])
            self._ask(case, key, request)
        else:
            case.place, case.verdicts = place, verdicts
            self.size -= case.size


# Lines that give the values themselves: for a text of such lines the only question is how it is read.


def plain(format: str, line: str, name: str, value: Any, separator: str | None) -> bool:
    """Return whether a line's text is its value. See `gitcfg.check.target_parsers.Judge`."""
    head = f"{name} ="
    if format != "condor" or not line.startswith(head) or line.find("\n") != len(line) - 1:
        return False
    text = line[len(head) : -1]
    if text and not text.startswith(" "):
        return False
    text = text[1:]
    # Values with macros are checked for cycles, and compared without what HTCondor replaces in them.
    if "$" in text and text != condor_text.write_text(name, value, {name: separator}):
        return False
    return means(text, value, separator)


# The parsers: each distinct text is checked once, in guarded child processes.

_OF_HTCONDOR = frozenset({"classad", "condor"})
_CHILD = "gitcfg.parsers.child"
_LIMITS = Limits(cpu_seconds=3.0, wall_seconds=30.0, file=2 * LARGEST)
_MOST_ENDS = 20
_MOST = 256  # questions that wait for the verdicts on earlier ones
_MOST_SIZE = 8 << 20  # characters of texts without verdicts
_TOGETHER = 16  # questions that are looked up at once
_TOGETHER_SIZE = 1 << 20


class Parsers(Closing):
    """The parsers for rendered files; close them at the end.

    `workers` children work at the same time (by default, as many as processors may be used). `kept` is the
    cache of verdicts between runs.
    """

    formats = frozenset({"classad", "condor", "ini", "json", "toml", "yaml"})
    plain = staticmethod(plain)

    def __init__(self, workers: int | None = None, kept: VerdictCache | None = None) -> None:
        ends = EndedParsers(_MOST_ENDS)
        workers = workers or len(os.sched_getaffinity(0))
        self._pool = Pool(_CHILD, _LIMITS, workers, lambda request: ends.before(request.place))
        self._cases = Cases(self._pool, ends, kept)

    @property
    def question_count(self) -> int:
        """The number of requests to parsers."""
        return self._cases.count

    def begin(self, formats: Set[str] = formats) -> None:
        """Start a child, if these formats need one; it loads its libraries while others work."""
        if not formats <= _OF_HTCONDOR or installed():
            with contextlib.suppress(GuardError):  # then the first request reports it
                self._pool.begin()

    def lacks(self, format: str) -> bool:
        """Return whether the format needs HTCondor's parser, and that is missing or not as expected."""
        return format in _OF_HTCONDOR and self._lacks_htcondor

    @cached_property
    def _lacks_htcondor(self) -> bool:
        return not (installed() and self._cases.libraries.condor)

    def judge(self, questions: Iterable[Question]) -> Generator[Verdicts, None, None]:
        """Yield the verdicts on each text, in order."""
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
    """Yield questions in lists that are looked up together."""
    some: list[Question] = []
    for question in questions:
        some.append(question)
        if len(some) >= _TOGETHER or sum(len(question.text) for question in some) > _TOGETHER_SIZE:
            yield some
            some = []
    yield some
