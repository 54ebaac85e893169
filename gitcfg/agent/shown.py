"""Text on its way to a terminal or a log: what others wrote may hold control sequences, or no text at all."""

from __future__ import annotations

_ODD = (*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Control characters but tab and newline, and those that turn the direction of what follows."""
_SHOWN = dict.fromkeys(_ODD, "\N{REPLACEMENT CHARACTER}")


def shown(text: str, encoding: str | None) -> str:
    """The text without what a terminal obeys, in characters that an encoding has."""
    code = encoding or "utf-8"
    return text.translate(_SHOWN).encode(code, "backslashreplace").decode(code)


def times(number: int) -> str:
    """`once`, `3 times`."""
    return "once" if number == 1 else f"{number} times"
