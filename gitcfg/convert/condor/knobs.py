"""What `use CATEGORY : KNOB` stands for, with its arguments put in."""

import re
from collections.abc import Callable, Iterator, Mapping

from gitcfg.convert.condor.known import KnownName

Lookup = Callable[[str, str], str | None]
"""The text of a knob by category and name, None if it is not known."""

_USE = re.compile(r"\s*([A-Za-z_]\w*)\s*:\s*(.+)", re.DOTALL)
_KNOB = re.compile(r"([A-Za-z_]\w*)\s*(?:\(((?:[^()]|\([^()]*\))*)\))?(?:[,\s]+|\Z)")
_DEFAULT = r"(?:[^()]|\((?:[^()]|\([^()]*\))*\))*"
_ARGUMENT = re.compile(rf"\$\((\d)([+?]?)(?::({_DEFAULT}))?\)")
_ANY = re.compile(r"\$\(\d")
_MOST_NESTED = 4  # an argument's default may name arguments


class Builtins:
    """What HTCondor itself knows: its knobs, and its names in lower case (None: not asked)."""

    def __init__(self, lookup: Lookup, known: Mapping[str, KnownName] | None) -> None:
        self.lookup = lookup
        self.known = known


def expand_knobs(text: str, lookup: Lookup) -> Iterator[tuple[str, str | None]]:
    """The knobs that a `use` names, each with the lines that it stands for; None: that is not certain."""
    found = _USE.fullmatch(text)
    named = _parse_knobs(found[2]) if found is not None else None
    if found is None or named is None:
        yield text, None
        return
    for name, arguments in named:
        body = lookup(found[1], name)
        yield f"{found[1]}:{name}", None if body is None else _fill_arguments(body, arguments)


def _parse_knobs(text: str) -> list[tuple[str, str | None]] | None:
    """Names with their arguments, between commas or blanks."""
    result, at = [], 0
    while at < len(text):
        found = _KNOB.match(text, at)
        if found is None:
            return None
        result.append((found[1], found[2]))
        at = found.end()
    return result


def _fill_arguments(body: str, given: str | None) -> str | None:
    """A knob's lines with its arguments in them; None where it asks for them in a way not known here.

    HTCondor takes commas for what they are in brackets and quotes, too, and skips empty arguments.
    """
    arguments = [argument for one in (given or "").split(",") if (argument := one.strip())]

    def put(found: re.Match[str]) -> str:
        number, form = int(found[1]), found[2]
        if number == 0:
            said = (given or "").strip()
        elif form == "+":
            said = ", ".join(arguments[number - 1 :])
        else:
            said = "".join(arguments[number - 1 : number])
        return str(int(bool(said))) if form == "?" else said or found[3] or ""

    for _ in range(_MOST_NESTED):
        body = _ARGUMENT.sub(put, body)
    return None if _ANY.search(body) else body
