"""Changes of mappings and lists that are written in braces and brackets."""

import re

from gitcfg.edit.lines import Splice, begins_line, lead, line_start, newline, next_line, rest_end
from gitcfg.edit.spots import Entry, Spot

_COMMA = re.compile(r"\s*,")


def insert_in_flow(text: str, spot: Spot, place: int, source: str) -> list[Splice]:
    """An entry put before another, or behind the last: on a line of its own where its neighbour is."""
    if not spot.entries:
        return [Splice(spot.start + 1, spot.start + 1, source)]
    if place == len(spot.entries):
        return _last(text, spot.entries[-1], source)
    at = spot.entries[place].start
    apart = f"{newline(text)}{lead(text, at)}" if begins_line(text, at) else " "
    return [Splice(at, at, f"{source},{apart}")]


def _last(text: str, entry: Entry, source: str) -> list[Splice]:
    if not begins_line(text, entry.start) or "\n" not in text[: entry.start]:
        return [Splice(entry.end, entry.end, f", {source}")]
    comma = _COMMA.match(text, entry.end)
    line = f"{newline(text)}{lead(text, entry.start)}{source}"
    if comma is not None:
        at = rest_end(text, comma.end())
        return [Splice(at, at, f"{line},")]
    at = rest_end(text, entry.end)
    if at == entry.end:
        return [Splice(at, at, f",{line}")]
    return [Splice(entry.end, entry.end, ","), Splice(at, at, line)]


def delete_in_flow(text: str, spot: Spot, place: int) -> list[Splice]:
    """An entry gone, with a comma, and with its line where it has one."""
    entry = spot.entries[place]
    comma = _COMMA.match(text, entry.end)
    stop = comma.end() if comma else entry.end
    if len(spot.entries) == 1:
        return [Splice(entry.start, stop)]
    if begins_line(text, entry.start) and _ends_line(text, stop):
        lines = Splice(line_start(text, entry.start), next_line(text, stop))
        before = _COMMA.match(text, spot.entries[place - 1].end) if place and comma is None else None
        return [lines] if before is None else [Splice(before.end() - 1, before.end()), lines]
    if place + 1 < len(spot.entries):
        return [Splice(entry.start, spot.entries[place + 1].start)]
    return [Splice(spot.entries[place - 1].end, entry.end)]


def _ends_line(text: str, at: int) -> bool:
    end = rest_end(text, at)
    return text[end : end + 1] in ("\n", "\r")
