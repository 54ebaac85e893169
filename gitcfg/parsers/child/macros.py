"""HTCondor's macros as HTCondor scans them: $(NAME), $(NAME:default) and functions like $INT(NAME)."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

_DOLLAR = re.compile(r"\$\$?+[A-Za-z0-9_]*+")
_BODY = re.compile(r"\(([A-Za-z0-9_./]*)(?::((?:[A-Za-z0-9_./$ ,\\:]|\([^)]*\))*+))?\)")
_ANYTHING = re.compile(r"\(([^)]*)\)")
_OF_FILES = re.compile(r"\$F[pnxdqabfwu]*", re.IGNORECASE)
_OF_ONE = frozenset({"$INT", "$REAL", "$STRING", "$EVAL", "$BASENAME", "$DIRNAME"})
_OF_MORE = frozenset({"$SUBSTR", "$CHOICE", "$RANDOM_CHOICE"})


class Macro(NamedTuple):
    """One macro in a value: from where to where, its function (`$`: none), and what is in its brackets."""

    start: int
    end: int
    function: str
    body: str
    default: str = ""

    @property
    def at_once(self) -> bool:
        """Is it replaced as soon as it is read, in the value of the very name that it names?"""
        return self.function == "$" or _of_files(self.function)


def macros(value: str) -> Iterator[Macro]:
    """The macros that HTCondor sees in a value, from the left, none inside another's brackets."""
    at = 0
    while (dollar := _DOLLAR.search(value, at)) is not None:
        at = dollar.end()
        body = _body(dollar[0]).match(value, at)
        if body is not None:
            at = body.end()
            yield Macro(dollar.start(), at, dollar[0], *body.groups(""))


def _body(function: str) -> re.Pattern[str]:
    if function == "$":
        return _BODY
    known = function in _OF_ONE or function in _OF_MORE or _of_files(function)
    return _ANYTHING if known else _NOTHING


_NOTHING = re.compile(r"(?!)")


def _of_files(function: str) -> bool:
    return function.startswith("$F") and _OF_FILES.fullmatch(function) is not None


def looked_up(value: str, values: Mapping[str, str]) -> Iterator[tuple[str, Macro]]:
    """The names out of `values` (lower case) that expanding a value certainly expands too, and where."""
    for macro in macros(value):
        name = macro.body.lower()
        if macro.function != "$":
            yield from ((argument, macro) for argument in _arguments(macro) if argument in values)
        elif values.get(name):
            yield name, macro
        elif name in values:
            yield from looked_up(macro.default, values)


def _arguments(macro: Macro) -> list[str]:
    """What a function looks up: each argument, the first of those of one, no items of a list."""
    arguments = [argument.strip().lower() for argument in macro.body.split(",")]
    if macro.function == "$CHOICE" and len(arguments) == 2:
        return arguments
    if macro.function == "$RANDOM_CHOICE":
        return arguments if len(arguments) == 1 else []
    return arguments if macro.function == "$SUBSTR" else arguments[:1]
