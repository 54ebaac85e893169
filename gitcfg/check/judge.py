"""What judges rendered files: targets' own parsers, which are handed in from above."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from typing import Any, Protocol

import msgspec


class Meant(msgspec.Struct, frozen=True):
    """What a file was written from: values by parameter, and how each one's lists are separated."""

    values: Mapping[str, Any]
    separators: Mapping[str, str | None] = {}


class Question(msgspec.Struct, frozen=True):
    """A text in a format, and what it was written from: made up only where it is looked at.

    Without `meant` only whether its parser accepts the text is asked. `plain`: every line of it is known
    to say what was meant, to whoever reads it as it is written (see `Judge.plain`).
    """

    format: str
    text: str
    meant: Callable[[], Meant] | None = None
    plain: bool = False


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


Verdicts = tuple[Verdict, ...]


class Judge(Protocol):
    """Asks parsers about texts; `formats` are those that it knows a parser for."""

    formats: frozenset[str]

    def begin(self, formats: Set[str]) -> None:
        """Get ready, for there will be questions about texts in these formats."""
        ...

    def lacks(self, format: str) -> bool:
        """Is the parser for a format not installed, so that nothing need be asked about it?"""
        ...

    def plain(self, format: str, line: str, name: str, value: Any, separator: str | None) -> bool:
        """Does a line say that a parameter has a value, if it is read as it is written?"""
        ...

    def judge(self, questions: Iterable[Question]) -> Iterator[Verdicts]:
        """What is wrong with each text, in the order of the questions.

        Some more questions are taken before the first verdicts are given; how many is bounded.
        """
        ...
