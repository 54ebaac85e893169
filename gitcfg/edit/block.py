"""Changes of mappings and lists that are written in lines: whole lines come and go."""

from collections.abc import Sequence

from gitcfg.edit.lines import (
    Splice,
    begins_line,
    comments_above,
    lead,
    line_end,
    line_start,
    newline,
    next_line,
    rest_end,
)
from gitcfg.edit.spots import Entry, Spot


def insert_lines(
    text: str, spot: Spot, place: int, lines: Sequence[str], above: int | None = None
) -> list[Splice]:
    """Lines put before an entry, or behind the last; the first is indented as the entries are.

    `above` is where the comment begins that stays with the entry.
    """
    column = spot.entries[0].start - line_start(text, spot.entries[0].start)
    indent, end = " " * column, newline(text)
    said = f"{end}{indent}".join(lines)
    if place == len(spot.entries) or (above is None and place):
        at = rest_end(text, spot.entries[place - 1].end)
        ended = at > 0 and line_start(text, at) == at
        return [Splice(at, at, f"{indent}{said}{end}" if ended else f"{end}{indent}{said}")]
    at = spot.entries[place].start if above is None else above
    return [Splice(at, at, f"{said}{end}{indent}")]


def delete_lines(text: str, spot: Spot, place: int) -> list[Splice]:
    """An entry of several gone, with the comment behind it; comments on lines of their own stay."""
    entry = spot.entries[place]
    stop = rest_end(text, entry.end)
    if begins_line(text, entry.start):
        return [_lines(text, line_start(text, entry.start), stop)]
    start = entry.start
    if place + 1 < len(spot.entries) and not text[stop : spot.entries[place + 1].start].strip():
        return [Splice(start, spot.entries[place + 1].start)]
    return [Splice(start - (len(lead(text, start)) - len(lead(text, start).rstrip())), stop)]


def empty_block(text: str, spot: Spot, colon: int | None) -> list[Splice]:
    """The only entry gone: the value is an empty one from now on. `colon`: behind it the value stands."""
    empty = "[]" if spot.entries[0].key is None else "{}"
    entry = spot.entries[0]
    stop = rest_end(text, entry.end)
    ended = line_start(text, stop) == stop
    if colon is None or not begins_line(text, entry.start):
        return [Splice(entry.start, stop, empty + (newline(text) if ended else ""))]
    return [Splice(colon, colon, f" {empty}"), _lines(text, line_start(text, entry.start), stop)]


def _lines(text: str, start: int, stop: int) -> Splice:
    """Whole lines gone; of a text whose last line has no end, none has one afterwards."""
    if stop > start and line_start(text, stop) == stop:
        return Splice(start, stop)
    if stop < len(text):
        return Splice(start, next_line(text, stop))
    return Splice(line_end(text, start - 1) if start else start, stop)


def replace_block(text: str, spot: Spot, colon: int | None, source: str) -> list[Splice]:
    """A value that is written in lines, now on one; a comment behind its key stays."""
    stop = rest_end(text, spot.end)
    ended = newline(text) if line_start(text, stop) == stop else ""
    if colon is None or line_start(text, colon) == line_start(text, spot.start):
        return [Splice(spot.start, stop, source + ended)]
    return [Splice(colon, colon, f" {source}"), Splice(line_end(text, colon), stop, ended)]


def block_segments(text: str, spot: Spot) -> list[tuple[int, int]]:
    """What goes with each entry to another place: comments directly above, and the one behind it.

    Where the first entry shares its line with what it is in, comments have no place above it.
    """
    plainly = begins_line(text, spot.entries[0].start)
    starts = (comments_above(text, entry.start) if plainly else entry.start for entry in spot.entries)
    return [(start, _stop(text, entry)) for start, entry in zip(starts, spot.entries, strict=True)]


def _stop(text: str, entry: Entry) -> int:
    stop = rest_end(text, entry.end)
    return line_end(text, stop - 1) if line_start(text, stop) == stop else stop
