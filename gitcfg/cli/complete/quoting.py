"""Words as shells write them: what a line up to the cursor says, and how a candidate is written into it."""

import re
from typing import NamedTuple

_BLANKS = " \t\n"
_NOT_BARE = re.compile(r"[^A-Za-z0-9_.+@/,:=%-]")
_SPECIAL_IN_QUOTES = '$`"\\'


class Word(NamedTuple):
    """What a word means, and the quote that is still open at its end, if one is."""

    value: str
    quote: str = ""


def split(line: str, blanks: str = _BLANKS) -> list[Word]:
    """The words of a line; the last is the one at its end, empty behind a blank."""
    words: list[Word] = []
    value: list[str] | None = None
    quote = ""
    characters = iter(line)
    for c in characters:
        if not quote and c in blanks:
            words += [Word("".join(value))] if value is not None else []
            value = None
            continue
        value = [] if value is None else value
        if c == quote:
            quote = ""
        elif not quote and c in "\"'":
            quote = c
        else:
            value.append(_escaped(next(characters, ""), quote) if c == "\\" and quote != "'" else c)
    return [*words, Word("".join(value or ()), quote)]


def _escaped(c: str, quote: str) -> str:
    """Within double quotes a backslash counts only before what is special there."""
    return c if not quote or not c or c in _SPECIAL_IN_QUOTES else f"\\{c}"


def unquoted(word: str) -> str:
    """What a word means; blanks that are in it belong to it."""
    return split(word, "")[-1].value


def quoted(text: str, quote: str) -> str:
    """A text so that bash takes it literally where that quote is open."""
    if quote == "'":
        return text.replace("'", "'\\''")
    if quote:
        return "".join(f"\\{c}" if c in _SPECIAL_IN_QUOTES else c for c in text)
    return _NOT_BARE.sub(r"\\\g<0>", text)
