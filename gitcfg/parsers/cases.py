"""Questions on their way to verdicts: each distinct one is asked once, with its values only where need be."""

from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count

from gitcfg.check.judge import Question, Verdict, Verdicts
from gitcfg.parsers import requests
from gitcfg.parsers.ends import Ends
from gitcfg.parsers.kept import Kept, version
from gitcfg.parsers.member import ALWAYS, Asked
from gitcfg.parsers.pool import Pool
from gitcfg.parsers.refusal import ended, refused
from gitcfg.parsers.there import There
from gitcfg.sandbox import GuardError

LARGEST = 16 << 20
_TOO_LARGE = Verdict(f"is larger than {LARGEST >> 20} MiB, too large to be judged", grave=False)
_PUT = 4096  # verdicts that are kept at once

Known = tuple[int, Verdicts | None]
"""The rank of the first question of a kind, and its verdicts; None: it has to be asked in full."""


class Case:
    """A question, and in the end its verdicts. `place` is the rank of the first question like it."""

    def __init__(self, question: Question, place: int) -> None:
        self.question, self.place, self.size = question, place, len(question.text)
        self.verdicts: Verdicts | None = None
        self.lasting: bytes | None = None


Asking = tuple[Case, bytes, bytes]  # with what its request is known by, and the request


class Cases:
    """Opens cases, which are settled as the pool goes on, and gives their verdicts."""

    def __init__(self, pool: Pool, ends: Ends, kept: Kept | None) -> None:
        self._pool, self._ends, self._kept = pool, ends, kept
        self._version = version() if kept is not None else b""
        self._places = count()
        self.there = There(pool)
        self._known: dict[bytes, Known] = {}
        self._under_way: dict[bytes, list[Case]] = {}
        self._lasting: dict[bytes, Verdicts] = {}
        self.asked = self.size = 0

    def open(self, questions: Sequence[Question]) -> list[Case]:
        """A case for each question."""
        cases = [Case(question, next(self._places)) for question in questions]
        firsts = [first for case in cases for first in self._first(case)]
        self._recall([(case, key) for case, key, _ in firsts])
        for case, key, request in firsts:
            self.size += case.size
            self._ask(case, key, request)
        return cases

    def verdicts(self, case: Case) -> Verdicts:
        """What is said of a settled case, whose turn it is: all before it are settled too."""
        if self._ends.before(case.place):
            return (self._ends.verdict,)
        assert case.verdicts is not None
        if case.lasting is not None:
            self._lasting[case.lasting] = case.verdicts
            if len(self._lasting) >= _PUT:
                self.keep()
        return case.verdicts

    def keep(self) -> None:
        """Hand what lasts to who keeps it."""
        if self._kept is not None and self._lasting:
            self._kept.put(self._lasting)
        self._lasting = {}

    def abandon(self) -> None:
        """Forget what is under way."""
        if self._under_way:
            self._pool.drop()
        self._under_way.clear()
        self.size = 0

    def _first(self, case: Case) -> Iterator[Asking]:
        """What to ask first about a case, and what that is known by."""
        if case.size > LARGEST:
            case.place, case.verdicts = ALWAYS, (_TOO_LARGE,)
            return
        try:
            yield self._quick(case) if case.question.plain and self._readable(case) else self._whole(case)
        except GuardError as error:  # no UTF-8
            case.place, case.verdicts = ALWAYS, (ended(error, case.question.format),)

    def _readable(self, case: Case) -> bool:
        return case.question.format == "condor" and self.there.condor and self.there.table

    def _quick(self, case: Case) -> Asking:
        request = requests.written(case.question.text)
        return case, requests.key(request, self._version), request

    def _whole(self, case: Case) -> Asking:
        request = requests.whole(case.question)
        return case, requests.key(request, self._version), request

    def _recall(self, firsts: list[tuple[Case, bytes]]) -> None:
        """Look up what was judged by an earlier run."""
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
            self.asked += 1
            self._pool.put(Asked(request, case.place, partial(self._answered, key)))

    def _answered(self, key: bytes, asked: Asked) -> None:
        cases = self._under_way.pop(key)
        first = cases[0]
        verdicts = self._verdicts(asked, first)
        self._known[key] = (first.place, verdicts)
        for case in cases:
            self._learn(case, first.place, verdicts)
        if verdicts is not None and asked.error is None:
            first.lasting = key

    def _verdicts(self, asked: Asked, first: Case) -> Verdicts | None:
        if asked.error is not None:
            return (self._epitaph(asked.error, first),)
        if isinstance(asked.answer, bool):
            return () if asked.answer else None
        return requests.verdicts(asked.answer or ())

    def _epitaph(self, error: GuardError, case: Case) -> Verdict:
        question = case.question
        refusal = refused(error, question.text, question.meant() if question.meant is not None else None)
        if refusal is None:
            self._ends.add(case.place)
        return refusal or ended(error, question.format)

    def _learn(self, case: Case, place: int, verdicts: Verdicts | None) -> None:
        if verdicts is None:
            _, key, request = self._whole(case)
            self._recall([(case, key)])
            self._ask(case, key, request)
        else:
            case.place, case.verdicts = place, verdicts
            self.size -= case.size
