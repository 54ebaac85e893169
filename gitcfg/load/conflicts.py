"""Merges that nobody has resolved: the markers that git leaves in a file, and what is said of them."""

import re
from collections.abc import Iterator, Sequence

import msgspec

from gitcfg.model import Finding, Origin, Severity

_MARKER = re.compile(r"^(<{7}|\|{7}|={7}|>{7})(?=[ \r\n]|\Z)", re.MULTILINE)
_BEGIN, _MIDDLE, _END = "<<<<<<<", "=======", ">>>>>>>"
_SHOWN = 5
_HINT = "Keep the lines that are meant and delete those with markers; `git status` names all such files."


class Block(msgspec.Struct, frozen=True):
    """The lines from its first marker to its last. `whole`: it begins, parts and ends as git writes it."""

    first: int
    last: int
    whole: bool


def conflicts(text: str) -> list[Block]:
    """The conflicts in a text, in order. Where some markers were deleted, what is left of them is one.

    `=======` alone is none: texts underline with it.
    """
    if _BEGIN not in text and _END not in text:  # nearly all texts, of which none waits for the rest
        return []
    return left_over(text)


def left_over(text: str) -> list[Block]:
    """The same of a text in which no line may begin with `=======` either."""
    return list(_blocks([(text.count("\n", 0, m.start()) + 1, m[1]) for m in _MARKER.finditer(text)]))


def _blocks(markers: Sequence[tuple[int, str]]) -> Iterator[Block]:
    held: list[tuple[int, str]] = []
    for marker in markers:
        if marker[1] == _BEGIN and held:
            yield _block(held)
            held = []
        held.append(marker)
        if marker[1] == _END:
            yield _block(held)
            held = []
    if held:
        yield _block(held)


def _block(markers: Sequence[tuple[int, str]]) -> Block:
    kinds = [kind for _, kind in markers]
    whole = kinds[0] == _BEGIN and kinds[-1] == _END and _MIDDLE in kinds
    return Block(markers[0][0], markers[-1][0], whole)


def unresolved(file: str, blocks: Sequence[Block], severity: Severity = Severity.ERROR) -> Finding:
    """GC101: one finding a file, at each conflict."""
    spans = ", ".join(f"{block.first} to {block.last}" for block in blocks[:_SHOWN])
    more = f" and {len(blocks) - _SHOWN:,} more" if len(blocks) > _SHOWN else ""
    message = f"An unresolved merge, lines {spans}{more}."
    origins = tuple(Origin(file, block.first) for block in blocks)
    return Finding("GC101", (file,), message, origins, severity=severity, hint=_HINT)
