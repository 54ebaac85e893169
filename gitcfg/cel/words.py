"""What CEL's messages mean, in words for people."""

import re
import string
from collections.abc import Iterator, Sequence

from gitcfg.cel.problem import CelProblem, sentence
from gitcfg.cel.unknown import MEANT, unknown_name

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
