"""Redaction: values of secrets are taken out of the output of commands before it is kept or shown."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import NamedTuple

SHORTEST = 6
"""Characters of what is looked for: shorter words stand in any text."""
INSTEAD = b"<secret>"

_SHOWN = re.compile(r"<secret [^<>\n]* v[0-9]+>")


class Redaction(NamedTuple):
    """The words to hide, longest first."""

    words: tuple[bytes, ...] = ()

    @property
    def longest(self) -> int:
        """The bytes of the longest word."""
        return len(self.words[0]) if self.words else 0

    def redact(self, text: bytes) -> bytes:
        """Return the text without those words."""
        for word in self.words:
            text = text.replace(word, INSTEAD)
        return text


NONE = Redaction()


def make_redaction(files: Iterable[tuple[bytes, bytes]]) -> Redaction:
    """The words of files' true contents, each beside the content that is shown."""
    found = {word for shown, true in files for word in _words(shown, true)}
    return Redaction(tuple(sorted((word.encode() for word in found), key=lambda word: (-len(word), word))))


def _words(shown: bytes, true: bytes) -> Iterator[str]:
    """Lines that the shown content has not, and of each what stands where that has a secret's name."""
    lines = shown.decode(errors="replace").splitlines()
    with_names = [_SHOWN.split(line) for line in lines if _SHOWN.search(line)]
    for line in set(true.decode(errors="replace").splitlines()).difference(lines):
        for word in (line, *(value for parts in with_names for value in _between(line, parts))):
            yield from (one for one in {word.strip(), _plain(word)} if len(one) >= SHORTEST)


def _between(line: str, parts: list[str]) -> Iterator[str]:
    """What a line has between some texts; nothing if it does not have them."""
    if not line.startswith(parts[0]) or not line.endswith(parts[-1]):
        return
    rest = line[len(parts[0]) : len(line) - len(parts[-1])]
    for text in parts[1:-1]:
        value, _, rest = rest.partition(text) if text else (rest, "", "")
        yield value
    yield rest


def _plain(word: str) -> str:
    """A word as it was before JSON's escapes."""
    if "\\" in word:
        import json

        with suppress(ValueError):
            return str(json.loads(f'"{word}"')).strip()
    return ""


OUTPUT = 4096
"""Bytes of its output that are kept, from the end."""


class OutputTail:
    """The end of what a command says, without what is to be hidden."""

    def __init__(self, redaction: Redaction) -> None:
        self._redaction = redaction
        self._end = b""
        self._cut = False

    def add(self, more: bytes) -> None:
        """Keep so much that a word to be hidden is there whole wherever it touches what is told."""
        output = self._end + more
        self._end = output[-(OUTPUT + self._redaction.longest) :]
        self._cut = self._cut or len(output) > len(self._end)

    @property
    def text(self) -> str:
        """The end of the output, redacted; a line that begins in the middle of a secret is left out."""
        output = self._end
        if self._cut and self._redaction.words:
            output = output.partition(b"\n")[2] or output[self._redaction.longest :]
        return self._redaction.redact(output)[-OUTPUT:].decode(errors="replace")
