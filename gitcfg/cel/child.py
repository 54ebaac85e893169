"""Costly expressions, inside the guarded child."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from gitcfg.cel.engine import compile_text, key_of, truth
from gitcfg.cel.environment import Variables
from gitcfg.cel.problem import CelProblem
from gitcfg.guard import serve


def answer(request: Mapping[str, Any]) -> list[tuple[Any, ...]]:
    """For each row of values the answer alone, or a problem's fields."""
    text, key = request["text"], request["key"]
    variables = tuple((name, kind) for name, kind in request["variables"])
    expression = _compiled(text, variables, request["now"], key)
    evaluate = key_of if key else truth
    outcomes = (evaluate(expression, text, values) for values in request["rows"])
    return [outcome.args if isinstance(outcome, CelProblem) else (outcome,) for outcome in outcomes]


@lru_cache(maxsize=64)
def _compiled(text: str, variables: Variables, now: datetime | None, key: bool) -> Any:
    return compile_text(text, variables, now, bounded=False, key=key)


if __name__ == "__main__":
    serve(answer)
