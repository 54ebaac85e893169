"""Values as text on one line, for the formats that know nothing else."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from gitcfg.compile import lists
from gitcfg.render.formats.format import Unfit

_ELSEWHERE = "Write it to a file of format json, yaml or toml."
_ONE_LINE = "Put it on one line, or write it to a file of format json, yaml or toml."
_BREAKS = (("\n", "a line break"), ("\r", "a carriage return"), ("\0", "a NUL character"))

Problem = tuple[str, str]  # what is wrong with a value, and what to do


def text_of(value: Any, separator: str | None, true: str = "true", false: str = "false") -> str:
    """A value as text; a list by its separator."""
    if isinstance(value, list):
        return lists.join([_scalar(item, true, false) for item in value], separator)
    return _scalar(value, true, false)


def _scalar(value: Any, true: str, false: str) -> str:
    if isinstance(value, bool):
        return true if value else false
    return value if isinstance(value, str) else repr(value)


def unfit_value(
    name: str, value: Any, separator: str | None, trimmed: Callable[[str], str] = str
) -> Iterator[Unfit]:
    """What one line cannot carry; `trimmed` is what the format's reader makes of a text."""
    problem = _list_problem(value, separator) if isinstance(value, list) else _plain_problem(value)
    text = "" if problem else text_of(value, separator)
    problem = problem or _text_problem(text, trimmed)
    if problem:
        reason, hint = problem
        yield Unfit("GC309", (name,), f"{name} {reason}.", hint)


def _plain_problem(value: Any) -> Problem | None:
    if isinstance(value, dict):
        return "is a map", _ELSEWHERE
    if isinstance(value, float) and not math.isfinite(value):
        return "is no finite number", ""
    return None


def _list_problem(items: Sequence[Any], separator: str | None) -> Problem | None:
    if any(item is None or isinstance(item, dict | list) for item in items):
        return "holds an item that is no plain value", _ELSEWHERE
    if any(_plain_problem(item) for item in items):
        return "holds an item that is no finite number", ""
    odd = lists.unfit([_scalar(item, "true", "false") for item in items], separator)
    if odd is None:
        return None
    shown = odd if len(odd) <= 60 else odd[:57] + "..."
    return (
        f"holds the item {shown!r}, which would not be read back as one item",
        "Put it in quotes, or split it.",
    )


def _text_problem(text: str, trimmed: Callable[[str], str]) -> Problem | None:
    for character, words in _BREAKS:
        if character in text:
            return f"holds {words}", _ONE_LINE
    if text.endswith("\\"):
        return "ends with a backslash", "A backslash there would take the next line in. Take it away."
    if trimmed(text) != text:
        return "begins or ends with a blank", "It would be lost: take it away."
    return None
