"""One expression, asked in this process if it is cheap for certain, else in a guarded child."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache, lru_cache
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any, Self, cast

import msgspec

from gitcfg.cel.budget import Budget
from gitcfg.cel.load import batches, loads
from gitcfg.cel.problem import CelProblem
from gitcfg.cel.variables import plain

if TYPE_CHECKING:
    from gitcfg.sandbox import Guard

LONGEST = 10_000
_KEPT = 16_384
"""Expressions, which may be asked for anew with each commit: 5 to 10 KiB each, and 60 us to compile."""
_BOUNDED = 1_000
_BOUNDED_OF_NODES = 200
"""Where it may read `nodes`, which are as large as all nodes: reading them once takes up to 0.4 s."""
_MEMORY_OF_NODES = 1 << 30
_BATCH, _ITEMS = 100, 10_000
"""Rows in one question to the child, and what there is to read for them, unless one alone has more."""
_SHORTEST = 0.001
_TO_READ = 60.0
"""For a question alone; from then on the child says itself what it may take."""
_PATIENCE = 3600.0


class Expression(msgspec.Struct, frozen=True):
    """A compiled expression. `names` are the variables that it reads; no other needs a value."""

    text: str
    names: frozenset[str]
    checked: bytes
    """As CEL serializes it."""
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
        return cast(Self, _compiled(cls, text, tuple(sorted(variables.items())), now, key))

    def answers(self, rows: Sequence[Mapping[str, Any]], budget: Budget | None) -> list[Any]:
        """An answer or a CelProblem for each row. CelStopped: there is none within the budget."""
        answered = self._guarded if self._expression is None else self._here
        return list(answered(rows, budget or Budget()))

    def _here(self, rows: Sequence[Mapping[str, Any]], budget: Budget) -> Iterator[Any]:
        from gitcfg.cel.engine import key_of, truth

        evaluate = key_of if self._key else truth
        budget.grant(len(rows))
        weighed = False
        with budget.spending() as until:
            soonest = monotonic() + budget.left  # the clock is a tenth of the cost
            for row in rows:
                yield evaluate(self._expression, self.text, row)
                if monotonic() > soonest and thread_time() > until:
                    if weighed:
                        raise budget.over()
                    until += sum(budget.grant(load.nodes - 1, load.fresh) for load in loads(rows))
                    weighed = True

    def _guarded(self, rows: Sequence[Mapping[str, Any]], budget: Budget) -> Iterator[Any]:
        for batch in batches(rows, _BATCH, _ITEMS):
            for load in batch:
                budget.grant(load.nodes, load.fresh)
            with budget.spending():
                passed = [{name: plain(load.row[name]) for name in self.names} for load in batch]
                answers = self._ask(passed, budget)
            for answer in answers:
                yield _answer(answer) if len(answer) == 1 else CelProblem(*answer)

    def _ask(self, rows: list[dict[str, Any]], budget: Budget) -> list[Any]:
        from gitcfg.sandbox import GuardError, TimeUp

        seconds = max(budget.left, _SHORTEST)
        request = {"text": self.text, "variables": self._variables, "now": self._now, "key": self._key}
        try:
            answered = _guard("nodes" in self.names).request({**request, "rows": rows, "seconds": seconds})
        except TimeUp as error:
            raise budget.over() from error
        except GuardError as error:
            raise budget.end(f"the expression {error.reason}") from error
        budget.spend(answered["seconds"])
        answers: list[Any] = answered["answers"]
        return answers


@lru_cache(maxsize=_KEPT)
def _compiled(
    kind: type[Expression], text: str, variables: tuple[tuple[str, str], ...], now: datetime | None, key: bool
) -> Expression:
    _judge_text(text)
    from gitcfg.cel.engine import compile_text, names_read

    found, bounded = None, len(text) <= _most(text)
    if bounded:
        try:
            found = compile_text(text, variables, now, bounded=True, key=key)
        except CelProblem:
            bounded = False
    if found is None:
        found = compile_text(text, variables, now, bounded=False, key=key)
    checked = found.serialize()
    names = names_read(checked, text, variables, now, bounded=bounded)
    return kind(text, names, checked, variables, found if bounded else None, now, key)


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
    """The child; what reads `nodes` has one of its own, with more room.

    It waits for nothing but the processor, so that nothing depends on patience.
    """
    from gitcfg.sandbox import Guard, Limits

    memory = _MEMORY_OF_NODES if of_nodes else Limits().memory
    limits = Limits(memory=memory, cpu_seconds=_TO_READ, wall_seconds=_PATIENCE)
    return Guard("gitcfg.cel.child", limits)
