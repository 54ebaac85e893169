"""The installed HTCondor, in a guarded child: its parameters and defaults, its knobs, its parser."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Self

import msgspec

from gitcfg.model import GitcfgError
from gitcfg.sandbox import Closing, Guard, GuardError, Limits

_CHILD = "gitcfg.convert.condor.child"
_LIMITS = Limits(cpu_seconds=1.0, wall_seconds=20.0, file=32 << 20, answer=32 << 20)
_USE = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*(.+)", re.DOTALL)
_KNOB = re.compile(r"([A-Za-z_]\w*)\s*(?:\(((?:[^()]|\([^()]*\))*)\))?(?:[,\s]+|\Z)")
_DEFAULT = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
_ARGUMENT = re.compile(rf"\$\((\d)([+?]?)(?::({_DEFAULT}))?\)")
_ANY = re.compile(r"\$\(\d")
_MOST_NESTED = 4  # an argument's default may name arguments
Lookup = Callable[[str, str], str | None]
"""Return the text of a knob by category and name, None if it is not known."""


class KnownName(msgspec.Struct, frozen=True):
    """A parameter that HTCondor knows: its default (None: none), type and description."""

    name: str
    value: str | None
    kind: str
    description: str


class Builtins:
    """What HTCondor has built in: its knobs, and its parameters by name in lower case (None: not known)."""

    def __init__(self, lookup: Lookup, known: Mapping[str, KnownName] | None) -> None:
        self.lookup = lookup
        self.known = known


class HTCondor(Closing):
    """The installed bindings, to be closed at the end. `version` is empty if there are none."""

    def __init__(self) -> None:
        self._guard = Guard(_CHILD, _LIMITS)
        self._knobs: dict[tuple[str, str], str | None] = {}
        self.version = ""
        self.defaults: Mapping[str, KnownName] = {}

    def begin(self) -> Self:
        """Start the child and ask for version and defaults."""
        try:
            self.version, found = self._guard.request({"defaults": True})
        except GuardError as error:
            raise GitcfgError(f"HTCondor's bindings {error.reason}.") from error
        self.defaults = {name.lower(): KnownName(name, *rest) for name, *rest in found}
        return self

    def knob(self, category: str, name: str) -> str | None:
        """Return the text of `use CATEGORY : NAME`; None if it is not known."""
        key = category.lower(), name.lower()
        if key not in self._knobs:
            try:
                self._knobs[key] = self._guard.request({"knob": [category, name]}) if self.version else None
            except GuardError:
                self._knobs[key] = None
        return self._knobs[key]

    def read(self, texts: Sequence[str]) -> Mapping[str, str] | str:
        """Return the raw values after reading texts in their order, or why there are none."""
        try:
            answer: Mapping[str, str] = self._guard.request({"read": list(texts)})
        except GuardError as error:
            return error.reason
        return answer

    def close(self) -> None:
        """Stop the child."""
        self._guard.close()


def expand_knobs(text: str, lookup: Lookup) -> Iterator[tuple[str, str | None]]:
    """Yield the knobs in a `use`, each with its text; None if that is not certain."""
    found = _USE.fullmatch(text)
    named = _parse_knobs(found[2]) if found is not None else None
    if found is None or named is None:
        yield text, None
        return
    for name, arguments in named:
        body = lookup(found[1], name)
        yield f"{found[1]}:{name}", None if body is None else _fill_arguments(body, arguments)


def _parse_knobs(text: str) -> list[tuple[str, str | None]] | None:
    """Return the names between commas or blanks, with their arguments; None if the text is malformed."""
    result, at = [], 0
    while at < len(text):
        found = _KNOB.match(text, at)
        if found is None:
            return None
        result.append((found[1], found[2]))
        at = found.end()
    return result


def _fill_arguments(body: str, given: str | None) -> str | None:
    """Return the text of a knob with its arguments filled in; None if a placeholder is not understood.

    Like HTCondor, this splits arguments at commas within brackets and quotes too, and skips empty ones.
    """
    arguments = [argument for one in (given or "").split(",") if (argument := one.strip())]

    def put(found: re.Match[str]) -> str:
        number, form = int(found[1]), found[2]
        if number == 0:
            value = (given or "").strip()
        elif form == "+":
            value = ", ".join(arguments[number - 1 :])
        else:
            value = "".join(arguments[number - 1 : number])
        return str(int(bool(value))) if form == "?" else value or found[3] or ""

    for _ in range(_MOST_NESTED):
        body = _ARGUMENT.sub(put, body)
    return None if _ANY.search(body) else body
