"""Where a change replaces what in a YAML text, be it written in lines or in brackets."""

from gitcfg.edit import block, flow
from gitcfg.edit.changes import Change, Delete, Insert, Move, Rename, Set
from gitcfg.edit.lines import Splice
from gitcfg.edit.meant import move_item
from gitcfg.edit.placed import place_value
from gitcfg.edit.reached import find_spot
from gitcfg.edit.spots import Spot
from gitcfg.edit.written import may_be_plain, quote_like


def find_splices(text: str, root: Spot | None, change: Change, source: str) -> list[Splice]:
    """What a change replaces in a text; `source` is how its value, or its name, is written."""
    match change:
        case Set() | Insert():
            return place_value(text, root, change, source)
        case Delete():
            spot, colon = find_spot(text, root, change.path[:-1])
            return _deleted(text, spot, colon, spot.place(change.path[-1]) or 0)
        case Move():
            return _moved(text, find_spot(text, root, change.path)[0], change.start, change.to)
        case Rename():
            spot, _ = find_spot(text, root, change.path[:-1])
            entry = spot.entries[spot.place(change.path[-1]) or 0]
            return [Splice(entry.start, entry.key_end, _key(text[entry.start], change.name, source))]


def _key(first: str, name: str, source: str) -> str:
    """A key in quotes is so afterwards, and one without, where it may be: keys are text in any case."""
    return quote_like(first, name) or (name if may_be_plain(name) else source)


def _deleted(text: str, spot: Spot, colon: int | None, place: int) -> list[Splice]:
    if spot.flow:
        return flow.delete_in_flow(text, spot, place)
    return (
        block.empty_block(text, spot, colon)
        if len(spot.entries) == 1
        else block.delete_lines(text, spot, place)
    )


def _moved(text: str, spot: Spot, start: int, to: int) -> list[Splice]:
    """Items in another order; what stands between them stays where it is."""
    parts = (
        [(entry.start, entry.end) for entry in spot.entries]
        if spot.flow
        else block.block_segments(text, spot)
    )
    wanted = move_item(parts, start, to)
    return [Splice(*old, text[new[0] : new[1]]) for old, new in zip(parts, wanted, strict=True)]
