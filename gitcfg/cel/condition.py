"""Expressions that hold or do not."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from gitcfg.cel.budget import Budget
from gitcfg.cel.expression import Expression
from gitcfg.cel.problem import CelProblem


class Condition(Expression, frozen=True):
    """A compiled condition."""

    def holds(self, values: Mapping[str, Any], budget: Budget | None = None) -> bool:
        """Does it hold for these values (by whole names)? CelProblem if that cannot be said."""
        (answer,) = self.answers([values], budget)
        if isinstance(answer, CelProblem):
            raise answer
        return answer is True

    def holds_each(
        self, rows: Sequence[Mapping[str, Any]], budget: Budget | None = None
    ) -> tuple[list[bool], dict[int, CelProblem]]:
        """The same for many, faster: an answer for each (False where there is none), and problems by row.

        CelStopped: nothing can be said of any row.
        """
        answers = self.answers(rows, budget)
        problems = {row: answer for row, answer in enumerate(answers) if isinstance(answer, CelProblem)}
        return [answer is True for answer in answers], problems


def compile_condition(text: str, variables: Mapping[str, str], now: datetime | None = None) -> Condition:
    """A condition on `variables`, whole names to string, list(string), map, list(map), bool, int, timestamp.

    `now` is what age() counts from; without it there is no age(). CelProblem: it cannot be one.
    """
    return Condition.compiled(text, variables, now)
