"""Where a value that is set or inserted comes to stand in a YAML text, with the keys that lead to it."""

from gitcfg.edit import block, flow
from gitcfg.edit.changes import Insert, Set
from gitcfg.edit.lines import Splice, comments_above, line_start, newline
from gitcfg.edit.meant import key_position
from gitcfg.edit.reached import find_spot
from gitcfg.edit.spots import Shape, Spot, is_nothing
from gitcfg.edit.written import quote_like, to_yaml


def place_value(text: str, root: Spot | None, change: Set | Insert, source: str) -> list[Splice]:
    """A value set or inserted: as far as the path leads there is something, the rest is made."""
    spot, colon, left, order = root, None, list(change.path), change.order
    while spot is not None and left and spot.place(left[0]) is not None and not is_nothing(spot.meaning):
        spot, colon = find_spot(text, spot, (left.pop(0),))
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
        source = quote_like(text[spot.start : spot.start + 1], change.value) or source
    return _replaced(text, spot, colon, _flow_lines([str(key) for key in left], source))


def _replaced(text: str, spot: Spot, colon: int | None, source: str) -> list[Splice]:
    if spot.shape is Shape.SCALAR or spot.flow:
        apart = " " if spot.start == colon else ""
        return [Splice(spot.start, spot.end, apart + source)]
    return block.replace_block(text, spot, colon, source)


def _inserted(text: str, spot: Spot, place: int, source: str) -> list[Splice]:
    if spot.flow:
        return flow.insert_in_flow(text, spot, place, source)
    above = comments_above(text, spot.entries[place].start) if place < len(spot.entries) else None
    return block.insert_lines(text, spot, place, [f"- {source}"], above)


def _added(
    text: str, root: Spot | None, spot: Spot, keys: list[str], source: str, order: tuple[str, ...]
) -> list[Splice]:
    place = key_position([entry.key or "" for entry in spot.entries], keys[0], order)
    if spot.flow:
        return flow.insert_in_flow(text, spot, place, _pair(keys, source))
    return block.insert_lines(text, spot, place, _lines(keys, source, _step(text, root)))


def _first(text: str, spot: Spot | None, keys: list[str], source: str) -> list[Splice]:
    """The first entry of all."""
    end = newline(text)
    lines = end.join(_lines(keys, source, 2)) if keys else source
    if spot is not None:
        return [Splice(spot.start, spot.end, lines)]
    apart = end if text and line_start(text, len(text)) != len(text) else ""
    return [Splice(len(text), len(text), f"{apart}{lines}{end}")]


def _pair(keys: list[str], source: str) -> str:
    return f"{to_yaml(keys[0])}: {_flow_lines(keys[1:], source)}"


def _flow_lines(keys: list[str], source: str) -> str:
    for key in reversed(keys):
        source = f"{{{to_yaml(key)}: {source}}}"
    return source


def _lines(keys: list[str], source: str, step: int) -> list[str]:
    """Mappings in each other, a line each, indented from the first on."""
    lines = [f"{' ' * step * level}{to_yaml(key)}:" for level, key in enumerate(keys)]
    return [*lines[:-1], f"{lines[-1]} {source}"]


def _step(text: str, root: Spot | None) -> int:
    """By how much mappings are indented in this text."""
    for entry in root.entries if root is not None and root.shape is Shape.MAPPING else ():
        inner = entry.value
        if inner.shape is Shape.MAPPING and not inner.flow and inner.entries:
            step = inner.entries[0].start - line_start(text, inner.entries[0].start)
            return step or 2
    return 2
