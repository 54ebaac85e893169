"""Where the characters of plain and quoted scalars stand."""

import re
from collections.abc import Iterator

_FOLDED = re.compile(r"[ \t]*(?:\r?\n[ \t]*)+")
_ESCAPED_BREAK = re.compile(r"\\\r?\n[ \t]*((?:\r?\n[ \t]*)*)")
_CODE = re.compile(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))")
_ESCAPES = {
    "0": "\0",
    "a": "\a",
    "b": "\b",
    "t": "\t",
    "\t": "\t",
    "n": "\n",
    "v": "\v",
    "f": "\f",
    "r": "\r",
    "e": "\x1b",
    "N": "\x85",
    "_": "\xa0",
    "L": "\u2028",
    "P": "\u2029",
}
"""Any other character stands for itself."""


def flow_spots(text: str, start: int, value: str) -> Iterator[int]:
    """Where each character of a value stands in the text, and its end; fewer if the text says another."""
    quote = text[start] if text[start] in "\"'" else ""
    at, done = start + len(quote), 0
    while done < len(value):
        said, width = _unit(text, at, quote)
        if width == 0 or not value.startswith(said, done):
            return
        yield from [at] * len(said)
        at, done = at + width, done + len(said)
    yield at


def _unit(text: str, at: int, quote: str) -> tuple[str, int]:
    """What the next few characters say, and how many they are."""
    if folded := _FOLDED.match(text, at):
        breaks = folded[0].count("\n")
        return " " if breaks == 1 else "\n" * (breaks - 1), len(folded[0])
    if quote == "'" and text.startswith("''", at):
        return "'", 2
    if quote == '"' and text.startswith("\\", at):
        return _escaped(text, at)
    return text[at : at + 1], len(text[at : at + 1])


def _escaped(text: str, at: int) -> tuple[str, int]:
    if line_break := _ESCAPED_BREAK.match(text, at):
        return "\n" * line_break[1].count("\n"), len(line_break[0])
    if code := _CODE.match(text, at):
        number = int(code[1] or code[2] or code[3], 16)
        return (chr(number), len(code[0])) if number < 0x110000 else ("", 0)
    sign = text[at + 1 : at + 2]
    return _ESCAPES.get(sign, sign), 1 + len(sign)
