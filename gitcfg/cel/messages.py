"""Errors of expressions in words, with the name that may have been meant."""

import re
import string
from collections.abc import Iterable, Iterator, Sequence
from difflib import get_close_matches

from gitcfg.cel.environment import FUNCTIONS
from gitcfg.cel.errors import CelProblem, sentence

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


# What CEL's messages mean, in words for people.

_PLACED = re.compile(r"ERROR: <input>:(-?\d+):(-?\d+): ([^\n]*)")
_UNKNOWN = re.compile(r"undeclared reference to '(.*)' \(in container")
_OVERLOAD = re.compile(r"found no matching overload for '(.*)' applied to '\((.*)\)'")
_NO_OVERLOAD = re.compile(r"No matching overloads found : ([^(]*)(?:\((.*)\))?")
_NO_KEY = re.compile(r'Key not found in map : "(.*)"')
_STATUS = re.compile(r"^[A-Z_]+: | \[[A-Z_]+\]$")

_PATH = f"{string.ascii_letters}{string.digits}_."


def why_it_is_wrong(report: str, text: str, variables: Sequence[str]) -> CelProblem:
    """The first error of a compilation."""
    placed = _PLACED.search(report)
    if placed is None or int(placed[1]) < 1:
        return CelProblem(_too_deep(placed[3] if placed else report))
    line, column, message = int(placed[1]), int(placed[2]), placed[3]
    if unknown := _UNKNOWN.match(message):
        return unknown_name(unknown[1], text, line, column, variables)
    if overload := _OVERLOAD.match(message):
        return _wrong_types(overload[1], overload[2], line, column)
    if message.startswith("Syntax error: "):
        return _syntax(message, line, column)
    return CelProblem(sentence(message), line, column)


def why_it_failed(report: str, text: str) -> CelProblem:
    """What went wrong while a node was asked."""
    report = _STATUS.sub("", report.removeprefix("RuntimeError: "))
    if "Iteration budget" in report:
        return CelProblem("the expression loops more than 10,000 times")
    if key := _NO_KEY.search(report):
        return _missing_key(key[1], text)
    if overload := _NO_OVERLOAD.search(report):
        return _wrong_types(overload[1], overload[2] or "", *_only_call(overload[1], text))
    return CelProblem(sentence(report))


def not_a_condition(kind: str) -> CelProblem:
    """The expression says something, but not yes or no."""
    return CelProblem(f"the result is {_type(kind)}, not true or false", hint="compare it with something")


def not_a_key(kind: str) -> CelProblem:
    """The expression says something, but nothing to group by."""
    hint = "a key is a string, int, bool, double or a list of these"
    return CelProblem(f"the result is {_type(kind)}, not a key", hint=hint)


def _wrong_types(function: str, types: str, line: int, column: int) -> CelProblem:
    if not types or function.startswith("<"):
        return CelProblem("a value is of the wrong type for what is done with it", line, column)
    operator = function if function.isidentifier() else function.strip("_@").replace("_", " ")
    message = f"`{operator}` does not take {_type(types).replace(', ', ' and ')}"
    return CelProblem(message, line, column, _type_hint(function, types))


def _only_call(function: str, text: str) -> tuple[int, int]:
    """Where the only call of a function stands; the beginning if there are more, or none."""
    calls = list(re.finditer(rf"\b{re.escape(function)}\s*\(", text))
    return _place(text, calls[0].start()) if len(calls) == 1 else (1, 1)


def _place(text: str, at: int) -> tuple[int, int]:
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def _type_hint(function: str, types: str) -> str:
    if types.startswith("list(") and function in ("contains", "_==_", "_!=_"):
        return 'to look for an item write "x" in LIST'
    return 'to look inside a text write TEXT.contains("x")' if function == "@in" else ""


def _syntax(message: str, line: int, column: int) -> CelProblem:
    found = re.search(r"(?:at: |input )'(.*?)'?(?: expecting|$)", message)
    what = found[1].strip() if found else ""
    if what == "<EOF>":
        return CelProblem("the expression ends too early", line, column)
    hint = f"write {MEANT[what]}" if what in MEANT else ""
    return CelProblem(sentence(f"{what or 'this'} is not understood here"), line, column, hint)


def _missing_key(key: str, text: str) -> CelProblem:
    """CEL does not say in which map; the expression does if it asks only one for that key."""
    places = {place for place in _places(key, text) if not text[: place[0]].rstrip().endswith("has(")}
    if len({text[start:end] for start, end, _ in places}) != 1:
        return CelProblem(f"there is no key '{key}'")
    start, end, is_field = min(places)
    path = text[start:end]
    ask = f"has({path}.{key})" if is_field else f'"{key}" in {path}'
    return CelProblem(f"{path} has no '{key}'", *_place(text, start), f"ask first: {ask} && ...")


def _places(key: str, text: str) -> Iterator[tuple[int, int, bool]]:
    """Where a map's name begins and ends of which the key is asked, and whether as a field."""
    for found in re.finditer(rf"\.{re.escape(key)}\b|\[[\"']{re.escape(key)}[\"']\]", text):
        before = text[: found.start()]
        start = len(before.rstrip(_PATH))
        if start < len(before):
            yield start, len(before), found[0][0] == "."


def _too_deep(report: str) -> str:
    if "recursion" in report:
        return "the expression is nested too deeply"
    return sentence(_STATUS.sub("", report))


def _type(kind: str) -> str:
    return kind.lower().replace("<", "(").replace(">", ")").replace("int64", "int")
