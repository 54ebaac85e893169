"""HTCondor's macros as HTCondor scans them: $(NAME), $(NAME:default) and functions like $INT(NAME)."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
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


@lru_cache(maxsize=4096)
def macros(value: str) -> tuple[Macro, ...]:
    """The macros that HTCondor sees in a value, from the left, none inside another's brackets."""
    return tuple(_macros(value))


def _macros(value: str) -> Iterator[Macro]:
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


LONGEST = 1 << 16
"""Characters that a value may have once macros are put in; a longer one is left as it is."""


class Expansion:
    """Puts values in the place of $(NAME), and theirs in them. What is not known stays as it stands.

    `find` gives the raw value of a name in lower case, None if it is not known; `base` what a name has that
    is not set, which its own value means by its own name. Each name is expanded once, whoever wants it.
    """

    def __init__(
        self, find: Callable[[str], str | None], base: Callable[[str], str | None] = lambda _: None
    ) -> None:
        self._find, self._base = find, base
        self._known: dict[str, str | None] = {}

    def of(self, text: str, own: str = "") -> str:
        """Return the value of the name `own` (lower case) with all macros in it that are known."""
        if "$(" not in text:
            return text
        parts, at, size = [], 0, len(text)
        for macro in macros(text):
            put = self._put(macro, own) if macro.function == "$" else None
            if put is not None:
                size += len(put)
                if size > LONGEST:
                    return text
                parts += [text[at : macro.start], put]
                at = macro.end
        return "".join([*parts, text[at:]])

    def used(self, text: str, own: str = "") -> set[str]:
        """Return the names (lower case) whose values `of` puts in a text, and those that come with them."""
        found: set[str] = set()
        wanted = [macro.body.lower() for macro in macros(text) if macro.function == "$"]
        while wanted:
            name = wanted.pop()
            value = None if name == own or name in found else self._find(name)
            if value is not None:
                found.add(name)
                wanted += (macro.body.lower() for macro in macros(value) if macro.function == "$")
        return found

    def _put(self, macro: Macro, own: str) -> str | None:
        name = macro.body.lower()
        if name == own:
            return self._base(name)
        if name not in self._known:
            self._known[name] = None  # of a circle
            value = self._find(name)
            self._known[name] = None if value is None else self.of(value, name)
        value = self._known[name]
        return macro.default if value is not None and not value.strip() else value
