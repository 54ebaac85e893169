"""What is kept of what a command says: the end, without what is to be hidden."""

from __future__ import annotations

from .hiding import Hiding

OUTPUT = 4096
"""Bytes of its output that are kept, from the end."""


class Said:
    """The end of what a command says, without what is to be hidden."""

    def __init__(self, hides: Hiding) -> None:
        self._hides = hides
        self._end = b""
        self._cut = False

    def add(self, more: bytes) -> None:
        """Keep so much that a word to be hidden is there whole wherever it touches what is told."""
        said = self._end + more
        self._end = said[-(OUTPUT + self._hides.longest) :]
        self._cut = self._cut or len(said) > len(self._end)

    @property
    def text(self) -> str:
        """What is told of it. Where it begins in the middle of a hidden word, that line is left out."""
        said = self._end
        if self._cut and self._hides.words:
            said = said.partition(b"\n")[2] or said[self._hides.longest :]
        return self._hides.out_of(said)[-OUTPUT:].decode(errors="replace")
