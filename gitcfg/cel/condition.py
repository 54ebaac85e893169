"""One condition, asked in this process if it is cheap for certain, else in a guarded child."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any

import msgspec

from gitcfg.cel.problem import CelProblem
from gitcfg.cel.variables import plain

if TYPE_CHECKING:
    from gitcfg.guard import Guard

LONGEST = 10_000
_BOUNDED = 1_000
_BATCH = 100
"""Rows in one question to the child, all of them within its time."""


class Condition(msgspec.Struct, frozen=True):
    """A compiled expression. `names` are the variables that it reads; no other needs a value."""

    text: str
    names: frozenset[str]
    _variables: tuple[tuple[str, str], ...]
    _expression: Any
    """None if only the child may evaluate it: loops, `+` and regular expressions can be made costly."""
    _now: datetime | None = None

    def holds(self, values: Mapping[str, Any]) -> bool:
        """Does it hold for these values (by whole names)? CelProblem if that cannot be said."""
        answer = next(self._answers([values]))
        if isinstance(answer, CelProblem):
            raise answer
        return answer

    def holds_each(self, rows: Sequence[Mapping[str, Any]]) -> tuple[list[bool], dict[int, CelProblem]]:
        """The same for many, faster: an answer for each (False where there is none), and problems by row."""
        answers = list(self._answers(rows))
        problems = {row: answer for row, answer in enumerate(answers) if isinstance(answer, CelProblem)}
        return [answer is True for answer in answers], problems

    def _answers(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[bool | CelProblem]:
        if self._expression is None:
            return self._guarded(rows)
        from gitcfg.cel.engine import evaluate

        return (evaluate(self._expression, self.text, values) for values in rows)

    def _guarded(self, rows: Sequence[Mapping[str, Any]]) -> Iterator[bool | CelProblem]:
        remaining = iter(rows)
        while batch := list(islice(remaining, _BATCH)):
            passed = [{name: plain(values[name]) for name in self.names} for values in batch]
            for answer in self._ask(passed):
                yield answer if isinstance(answer, bool) else CelProblem(*answer)

    def _ask(self, rows: list[dict[str, Any]]) -> list[Any]:
        from gitcfg.guard import GuardError

        request = {"text": self.text, "variables": self._variables, "now": self._now, "rows": rows}
        try:
            answers: list[Any] = _guard().request(request)
        except GuardError as error:
            raise CelProblem(f"the expression {error.reason}") from error
        return answers


def compile_condition(text: str, variables: Mapping[str, str], now: datetime | None = None) -> Condition:
    """A condition on `variables`, whole names to string, list(string), map, bool, int or timestamp.

    `now` is what age() counts from; without it there is no age(). CelProblem: it cannot be one.
    """
    _judge_text(text)
    from gitcfg.cel.engine import compile_text, names_read

    declared = tuple(sorted(variables.items()))
    try:
        expression = compile_text(text, declared, now, bounded=True) if len(text) <= _BOUNDED else None
    except CelProblem:
        expression = None
    bounded = expression is not None
    if not bounded:
        compile_text(text, declared, now, bounded=False)
    return Condition(text, names_read(text, declared, now, bounded=bounded), declared, expression, now)


def _judge_text(text: str) -> None:
    if len(text) > LONGEST:
        raise CelProblem(f"the expression is longer than {LONGEST:,} characters")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CelProblem("the expression holds half a character", column=error.start + 1) from None


@cache
def _guard() -> "Guard":
    from gitcfg.guard import Guard

    return Guard("gitcfg.cel.child")
