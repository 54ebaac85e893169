"""The child process that evaluates costly expressions."""

from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from time import process_time
from typing import Any

from gitcfg.cel.base import CelProblem
from gitcfg.cel.engine import Variables, compile_text, key_of, truth
from gitcfg.sandbox import allow, serve


def answer(request: Mapping[str, Any]) -> dict[str, Any]:
    """Return the answer for each row of values, or a problem's fields, and the processor time in seconds.

    The sandbox ends this process if the evaluation takes longer than `seconds` of the request.
    """
    allow(request["seconds"])
    begun = process_time()
    answers = list(_answers(request))
    return {"answers": answers, "seconds": process_time() - begun}


def _answers(request: Mapping[str, Any]) -> Iterator[tuple[Any, ...]]:
    text, key = request["text"], request["key"]
    variables = tuple((name, kind) for name, kind in request["variables"])
    expression = _compiled(text, variables, request["now"], key)
    evaluate = key_of if key else truth
    for values in request["rows"]:
        outcome = evaluate(expression, text, values)
        yield outcome.args if isinstance(outcome, CelProblem) else (outcome,)


@lru_cache(maxsize=64)
def _compiled(text: str, variables: Variables, now: datetime | None, key: bool) -> Any:
    return compile_text(text, variables, now, bounded=False, key=key)


if __name__ == "__main__":
    serve(answer)
