"""Expressions whose answer is a key: what things are grouped by, or must differ in."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, TypeAlias

from gitcfg.cel.budget import Budget
from gitcfg.cel.expression import Expression
from gitcfg.cel.problem import CelProblem


class Truth(Enum):
    """A CEL bool in a key: in Python `True == 1`, and in CEL it is equal to nothing but itself."""

    FALSE = False
    TRUE = True


Key: TypeAlias = str | int | float | Truth | tuple[str | int | float | Truth, ...]
"""What a CEL string, int, double, bool or a list of them is here.

Two are equal where CEL has them equal: 1 and 1.0 are one key, 1, "1" and true are three.
"""


def as_key(answer: Any) -> Key:
    """What CEL answers, as a key."""
    if isinstance(answer, tuple):
        return tuple([Truth(part) if isinstance(part, bool) else part for part in answer])
    found: Key = Truth(answer) if isinstance(answer, bool) else answer
    return found


def plain_key(key: Key | None) -> Any:
    """A key as JSON has it, for who reads it."""
    if isinstance(key, tuple):
        return [plain_key(part) for part in key]
    return key.value if isinstance(key, Truth) else key


class KeyExpression(Expression, frozen=True):
    """A compiled key."""

    def key(self, values: Mapping[str, Any], budget: Budget | None = None) -> Key:
        """The key of these values (by whole names). CelProblem: they have none."""
        (answer,) = self.answers([values], budget)
        if isinstance(answer, CelProblem):
            raise answer
        return as_key(answer)

    def keys_each(
        self, rows: Sequence[Mapping[str, Any]], budget: Budget | None = None
    ) -> tuple[list[Key | None], dict[int, CelProblem]]:
        """The same for many, faster: a key for each (None where there is none), and problems by row.

        CelStopped: nothing can be said of any row.
        """
        answers = self.answers(rows, budget)
        problems = {row: answer for row, answer in enumerate(answers) if isinstance(answer, CelProblem)}
        return [None if isinstance(answer, CelProblem) else as_key(answer) for answer in answers], problems


def compile_key(text: str, variables: Mapping[str, str]) -> KeyExpression:
    """A key on `variables`, as of `compile_condition`. CelProblem: it cannot be one."""
    return KeyExpression.compiled(text, variables, key=True)
