"""Names in expressions that stand for nothing, and what may be meant."""

import re
from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from gitcfg.cel.functions import FUNCTIONS
from gitcfg.cel.problem import CelProblem, sentence

MEANT = {"and": "&&", "or": "||", "not": "!", "=": "=="}
_FUNCTIONS = (
    *("all", "exists", "exists_one", "filter", "map", "has", "size", "contains", "startsWith", "endsWith"),
    *("matches", "int", "double", "string", "bool", "timestamp", "duration", "type"),
    *("join", "split", "replace", "trim", "substring", "indexOf", "lowerAscii", "upperAscii", "format"),
    *("distinct", "sort", "slice", "flatten", "reverse"),
    *("sets.contains", "sets.equivalent", "sets.intersects", "lists.range", "math.greatest", "math.least"),
    *(function.name for function in FUNCTIONS),
)
_FAMILIES = ("sets", "lists", "math")
_TAKES = {each.name: f"write {each.name}({', '.join(each.parameters)})" for each in FUNCTIONS}


def unknown_name(name: str, text: str, line: int, column: int, variables: Sequence[str]) -> CelProblem:
    """A name that stands for nothing, and the one that may be meant."""
    start = _start(name, text, line, column)
    name = _whole(name, text, line, start)
    if not _called(name, text, line, start):
        return CelProblem(sentence(f"there is no '{name}'"), line, start, _name_hint(name, variables))
    if name in _FUNCTIONS:
        return CelProblem(f"`{name}` takes another number of values", line, start, _TAKES.get(name, ""))
    hint = f"write {MEANT[name]}" if name in MEANT else _near(name, _FUNCTIONS)
    if name.startswith("get"):
        hint = "dates and times are read without a time zone"
    return CelProblem(sentence(f"there is no function '{name}'"), line, start, hint)


def _name_hint(name: str, variables: Sequence[str]) -> str:
    inside = [known for known in variables if known.startswith(f"{name}.")]
    if inside:
        return f"write one of {', '.join(inside)}"
    near = _near(name, variables) or _near(".".join(name.split(".")[:2]), variables)
    if near or "." in name or len(name) > 60:
        return near
    fact = f", a fact is node.facts.{name}" if "node.facts" in variables else ""
    return f'text goes in quotes: "{name}"{fact}'


def _start(name: str, text: str, line: int, column: int) -> int:
    """Where a name begins: CEL points at its last dot, or at the bracket of a call."""
    start = _row(text, line).rfind(name, 0, column - 1 + len(name))
    return start + 1 if start >= 0 else column


def _whole(name: str, text: str, line: int, start: int) -> str:
    """The name with what follows it, if it is the first word of functions' names."""
    found = re.match(rf"{re.escape(name)}\.[a-zA-Z]+(?=\()", _row(text, line)[start - 1 :])
    return found[0] if found is not None and name in _FAMILIES else name


def _called(name: str, text: str, line: int, start: int) -> bool:
    return _row(text, line)[start - 1 + len(name) :].lstrip().startswith("(")


def _row(text: str, line: int) -> str:
    rows = text.split("\n")
    return rows[line - 1] if 0 < line <= len(rows) else ""


def _near(name: str, known: Iterable[str]) -> str:
    near = get_close_matches(name, list(known), 1, 0.7)
    return f"did you mean {near[0]}?" if near else ""
