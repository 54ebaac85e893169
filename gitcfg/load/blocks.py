"""Where the characters of literal and folded blocks stand."""

import re
from collections.abc import Iterator
from itertools import islice

_LINE = re.compile(r"([^\r\n]*)(\r?\n|$)")


def block_spots(text: str, start: int, value: str) -> Iterator[int]:
    """Where each character of a value stands in the text, and its end; fewer if the text says another."""
    # As many as it may have, and not those of the whole file: none gives less than one character.
    lines = [(found.start(), found[1]) for found in islice(_LINE.finditer(text, start), len(value) + 2)][1:]
    indent, joint = _indent(lines, value), " " if text[start] == ">" else ""
    end, done = start, 0
    for begin, line in lines:
        content = line[indent:]
        if not content:
            continue
        gap = _gap(value, done, content, joint if end > start else "")
        yield from [end] * gap
        done += gap
        if done == len(value) or not value.startswith(content, done) or (end > start and not gap):
            break
        yield from range(begin + indent, begin + len(line))
        done, end = done + len(content), begin + len(line)
    if not value[done:].strip("\n"):
        yield from [end] * (len(value) - done + 1)


def _indent(lines: list[tuple[int, str]], value: str) -> int:
    """How far the block is indented: its first line may begin with blanks of its own."""
    own, first = value.lstrip("\n"), next((line for _, line in lines if line.strip(" ")), "")
    return max(0, _blanks(first) - _blanks(own))


def _blanks(text: str) -> int:
    return len(text) - len(text.lstrip(" "))


def _gap(value: str, done: int, content: str, joint: str) -> int:
    """How many characters of the value, from there on, line ends have become."""
    if joint and value.startswith(joint + content, done):
        return 1
    return len(value[done:]) - len(value[done:].lstrip("\n"))
