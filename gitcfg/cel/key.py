"""Expressions whose answer is a key: what things are grouped by, or must differ in."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from gitcfg.cel.budget import Budget
from gitcfg.cel.expression import Expression
from gitcfg.cel.problem import CelProblem

Key: TypeAlias = str | int | float | bool | tuple[str | int | float | bool, ...]
"""What a CEL string, int, double, bool or a list of them is here. 1 and 1.0 are one key, as in CEL."""


class KeyExpression(Expression, frozen=True):
    """A compiled key."""

    def key(self, values: Mapping[str, Any], budget: Budget | None = None) -> Key:
        """The key of these values (by whole names). CelProblem: they have none."""
        (answer,) = self.answers([values], budget)
        if isinstance(answer, CelProblem):
            raise answer
        found: Key = answer
        return found

    def keys_each(
        self, rows: Sequence[Mapping[str, Any]], budget: Budget | None = None
    ) -> tuple[list[Key | None], dict[int, CelProblem]]:
        """The same for many, faster: a key for each (None where there is none), and problems by row.

        CelProblem: it was stopped, and nothing can be said of any row.
        """
        answers = self.answers(rows, budget)
        problems = {row: answer for row, answer in enumerate(answers) if isinstance(answer, CelProblem)}
        return [None if isinstance(answer, CelProblem) else answer for answer in answers], problems


def compile_key(text: str, variables: Mapping[str, str]) -> KeyExpression:
    """A key on `variables`, as of `compile_condition`. CelProblem: it cannot be one."""
    return KeyExpression.compiled(text, variables, key=True)
