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
"""To begin with: what a rule may take that is asked of hardly anything."""
EACH = 0.0002
"""More for each node or instance that is asked about: a plain condition takes 6 us, one in the child 10."""
ITEM = 0.000005
"""More for each item of what is known of it, which takes 0.2 to 0.7 us to hand over and look at."""


class Budget:
    """Seconds of the processor's time, never of the clock: whether a rule may stand does not depend on how
    busy a machine is. They grow with what is asked, so that no fleet is too large for an honest expression.
    """

    def __init__(self, seconds: float = SECONDS) -> None:
        self.seconds = self.left = seconds
        self._message: str | None = None

    def grant(self, nodes: int, items: int = 0) -> float:
        """Add what so many nodes and items may take, and return it. CelStopped: it is used up already."""
        if self.left <= 0:
            raise self.over()
        more = nodes * EACH + items * ITEM
        self.left += more
        return more

    def spend(self, seconds: float) -> None:
        """Take seconds away. CelStopped: it is used up."""
        self.left -= seconds
        if self.left <= 0:
            raise self.over()

    @contextmanager
    def spending(self) -> Iterator[float]:
        """Take away what this thread takes meanwhile; give the `thread_time` at which that is too much."""
        begun = thread_time()
        yield begun + self.left
        self.spend(thread_time() - begun)

    def over(self) -> CelStopped:
        """Return the error of an expression that has no time left."""
        most = f"{self.seconds:g} s of the processor's time, and {EACH * 1000:g} ms more for each node"
        return self.end(f"the expression takes more than {most}")

    def end(self, message: str) -> CelStopped:
        """Take all that is left, and return the error: always that of the first end."""
        self.left = 0.0
        self._message = self._message or message
        return CelStopped(self._message, hint="loops in loops and long texts cost most")


# How much there is to read of what an expression is asked about.

Row = Mapping[str, Any]
GROUP = "nodes"


class Load(msgspec.Struct, frozen=True, gc=False):
    """A row of values. `items` is what has to be read for it; of that, `fresh` and `nodes` are there for the
    first time: rows about the same group of nodes share the list of these.
    """

    row: Row
    items: int
    fresh: int
    nodes: int = 1


def loads(rows: Iterable[Row]) -> Iterator[Load]:
    """Yield the rows, weighed. What lies within items counts for nothing, but for nodes in a group."""
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
    """Yield the rows by so many at most, and fewer where there is much to read for each."""
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


# One expression, evaluated in this process if it is cheap for certain, else in a guarded child.

LONGEST = 10_000
_CACHED = 16_384
"""Expressions, which each commit may need again: 5 to 10 KiB each, and 60 us to compile."""
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
        """Return an expression that is a condition, or a key. CelProblem: it cannot be one."""
        return cast(Self, _compiled(cls, text, tuple(sorted(variables.items())), now, key))

    def answer(self, values: Row, budget: Budget | None) -> Any:
        """Return the answer for one row. Raise CelProblem if there is none."""
        (answer,) = self.answers([values], budget)
        if isinstance(answer, CelProblem):
            raise answer
        return answer

    def answers(self, rows: Sequence[Row], budget: Budget | None) -> list[Any]:
        """Return an answer or a CelProblem for each row. CelStopped: there is none within the budget."""
        answered = self._guarded if self._expression is None else self._here
        return list(answered(rows, budget or Budget()))

    def _here(self, rows: Sequence[Row], budget: Budget) -> Iterator[Any]:
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
                else:  # a tuple was sent as a list
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
    """Return the child; what reads `nodes` has one of its own, with more room.

    It waits for nothing but the processor, so that nothing depends on patience.
    """
    from gitcfg.sandbox import Guard, Limits

    memory = _MEMORY_OF_NODES if of_nodes else Limits().memory
    limits = Limits(memory=memory, cpu_seconds=_TO_READ, wall_seconds=_PATIENCE)
    return Guard("gitcfg.cel.child", limits)


# Expressions that hold or do not.


class Condition(Expression, frozen=True):
    """A compiled condition."""

    def holds(self, values: Row, budget: Budget | None = None) -> bool:
        """Return whether it holds for these values, by whole names. Raise CelProblem if that is unknown."""
        return self.answer(values, budget) is True

    def holds_each(
        self, rows: Sequence[Row], budget: Budget | None = None
    ) -> tuple[list[bool], dict[int, CelProblem]]:
        """Return the same for many, faster: an answer for each (False where there is none), problems by row.

        CelStopped: nothing can be said of any row.
        """
        answers = self.answers(rows, budget)
        return [answer is True for answer in answers], _find_problems(answers)


def _find_problems(answers: Iterable[Any]) -> dict[int, CelProblem]:
    return {row: answer for row, answer in enumerate(answers) if isinstance(answer, CelProblem)}


def compile_condition(text: str, variables: Mapping[str, str], now: datetime | None = None) -> Condition:
    """Return a condition on `variables`: whole names to string, list(string), map, list(map), bool, int,
    timestamp.

    `now` is what age() counts from; without it there is no age(). CelProblem: it cannot be one.
    """
    return Condition.compiled(text, variables, now)


# Expressions whose answer is a key: what things are grouped by, or must differ in.


class Truth(Enum):
    """A CEL bool in a key: in Python `True == 1`, and in CEL it is equal to nothing but itself."""

    FALSE = False
    TRUE = True


Key: TypeAlias = str | int | float | Truth | tuple[str | int | float | Truth, ...]
"""What a CEL string, int, double, bool or a list of them is here.

Two are equal where CEL has them equal: 1 and 1.0 are one key, 1, "1" and true are three.
"""


def as_key(answer: Any) -> Key:
    """Return what CEL answers, as a key."""
    if isinstance(answer, tuple):
        return tuple([Truth(part) if isinstance(part, bool) else part for part in answer])
    found: Key = Truth(answer) if isinstance(answer, bool) else answer
    return found


def plain_key(key: Key | None) -> Any:
    """Return a key as JSON has it."""
    if isinstance(key, tuple):
        return [plain_key(part) for part in key]
    return key.value if isinstance(key, Truth) else key


class KeyExpression(Expression, frozen=True):
    """A compiled key."""

    def key(self, values: Row, budget: Budget | None = None) -> Key:
        """Return the key of these values (by whole names). CelProblem: they have none."""
        return as_key(self.answer(values, budget))

    def keys_each(
        self, rows: Sequence[Row], budget: Budget | None = None
    ) -> tuple[list[Key | None], dict[int, CelProblem]]:
        """Return the same for many, faster: a key for each (None where there is none), and problems by row.

        CelStopped: nothing can be said of any row.
        """
        answers = self.answers(rows, budget)
        keys = [None if isinstance(answer, CelProblem) else as_key(answer) for answer in answers]
        return keys, _find_problems(answers)


def compile_key(text: str, variables: Mapping[str, str]) -> KeyExpression:
    """Return a key on `variables`, as of `compile_condition`. CelProblem: it cannot be one."""
    return KeyExpression.compiled(text, variables, key=True)
