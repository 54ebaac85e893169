"""Costly conditions, inside the guarded child."""

from collections.abc import Mapping
from datetime import datetime
from functools import lru_cache
from typing import Any

from gitcfg.cel.engine import Variables, compile_text, evaluate
from gitcfg.guard import serve


def answer(request: Mapping[str, Any]) -> list[bool | tuple[Any, ...]]:
    """For each row of values true, false, or a problem's fields."""
    text = request["text"]
    variables = tuple((name, kind) for name, kind in request["variables"])
    expression = _compiled(text, variables, request["now"])
    outcomes = (evaluate(expression, text, values) for values in request["rows"])
    return [outcome if isinstance(outcome, bool) else outcome.args for outcome in outcomes]


@lru_cache(maxsize=64)
def _compiled(text: str, variables: Variables, now: datetime | None) -> Any:
    return compile_text(text, variables, now, bounded=False)


if __name__ == "__main__":
    serve(answer)
