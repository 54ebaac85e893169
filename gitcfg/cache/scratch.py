"""A cache over another one, which is only read: what is found out is forgotten in the end."""

from typing import Any, TypeVar

import msgspec

from gitcfg.cache.cache import Cache

T = TypeVar("T")

MOST_BYTES = 64 << 20


class Scratch:
    """Keeps answers in memory, the latest up to so many bytes."""

    def __init__(self, below: Cache) -> None:
        self._below = below
        self._answers: dict[str, bytes] = {}
        self._size = 0

    def get(self, question: str, kind: type[T]) -> T | None:
        """The answer kept here, else the one below."""
        found = self._answers.get(question)
        if found is None:
            return self._below.get(question, kind)
        try:
            return msgspec.msgpack.decode(found, type=kind)
        except ValueError:
            return None

    def spill(self) -> None:
        """Keep below what was found out."""
        for question, data in self._answers.items():
            self._below.put(question, msgspec.Raw(data))

    def put(self, question: str, answer: Any) -> None:
        """Keep an answer until there are too many."""
        try:
            data = msgspec.msgpack.encode(answer)
        except (OverflowError, ValueError):
            return
        self._size += len(data) - len(self._answers.pop(question, b""))
        self._answers[question] = data
        while self._size > MOST_BYTES:
            oldest = next(iter(self._answers))
            self._size -= len(self._answers.pop(oldest))
