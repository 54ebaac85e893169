"""One expression, asked in this process if it is cheap for certain, else in a guarded child."""

import math
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Self

import msgspec

from gitcfg.cel.budget import SECONDS, Budget
from gitcfg.cel.problem import CelProblem
from gitcfg.cel.variables import plain

if TYPE_CHECKING:
    from gitcfg.guard import Guard

LONGEST = 10_000
_BOUNDED = 1_000
_BOUNDED_OF_NODES = 200
"""Where it may read `nodes`, which are as large as all nodes: reading them once takes up to 0.4 s."""
_MEMORY_OF_NODES = 1 << 30
_BATCH = 100
"""Rows in one question to the child, all of them within its time."""


class Expression(msgspec.Struct, frozen=True):
    """A compiled expression. `names` are the variables that it reads; no other needs a value."""

    text: str
    names: frozenset[str]
    _variables: tuple[tuple[str, str], ...]
    _expression: Any
    """None if only the child may evaluate it: loops, `+` and regular expressions can be made costly."""
    _now: datetime | None = None
    _key: bool = False

    @classmethod
    def compiled(
        cls, text: str, variables: Mapping[str, str], now: datetime | None = None, key: bool = False
    ) -> Self:
        """An expression that is a condition, or a key. CelProblem: it cannot be one."""
        _judge_text(text)
        from gitcfg.cel.engine import compile_text, names_read

        declared = tuple(sorted(variables.items()))
        expression, bounded = None, len(text) <= _most(text)
        if bounded:
            try:
                expression = compile_text(text, declared, now, bounded=True, key=key)
            except CelProblem:
                bounded = False
        if not bounded:
            compile_text(text, declared, now, bounded=False, key=key)
        return cls(text, names_read(text, declared, now, bounded=bounded), declared, expression, now, key)

    def answers(self, rows: Sequence[Mapping[str, Any]], budget: Budget | None) -> list[Any]:
        """An answer or a CelProblem for each row. CelProblem: none could be had within the budget."""
        budget = budget or Budget()
        if self._expression is None and rows and self._child.pid is None:
            self._ask([], budget, math.inf)  # a child begins in 0.2 s, and on a busy machine in seconds
        with budget.spending() as until:
            if self._expression is None:
                return list(self._guarded(rows, budget, until))
            return list(self._here(rows, budget, until))

    @property
    def _child(self) -> "Guard":
        return _guard("nodes" in self.names)

    def _here(self, rows: Sequence[Mapping[str, Any]], budget: Budget, until: float) -> Iterator[Any]:
        from gitcfg.cel.engine import key_of, truth

        evaluate, expression, text, clock = (
            key_of if self._key else truth,
            self._expression,
            self.text,
            budget.clock,
        )
        for values in rows:
            yield evaluate(expression, text, values)
            if clock() > until:
                raise budget.over()

    def _guarded(self, rows: Sequence[Mapping[str, Any]], budget: Budget, until: float) -> Iterator[Any]:
        remaining = iter(rows)
        while batch := list(islice(remaining, _BATCH)):
            passed = [{name: plain(values[name]) for name in self.names} for values in batch]
            for answer in self._ask(passed, budget, until):
                yield _answer(answer) if len(answer) == 1 else CelProblem(*answer)

    def _ask(self, rows: list[dict[str, Any]], budget: Budget, until: float) -> list[Any]:
        from gitcfg.guard import GuardError

        left = until - budget.clock()
        if left <= 0:
            raise budget.over()
        request = {"text": self.text, "variables": self._variables, "now": self._now, "key": self._key}
        try:
            answers: list[Any] = self._child.request({**request, "rows": rows}, left)
        except GuardError as error:
            if budget.clock() >= until:
                raise budget.over() from error
            raise CelProblem(f"the expression {error.reason}") from error
        return answers


def _answer(answer: Sequence[Any]) -> Any:
    """As it was before it was sent, when a tuple became a list."""
    return tuple(answer[0]) if isinstance(answer[0], list) else answer[0]


def _most(text: str) -> int:
    return _BOUNDED_OF_NODES if "nodes" in text else _BOUNDED


def _judge_text(text: str) -> None:
    if len(text) > LONGEST:
        raise CelProblem(f"the expression is longer than {LONGEST:,} characters")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CelProblem("the expression holds half a character", column=error.start + 1) from None


@cache
def _guard(of_nodes: bool) -> "Guard":
    """The child; what reads `nodes` has one of its own, which may take as long as a rule may."""
    from gitcfg.guard import Guard, Limits

    limits = Limits(memory=_MEMORY_OF_NODES, cpu_seconds=SECONDS) if of_nodes else Limits()
    return Guard("gitcfg.cel.child", limits)
