"""Two versions of a value, with the words in which they differ marked."""

import re
from difflib import SequenceMatcher

from rich.text import Text

_WORD = re.compile(r"\w+|\s+|.")
_MOST = 400
"""Words beyond which nothing is marked: matching takes time that grows with their product."""


def mark_differences(old: str | None, new: str | None) -> tuple[Text | None, Text | None]:
    """The old value in red and the new one in green; what is on one side only is set off."""
    before = Text(old, "red") if old is not None else None
    after = Text(new, "green") if new is not None else None
    if old is None or new is None or before is None or after is None:
        return before, after
    ours, theirs = _WORD.findall(old), _WORD.findall(new)
    if max(len(ours), len(theirs)) > _MOST:
        return before, after
    for tag, i, j, k, m in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        if tag != "equal":
            _mark(before, ours, i, j)
            _mark(after, theirs, k, m)
    return before, after


def _mark(text: Text, words: list[str], first: int, last: int) -> None:
    start = sum(map(len, words[:first]))
    text.stylize("bold underline", start, start + sum(map(len, words[first:last])))
