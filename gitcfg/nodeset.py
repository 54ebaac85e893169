"""Sets of names in ClusterShell's notation (`exec[001-900].example.com`), without its operators."""

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, product
from math import prod
from typing import Any

_OPERATORS = re.compile(r"[@!&^%*?\s;:{}\"'\\<>|`]")
_ODD = re.compile(rf"{_OPERATORS.pattern}|[\[,]")  # characters that prevent the folding of a name
_BRACKETS = re.compile(r"\[([^\[\]]*)\]")
_NUMBER = re.compile(r"([0-9]+)")
_LONGEST = 18  # digits
LINE = 160
"""The number of characters of names in one line for people."""
IN_JSON = "-o json lists all"
"""The note on how to see all nodes of a shortened list, for commands that write JSON."""
_RANGE = re.compile(r"[0-9]{1,18}(?:-[0-9]{1,18}(?:/[0-9]{1,18})?)?")


class NodeSetError(ValueError):
    """The text is not a set of names, or has too many."""


class TooManyNames(NodeSetError):
    """The text is a set of more names than are allowed."""


def _library() -> Any:
    from ClusterShell import NodeSet

    return NodeSet


def expand(text: str, most: int) -> tuple[str, ...]:
    """Return the names as written, each once. Raise NodeSetError if invalid or more than `most` names."""
    names: list[str] = []
    for part in parts(text):
        names.extend(_expand_part(part, most - len(names)))
    return tuple(dict.fromkeys(names))


def parts(text: str) -> list[str]:
    """Return the sets between commas outside brackets. Raise NodeSetError if one is empty."""
    found = [part.strip() for part in re.split(r",(?![^\[\]]*\])", text)]
    if not all(found):
        raise NodeSetError("it is empty" if not text.strip() else "a name between commas is missing")
    return found


def _expand_part(part: str, most: int) -> list[str]:
    operator = _OPERATORS.search(part)
    if operator:
        raise NodeSetError(f"{operator[0]!r} is not valid in a node set")
    pieces = _BRACKETS.split(part)
    if any(bracket in text for text in pieces[::2] for bracket in "[]"):
        raise NodeSetError("a bracket is not closed")
    ranges = [[_numbers(item) for item in text.split(",")] for text in pieces[1::2]]
    if prod(sum(len(numbers) for numbers, _ in items) for items in ranges) > most:
        raise TooManyNames(f"it has more than {most} names")
    columns = [[text] for text in pieces]
    columns[1::2] = [[f"{n:0{width}}" for numbers, width in items for n in numbers] for items in ranges]
    return ["".join(row) for row in product(*columns)]


def _numbers(item: str) -> tuple[range, int]:
    """Return the numbers of `1-900` or `001-900/2` and the width to write them with."""
    if not _RANGE.fullmatch(item):
        raise NodeSetError(f"{item!r} is not a range of numbers")
    bounds, _, step = item.partition("/")
    first, _, last = bounds.partition("-")
    last = last or first
    numbers = range(int(first), int(last) + 1, int(step or 1) or 1)
    if not numbers or step.strip("0") == "" != step:
        raise NodeSetError(f"{item!r} is an empty range")
    padded = (len(first) > 1 and first[0] == "0") or (len(last) > 1 and last[0] == "0")
    if padded and len(first) != len(last):
        raise NodeSetError(f"the numbers of {item!r} have different widths")
    return numbers, len(first) if padded else 0


def fold(names: Iterable[str]) -> str:
    """Return the shortest notation for names; names with characters that ClusterShell lacks stay whole."""
    plain: list[str] = []
    odd: list[str] = []
    for name in names:
        (odd if _ODD.search(name) else plain).append(name)
    folded = _fold_quickly(plain)
    if folded is None:
        folded = str(_library().NodeSet.fromlist(plain, resolver=_library().RESOLVER_NOGROUP))
    return ",".join(filter(None, [folded, *odd]))


def abridged(names: Iterable[str], see: str = "") -> str:
    """Return names in a line for people: those that fit, `and 1,987 more`, and how to `see` all of them."""
    names = tuple(dict.fromkeys(names))
    return _abridged(names, fold(names), see)


def abridged_set(text: str, count: int, see: str = "") -> str:
    """Return the same for names that are already folded, `count` of them."""
    if len(text) <= LINE:
        return text
    try:
        return _abridged(expand(text, count), text, see)
    except NodeSetError:  # a name has characters that are not valid in the notation
        return f"{text[:LINE]}..."


def _abridged(names: Sequence[str], folded: str, see: str) -> str:
    if len(folded) <= LINE or len(names) < 2:
        return folded
    ordered = sorted(names, key=_notation_order)
    room = LINE - len(_more(len(names), see))
    few, many = 1, 2  # `few` names fit
    while many < len(names) and len(fold(ordered[:many])) <= room:
        few, many = many, 2 * many
    many = min(many, len(names))
    while few + 1 < many:
        middle = (few + many) // 2
        few, many = (middle, many) if len(fold(ordered[:middle])) <= room else (few, middle)
    return fold(ordered[:few]) + _more(len(names) - few, see)


def _more(number: int, see: str) -> str:
    return f" and {number:,} more ({see})" if see else f" and {number:,} more"


def _notation_order(name: str) -> tuple[bool, str, tuple[int, ...], str]:
    """Return the sort key for the order of names in the notation."""
    pieces = _NUMBER.split(name)
    return _ODD.search(name) is not None, "%s".join(pieces[::2]), tuple(map(int, pieces[1::2])), name


def _fold_quickly(names: Iterable[str]) -> str | None:
    """Return the result of ClusterShell, which takes 15 us per name and 25 ms to load.

    Return None if names of one form differ in several numbers, or in one with leading zeros but different
    widths.
    """
    shapes: dict[tuple[str, ...], set[tuple[str, ...]]] = {}
    for name in names:
        pieces = _NUMBER.split(name)
        shapes.setdefault(tuple(pieces[::2]), set()).add(tuple(pieces[1::2]))
    found = [(texts, _fold_shape(texts, rows)) for texts, rows in shapes.items()]
    known = {"%s".join(texts): text for texts, text in found if text is not None}
    return ",".join(known[pattern] for pattern in sorted(known)) if len(known) == len(found) else None


def _fold_shape(texts: tuple[str, ...], rows: set[tuple[str, ...]]) -> str | None:
    """Return the notation for names that differ only in their numbers."""
    columns = [set(column) for column in zip(*rows, strict=True)]
    folded = [_fold_column(column) for column in columns]
    if sum(len(column) > 1 for column in columns) > 1 or None in folded:
        return None
    return "".join(piece for pair in zip(texts, (*folded, ""), strict=True) for piece in pair if piece)


def _fold_column(written: set[str]) -> str | None:
    """Return the notation for the numbers in one place of some names."""
    width = max(map(len, written))
    padded = any(digits[0] == "0" for digits in written if digits != "0")
    if width > _LONGEST or (padded and any(len(digits) != width for digits in written)):
        return None
    runs = ",".join(_runs(sorted(map(int, written)), width if padded else 0))
    return f"[{runs}]" if len(written) > 1 else runs


def _runs(numbers: list[int], width: int) -> Iterator[str]:
    """Yield `001-900` for each run of consecutive numbers."""
    for _, pairs in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in pairs]
        yield "-".join(f"{number:0{width}}" for number in dict.fromkeys((run[0], run[-1])))
