"""What judges rendered files: targets' own parsers, which are handed in from above."""

from collections.abc import Mapping
from typing import Any, Protocol

import msgspec


class Meant(msgspec.Struct, frozen=True):
    """What a file was written from: values by parameter, and how each one's lists are separated."""

    values: Mapping[str, Any]
    separators: Mapping[str, str | None] = {}


class Verdict(msgspec.Struct, frozen=True):
    """One thing that a parser has against a text.

    `reason` continues "The file PATH ..."; `line` is in the text, 0 if none is known; `params` are the
    parameters that it is about, if they are known. What is not `grave` is a warning.
    """

    reason: str
    line: int = 0
    params: tuple[str, ...] = ()
    hint: str = ""
    grave: bool = True


class Judge(Protocol):
    """Asks parsers about texts; `formats` are those that it has one for."""

    formats: frozenset[str]

    def begin(self) -> None:
        """Get ready, for there will be questions."""
        ...

    def judge(self, format: str, text: str, meant: Meant | None) -> tuple[Verdict, ...]:
        """What is wrong with a text. Without `meant` only whether its parser accepts it is asked."""
        ...
