"""Where in a text a pattern is found: the line, the column, and the line's part around it."""

import re
from collections.abc import Iterator

import msgspec

from gitcfg.explain.written import Written

_AROUND = 70
_LONGEST = 160


class Hit(msgspec.Struct, frozen=True):
    """A line in which something is found, or the beginning of what holds it. `spans` are in the excerpt.

    `veiled`: it is found in a secret that stands there in plain text.
    """

    line: int
    column: int
    excerpt: str
    spans: tuple[tuple[int, int], ...]
    veiled: bool = False


def in_lines(text: str, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Every line of a text in which the pattern is found, or begins."""
    found: dict[int, list[tuple[int, int]]] = {}
    number, seen = 1, 0
    for match in pattern.finditer(text):
        number, seen = number + text.count("\n", seen, match.start()), match.start()
        begin = text.rfind("\n", 0, seen) + 1
        found.setdefault(number, []).append((seen - begin, match.end() - begin))
    lines = text.split("\n") if found else []
    for number, spans in found.items():
        line = lines[number - 1]
        yield _hit(number, line, [(start, min(end, len(line))) for start, end in spans])


def in_value(lines: list[str], written: Written, pattern: re.Pattern[str]) -> Iterator[Hit]:
    """Where a written value holds the pattern: in each line of a block, else in the first line that does.

    Where it is written otherwise than it reads (escapes, folded lines) that is the value's beginning.
    """
    (first, column), (last, end) = written.start, written.end
    head = lines[first - 1][column - 1 : column] if first <= len(lines) else ""
    block, plain = head in ("|", ">"), head not in ("|", ">", "'", '"')
    found = False
    for number in range(first, min(last, len(lines)) + 1):
        start = column - 1 if number == first else 0
        line = lines[number - 1]
        stop = end - 1 if number == last else len(line)
        comment = line.find(" #", start, stop) if plain else -1
        spans = [match.span() for match in pattern.finditer(line, start, stop if comment < 0 else comment)]
        if spans:
            yield _hit(number, line, spans)
            found = True
            if not block:
                return
    if not found and first <= len(lines):
        yield whole(first, column, lines[first - 1])


def whole(line: int, column: int, text: str) -> Hit:
    """A line in which nothing is marked."""
    return Hit(line, column, text.strip()[:_LONGEST], ())


def _hit(number: int, line: str, spans: list[tuple[int, int]]) -> Hit:
    """A line; of a long one the part around the first place."""
    column = spans[0][0] + 1
    start = len(line) - len(line.lstrip())
    stop = len(line.rstrip())
    if stop - start > _LONGEST:
        start = max(start, spans[0][0] - _AROUND)
        stop = min(stop, max(spans[0][1], spans[0][0] + _AROUND))
    inside = [(a - start, b - start) for a, b in spans if a >= start and b <= stop]
    return Hit(number, column, line[start:stop], tuple(inside))
