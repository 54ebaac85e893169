"""Expressions with a budget of processor time: compiled once, evaluated for many nodes."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import contextmanager
from datetime import datetime
from enum import Enum
from functools import cache, lru_cache
from time import monotonic, thread_time
from typing import TYPE_CHECKING, Any, Self, TypeAlias, cast

import msgspec

from gitcfg.cel.base import CelProblem, CelStopped, plain

if TYPE_CHECKING:
    from gitcfg.sandbox import Guard

SECONDS = 2.0
"""The time for any expression, however few nodes it is evaluated for."""
EACH = 0.0002
"""The additional time for each node or instance. A plain condition takes 6 us, one in the child 10 us."""
ITEM = 0.000005
"""The additional time for each item of a node's values, which takes 0.2 to 0.7 us to pass and to read."""


class Budget:
    """A limit in seconds of processor time, not of the clock, so that a busy machine does not fail a rule.

    It grows with the number of nodes and items, so that a large fleet does not fail a reasonable expression.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = self.left = seconds
        self._message: str | None = None

    def grant(self, nodes: int, items: int = 0) -> float:
        """Add the time for this number of nodes and items, and return it.

        Raise CelStopped if the budget is already used up.
        """
        if self.left <= 0:
            raise self.over()
        more = nodes * EACH + items * ITEM
        self.left += more
        return more

    def spend(self, seconds: float) -> None:
        """Subtract seconds. Raise CelStopped if the budget is used up."""
        self.left -= seconds
        if self.left <= 0:
            raise self.over()

    @contextmanager
    def spending(self) -> Iterator[float]:
        """Subtract the time that this thread uses in the context.

        Yield the `thread_time` at which the budget is used up.
        """
        begun = thread_time()
        yield begun + self.left
        self.spend(thread_time() - begun)

    def over(self) -> CelStopped:
        """Return the error of an expression whose budget is used up."""
        most = f"{self.seconds:g} s of the processor's time, and {EACH * 1000:g} ms more for each node"
        return self.end(f"the expression takes more than {most}")

    def end(self, message: str) -> CelStopped:
        """Use up the budget, and return the error: for later calls too, that of the first call."""
        self.left = 0.0
        self._message = self._message or message
        return CelStopped(self._message, hint="loops in loops and long texts cost most")


# How many items an evaluation has to read.

Row = Mapping[str, Any]
GROUP = "nodes"


class Load(msgspec.Struct, frozen=True, gc=False):
    """A row of values with its weight. `items` is the number of items to read for it.

    `fresh` and `nodes` count the items and nodes that no row before has: rows about the same group share the
    list of its nodes.
    """

    row: Row
    items: int
    fresh: int
    nodes: int = 1


def loads(rows: Iterable[Row]) -> Iterator[Load]:
    """Yield the rows with their weights. Nested items do not count, except those of the nodes of a group."""
    groups: dict[int, int] = {}
    for row in rows:
        items = _items(row)
        group = row.get(GROUP)
        if group is None:
            yield Load(row, items, items)
        elif id(group) in groups:
            yield Load(row, items + groups[id(group)], items)
        else:
            within = groups[id(group)] = sum(1 + _items(node) for node in group)
            yield Load(row, items + within, items + within, 1 + len(group))


def batches(rows: Iterable[Row], most: int, items: int) -> Iterator[list[Load]]:
    """Yield the rows in batches of at most `most` rows, fewer if they exceed `items` items together."""
    batch: list[Load] = []
    weight = 0
    for load in loads(rows):
        if batch and (len(batch) >= most or weight + load.items > items):
            yield batch
            batch, weight = [], 0
        batch.append(load)
        weight += load.items
    if batch:
        yield batch


def _items(row: Row) -> int:
    return sum(
        len(value)
        for name, value in row.items()
        if name != GROUP and isinstance(value, Sized) and not isinstance(value, str)
    )


# An expression, evaluated in this process if it is certainly cheap, else in a guarded child.

LONGEST = 10_000
_CACHED = 16_384
"""The number of cached expressions, for later commits: 5 to 10 KiB each, and 60 us to compile."""
_BOUNDED = 1_000
_BOUNDED_OF_NODES = 200
"""For expressions that read `nodes`, which has all nodes of a group: reading it once takes up to 0.4 s."""
_MEMORY_OF_NODES = 1 << 30
_BATCH, _ITEMS = 100, 10_000
"""The limits of one request to the child: rows, and items to read, unless a single row has more."""
_SHORTEST = 0.001
_TO_READ = 60.0
"""Processor seconds for reading one request; after that the child sets the limit of its evaluation."""
_PATIENCE = 3600.0


class Expression(msgspec.Struct, frozen=True):
    """A compiled expression. `names` are the variables that it reads; others need no value."""

    text: str
    names: frozenset[str]
    checked: bytes
    """CEL's serialized form."""
    _variables: tuple[tuple[str, str], ...]
    _expression: Any
    """None if only the child may evaluate it: loops, `+` and regular expressions can be costly."""
    _now: datetime | None = None
    _key: bool = False

    @classmethod
    def compiled(
        cls, text: str, variables: Mapping[str, str], now: datetime | None = None, key: bool = False
    ) -> Self:
        """Return the compiled expression.

        Raise CelProblem if it is not a condition (with `key`: not a key).
        """
        return cast(Self, _compiled(cls, text, tuple(sorted(variables.items())), now, key))

    def answer(self, values: Row, budget: Budget | None) -> Any:
        """Return the answer for one row. Raise CelProblem if it has none."""
        (answer,) = self.answers([values], budget)
        if isinstance(answer, CelProblem):
            raise answer
        return answer

    def answers(self, rows: Sequence[Row], budget: Budget | None) -> list[Any]:
        """Return an answer or a CelProblem for each row. Raise CelStopped if the budget is used up before."""
        answered = self._guarded if self._expression is None else self._here
        return list(answered(rows, budget or Budget()))

    def _here(self, rows: Sequence[Row], budget: Budget) -> Iterator[Any]:
        from gitcfg.cel.engine import key_of, truth

        evaluate = key_of if self._key else truth
        budget.grant(len(rows))
        weighed = False
        with budget.spending() as until:
            soonest = monotonic() + budget.left  # the clock costs a tenth of `thread_time`
            for row in rows:
                yield evaluate(self._expression, self.text, row)
                if monotonic() > soonest and thread_time() > until:
                    if weighed:
                        raise budget.over()
                    until += sum(budget.grant(load.nodes - 1, load.fresh) for load in loads(rows))
                    weighed = True

    def _guarded(self, rows: Sequence[Row], budget: Budget) -> Iterator[Any]:
        for batch in batches(rows, _BATCH, _ITEMS):
            for load in batch:
                budget.grant(load.nodes, load.fresh)
            with budget.spending():
                passed = [{name: plain(load.row[name]) for name in self.names} for load in batch]
                answers = self._ask(passed, budget)
            for answer in answers:
                if len(answer) > 1:
                    yield CelProblem(*answer)
                else:  # the child's message has a list for a tuple
                    yield tuple(answer[0]) if isinstance(answer[0], list) else answer[0]

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


@lru_cache(maxsize=_CACHED)
def _compiled(
    kind: type[Expression], text: str, variables: tuple[tuple[str, str], ...], now: datetime | None, key: bool
) -> Expression:
    _check_text(text)
    from gitcfg.cel.engine import compile_text, names_read

    found, bounded = None, len(text) <= (_BOUNDED_OF_NODES if "nodes" in text else _BOUNDED)
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


def _check_text(text: str) -> None:
    if len(text) > LONGEST:
        raise CelProblem(f"the expression is longer than {LONGEST:,} characters")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise CelProblem("the expression has an incomplete character", column=error.start + 1) from None


@cache
def _guard(of_nodes: bool) -> "Guard":
    """Return the child. Expressions that read `nodes` have a child of their own, with more memory.

    Only processor time limits it; the limit of the clock is so high that it does not matter.
    """
    from gitcfg.sandbox import Guard, Limits

    memory = _MEMORY_OF_NODES if of_nodes else Limits().memory
    limits = Limits(memory=memory, cpu_seconds=_TO_READ, wall_seconds=_PATIENCE)
    return Guard("gitcfg.cel.child", limits)


# Conditions.


class Condition(Expression, frozen=True):
    """A compiled condition."""

    def holds(self, values: Row, budget: Budget | None = None) -> bool:
        """Return whether it holds for these values, by full names. Raise CelProblem if that is unknown."""
        return self.answer(values, budget) is True

    def holds_each(
        self, rows: Sequence[Row], budget: Budget | None = None
    ) -> tuple[list[bool], dict[int, CelProblem]]:
        """Return whether it holds for each row (False where unknown), and the problems by row.

        This is faster than a call for each row. Raise CelStopped if the evaluation does not finish.
        """
        answers = self.answers(rows, budget)
        return [answer is True for answer in answers], _find_problems(answers)


def _find_problems(answers: Iterable[Any]) -> dict[int, CelProblem]:
    return {row: answer for row, answer in enumerate(answers) if isinstance(answer, CelProblem)}


def compile_condition(text: str, variables: Mapping[str, str], now: datetime | None = None) -> Condition:
    """Return a condition on `variables`: a map from full names to types.

    Types are string, list(string), map, list(map), bool, int and timestamp. `now` is the time for age();
    without it there is no age(). Raise CelProblem if the text is not a condition.
    """
    return Condition.compiled(text, variables, now)


# Expressions whose result is a key: by which nodes are grouped, or in which they must differ.


class Truth(Enum):
    """A CEL bool in a key. In Python `True == 1`; in CEL a bool is equal only to itself."""

    FALSE = False
    TRUE = True


Key: TypeAlias = str | int | float | Truth | tuple[str | int | float | Truth, ...]
"""A CEL string, int, double or bool, or a list of them.

Keys are equal where CEL's values are: 1 and 1.0 are one key; 1, "1" and true are three.
"""


def as_key(answer: Any) -> Key:
    """Return an answer of CEL as a key."""
    if isinstance(answer, tuple):
        return tuple([Truth(part) if isinstance(part, bool) else part for part in answer])
    found: Key = Truth(answer) if isinstance(answer, bool) else answer
    return found


def plain_key(key: Key | None) -> Any:
    """Return a key as plain data for JSON."""
    if isinstance(key, tuple):
        return [plain_key(part) for part in key]
    return key.value if isinstance(key, Truth) else key


class KeyExpression(Expression, frozen=True):
    """A compiled key."""

    def key(self, values: Row, budget: Budget | None = None) -> Key:
        """Return the key of these values, by full names. Raise CelProblem if they have none."""
        return as_key(self.answer(values, budget))

    def keys_each(
        self, rows: Sequence[Row], budget: Budget | None = None
    ) -> tuple[list[Key | None], dict[int, CelProblem]]:
        """Return a key for each row (None where it has none), and the problems by row.

        This is faster than a call for each row. Raise CelStopped if the evaluation does not finish.
        """
        answers = self.answers(rows, budget)
        keys = [None if isinstance(answer, CelProblem) else as_key(answer) for answer in answers]
        return keys, _find_problems(answers)


def compile_key(text: str, variables: Mapping[str, str]) -> KeyExpression:
    """Return a key on `variables`, as `compile_condition` does. Raise CelProblem if the text is not a key."""
    return KeyExpression.compiled(text, variables, key=True)
