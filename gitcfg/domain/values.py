"""Values of domains: their kinds, what all sets of them can do, and which kind a text looks like."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Protocol

from gitcfg.model.names import shown

Value = int | str
"""A value in its normal form: only numbers are no text."""


class Kind(StrEnum):
    """What all values of a domain are."""

    INTEGER = "integer"
    TEXT = "text"
    ADDRESS = "address"
    NETWORK = "network"
    DATE = "date"

    @property
    def one(self) -> str:
        """A value of this kind, in words."""
        return _ONE[self]


_ONE = {
    Kind.INTEGER: "a number",
    Kind.TEXT: "text",
    Kind.ADDRESS: "an address",
    Kind.NETWORK: "a network",
    Kind.DATE: "a date",
}


# A set of values that never changes: what all kinds of them can do.


class Values(Protocol):
    """A set of values of one kind, in order; an operation with one of another kind finds nothing in common.

    Nothing here takes longer the more values there are (an IPv6 network has 2^64), only the more items
    it takes to write them. Two that are equal hold the same values in the same order.
    """

    @property
    def kind(self) -> Kind:
        """What the values are."""

    @property
    def size(self) -> int:
        """How many values there are, exactly; `len()` ends at 2^63."""

    def __bool__(self) -> bool:
        """Return whether there are any."""

    def __contains__(self, value: object) -> bool:
        """Return whether this is one of them, in any form."""

    def __iter__(self) -> Iterator[Value]:
        """Yield the values in their normal form: from the least, text as it was listed."""

    def normal(self, value: object) -> Value:
        """Return the one form of what a value of this kind means, be it in the set or not.

        A number is an int, everything else text: an address compressed and in lower case, a network
        `ADDRESS/LENGTH`, a date ISO 8601's. DomainProblem: it is no value of this kind.
        """

    def items(self) -> tuple[Value, ...]:
        """Return the shortest items that `parse` reads as an equal set without a type; none for no values."""

    def describe(self) -> str:
        """Return the items on one line: `80, 1024-65535`; text with signs that mislead as JSON writes it."""

    def __and__(self, other: "Values") -> "Values":
        """Return what is in both."""

    def __or__(self, other: "Values") -> "Values":
        """Return what is in one of them. DomainProblem: they are of two kinds, or networks of two lengths."""

    def __sub__(self, other: "Values") -> "Values":
        """Return what is in this alone."""


# What is wrong with a domain as it is written, or with a value that should be in one.


class DomainProblem(ValueError):
    """One sentence, where, and what to do about it.

    `index` is the item's, from 0; None: it is about all of them, or about a value. `column` is the
    character within the item's text, from 1.
    """

    def __init__(self, message: str, column: int = 1, hint: str = "", index: int | None = None) -> None:
        super().__init__(message, column, hint, index)
        self.message, self.column, self.hint, self.index = message, column, hint, index

    def __str__(self) -> str:
        place = "" if self.index is None else f"item {self.index + 1}, column {self.column}: "
        return f"{place}{self.message}"

    def moved(self, columns: int, index: int | None = None) -> "DomainProblem":
        """Return the same, for a text that begins so many columns further right, of this item."""
        return DomainProblem(self.message, self.column + columns, self.hint, index)


# What a text looks like: a number's range, an address, a network, a date, or none of them.

_NUMBERS = re.compile(r"[-+]?[0-9]+\s*-\s*[-+]?[0-9]+")
_DECIMAL = re.compile(r"[-+]?[0-9]+")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}(?=\s|-|$)")
_ADDRESS_SIGNS = re.compile(r"[0-9A-Fa-f:.]*")
_FOUR = re.compile(r"[0-9]{1,3}(?:\.[0-9]{1,3}){3}")
_AFTER_ADDRESS = ("", " ", "\t", "-", "/", "%")
_OTHER_DASHES = re.compile(r" ?(?:\.\.+|–|—) ?| to ")
_WORDS = re.compile(r"[A-Za-z]-[A-Za-z]|\S+ - \S+")
_WORD = re.compile(r" ?[^\s/]+ ?")


def shape(text: str) -> Kind:
    """Return what a text was probably meant as, even if something is wrong with it (`10.0.0.300`)."""
    if _NUMBERS.fullmatch(text):
        return Kind.INTEGER
    if _DATE.match(text):
        return Kind.DATE
    if not _begins_with_address(text):
        return Kind.TEXT
    hyphen = text.find("-")
    networks = text.split()[1:2] == ["in"] or "/" in text[: max(hyphen, 0)]
    return Kind.NETWORK if networks else Kind.ADDRESS


def _begins_with_address(text: str) -> bool:
    signs = _ADDRESS_SIGNS.match(text)
    head = signs[0] if signs else ""
    # A time (12:30:45) and a network card (00:16:3e:00:00:01) have colons, too, but fewer.
    six = "::" in head or head.count(":") == 7
    return (six or bool(_FOUR.fullmatch(head))) and text[len(head) :][:1] in _AFTER_ADDRESS


def is_decimal(text: str) -> bool:
    """Return whether it is a number, but for its quotes."""
    return bool(_DECIMAL.fullmatch(text))


def is_plain(text: str) -> bool:
    """Return whether an item with this text stands for just this text."""
    marked = not text or text[0] in "!=" or text != text.strip()
    return not marked and shape(text) is Kind.TEXT and range_of_text(text) is None


def range_of_text(text: str) -> DomainProblem | None:
    """Return what is wrong with an item of text that looks like a range of something."""
    if problem := misspelt(text):
        return problem
    line = " ".join(text.split())
    ends = line.split("..")
    if _WORDS.fullmatch(line) or (len(ends) == 2 and all(map(_WORD.fullmatch, ends))):
        hint = f"list the values, or write ={shown(line)} for just this text"
        return DomainProblem("text has no ranges", hint=hint)
    return None


def misspelt(text: str) -> DomainProblem | None:
    """Return what is wrong with a range of something else than text that is written in another way."""
    ends = _OTHER_DASHES.split(" ".join(text.split()), maxsplit=2)
    written = " - ".join(ends)
    if len(ends) != 2 or shape(written) is Kind.TEXT:
        return None
    return DomainProblem("a range has a hyphen between its ends", hint=f"write {shown(written)}")
