"""Where a change replaces what in a YAML text, be it written in lines or in brackets."""

import re

from gitcfg.edit import block, flow
from gitcfg.edit.changes import (
    Change,
    Delete,
    Insert,
    Move,
    Path,
    Rename,
    Set,
    is_nothing,
    permuted,
    position,
)
from gitcfg.edit.lines import Splice, comments_above, line_start, newline
from gitcfg.edit.spots import Shape, Spot
from gitcfg.edit.written import may_be_plain, quoted, written
from gitcfg.model import GitcfgError

_COLON = re.compile(r"\s*:")


def splices(text: str, root: Spot | None, change: Change, source: str) -> list[Splice]:
    """What a change replaces in a text; `source` is how its value, or its name, is written."""
    match change:
        case Set() | Insert():
            return _put(text, root, change, source)
        case Delete():
            spot, colon = _at(text, root, change.path[:-1])
            return _deleted(text, spot, colon, spot.place(change.path[-1]) or 0)
        case Move():
            return _moved(text, _at(text, root, change.path)[0], change.start, change.to)
        case Rename():
            spot, _ = _at(text, root, change.path[:-1])
            entry = spot.entries[spot.place(change.path[-1]) or 0]
            return [Splice(entry.start, entry.key_end, _key(text[entry.start], change.name, source))]


def _key(first: str, name: str, source: str) -> str:
    """A key in quotes is so afterwards, and one without, where it may be: keys are text in any case."""
    return _in_quotes(first, name) or (name if may_be_plain(name) else source)


def _in_quotes(first: str, text: str) -> str:
    """Text in the quotes that there were; nothing if there were none."""
    if first == "'" and text.isprintable():
        return "'" + text.replace("'", "''") + "'"
    return quoted(text) if first == '"' else ""


def _at(text: str, root: Spot | None, path: Path) -> tuple[Spot, int | None]:
    """The spot that a path leads to, and where the colon before it ends."""
    if root is None:
        raise GitcfgError("There is nothing in the file.")
    spot, colon = root, None
    for step in path:
        entry = spot.entries[_known(spot, step)]
        colon = _colon(text, entry.key_end) if entry.key is not None else None
        spot = entry.value
    return spot, colon


def _known(spot: Spot, step: str | int) -> int:
    place = spot.place(step)
    if place is None:
        raise GitcfgError(f"There is no {step}.")
    return place


def _colon(text: str, at: int) -> int | None:
    found = _COLON.match(text, at)
    return found.end() if found else None


def _put(text: str, root: Spot | None, change: Set | Insert, source: str) -> list[Splice]:
    """A value set or inserted: as far as the path leads there is something, the rest is made."""
    spot, colon, left, order = root, None, list(change.path), change.order
    while spot is not None and left and spot.place(left[0]) is not None and not is_nothing(spot.meaning):
        spot, colon = _at(text, spot, (left.pop(0),))
        order = ()
    if isinstance(change, Insert):
        if spot is not None and not left and spot.shape is Shape.LIST:
            return _inserted(text, spot, min(change.at, len(spot.entries)), source)
        source = f"[{source}]"
    if spot is None or (spot is root and left and not spot.entries):
        return _first(text, spot, [str(key) for key in left], source)
    if left and spot.shape is Shape.MAPPING:
        return _added(text, root, spot, [str(key) for key in left], source, order)
    if not left and isinstance(change, Set) and change.source is None and isinstance(change.value, str):
        source = _in_quotes(text[spot.start : spot.start + 1], change.value) or source
    return _replaced(text, spot, colon, _flow_lines([str(key) for key in left], source))


def _replaced(text: str, spot: Spot, colon: int | None, source: str) -> list[Splice]:
    if spot.shape is Shape.SCALAR or spot.flow:
        apart = " " if spot.start == colon else ""
        return [Splice(spot.start, spot.end, apart + source)]
    return block.replaced(text, spot, colon, source)


def _inserted(text: str, spot: Spot, place: int, source: str) -> list[Splice]:
    if spot.flow:
        return flow.inserted(text, spot, place, source)
    above = comments_above(text, spot.entries[place].start) if place < len(spot.entries) else None
    return block.inserted(text, spot, place, [f"- {source}"], above)


def _added(
    text: str, root: Spot | None, spot: Spot, keys: list[str], source: str, order: tuple[str, ...]
) -> list[Splice]:
    place = position([entry.key or "" for entry in spot.entries], keys[0], order)
    if spot.flow:
        return flow.inserted(text, spot, place, _pair(keys, source))
    return block.inserted(text, spot, place, _lines(keys, source, _step(text, root)))


def _first(text: str, spot: Spot | None, keys: list[str], source: str) -> list[Splice]:
    """The first entry of all."""
    end = newline(text)
    lines = end.join(_lines(keys, source, 2)) if keys else source
    if spot is not None:
        return [Splice(spot.start, spot.end, lines)]
    apart = end if text and line_start(text, len(text)) != len(text) else ""
    return [Splice(len(text), len(text), f"{apart}{lines}{end}")]


def _pair(keys: list[str], source: str) -> str:
    return f"{written(keys[0])}: {_flow_lines(keys[1:], source)}"


def _flow_lines(keys: list[str], source: str) -> str:
    for key in reversed(keys):
        source = f"{{{written(key)}: {source}}}"
    return source


def _lines(keys: list[str], source: str, step: int) -> list[str]:
    """Mappings in each other, a line each, indented from the first on."""
    lines = [f"{' ' * step * level}{written(key)}:" for level, key in enumerate(keys)]
    return [*lines[:-1], f"{lines[-1]} {source}"]


def _step(text: str, root: Spot | None) -> int:
    """By how much mappings are indented in this text."""
    for entry in root.entries if root is not None and root.shape is Shape.MAPPING else ():
        inner = entry.value
        if inner.shape is Shape.MAPPING and not inner.flow and inner.entries:
            step = inner.entries[0].start - line_start(text, inner.entries[0].start)
            return step or 2
    return 2


def _deleted(text: str, spot: Spot, colon: int | None, place: int) -> list[Splice]:
    if spot.flow:
        return flow.deleted(text, spot, place)
    return block.emptied(text, spot, colon) if len(spot.entries) == 1 else block.deleted(text, spot, place)


def _moved(text: str, spot: Spot, start: int, to: int) -> list[Splice]:
    """Items in another order; what stands between them stays where it is."""
    parts = [(entry.start, entry.end) for entry in spot.entries] if spot.flow else block.segments(text, spot)
    wanted = permuted(parts, start, to)
    return [Splice(*old, text[new[0] : new[1]]) for old, new in zip(parts, wanted, strict=True)]
