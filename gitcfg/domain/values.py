"""Values of domains: their kinds, the operations on sets of them, and the kind that a text looks like."""

import re
from collections.abc import Iterator
from enum import StrEnum
from typing import Protocol

from gitcfg.model.names import shown

Value = int | str
"""A value in its normal form: numbers are int, all others are text."""


class Kind(StrEnum):
    """The kind of a domain's values."""

    INTEGER = "integer"
    TEXT = "text"
    ADDRESS = "address"
    NETWORK = "network"
    DATE = "date"

    @property
    def one(self) -> str:
        """The name of one value of this kind, for messages."""
        return _ONE[self]


_ONE = {
    Kind.INTEGER: "a number",
    Kind.TEXT: "text",
    Kind.ADDRESS: "an address",
    Kind.NETWORK: "a network",
    Kind.DATE: "a date",
}


# Immutable sets of values, with the operations that all kinds have.


class Values(Protocol):
    """An ordered set of values of one kind; operations with another kind find nothing in common.

    The cost of every operation grows with the number of items that describe the set, not with the number of
    values (an IPv6 network has 2^64). Equal sets hold the same values in the same order.
    """

    @property
    def kind(self) -> Kind:
        """The kind of the values."""

    @property
    def size(self) -> int:
        """The exact number of values; `len()` is limited to 2^63."""

    def __bool__(self) -> bool:
        """Return whether the set has any values."""

    def __contains__(self, value: object) -> bool:
        """Return whether the set contains a value, in any of its forms."""

    def __iter__(self) -> Iterator[Value]:
        """Yield the values in their normal form, in ascending order; text in the order of the list."""

    def normal(self, value: object) -> Value:
        """Return the normal form of a value of this kind, in the set or not.

        A number is an int. Everything else is text: an address compressed and in lower case, a network
        `ADDRESS/LENGTH`, a date in ISO 8601. Raise DomainProblem if the value is of another kind.
        """

    def items(self) -> tuple[Value, ...]:
        """Return the shortest items that `parse` reads, without a type, as an equal set."""

    def describe(self) -> str:
        """Return the items on one line: `80, 1024-65535`.

        Text with misleading characters is quoted as in JSON.
        """

    def __and__(self, other: "Values") -> "Values":
        """Return the values that are in both sets."""

    def __or__(self, other: "Values") -> "Values":
        """Return the values of both sets.

        Raise DomainProblem for different kinds, or networks of two lengths.
        """

    def __sub__(self, other: "Values") -> "Values":
        """Return the values of this set that are not in the other."""


# An error in a domain as it is written, or in a value that should be in one.


class DomainProblem(ValueError):
    """An error in one sentence, with its place and a hint.

    `index` is that of the item, from 0, or None for an error in all items or in a value. `column` is the
    character within the item's text, from 1.
    """

    def __init__(self, message: str, column: int = 1, hint: str = "", index: int | None = None) -> None:
        super().__init__(message, column, hint, index)
        self.message, self.column, self.hint, self.index = message, column, hint, index

    def __str__(self) -> str:
        place = "" if self.index is None else f"item {self.index + 1}, column {self.column}: "
        return f"{place}{self.message}"

    def moved(self, columns: int, index: int | None = None) -> "DomainProblem":
        """Return the same problem for item `index`, whose text begins `columns` further right."""
        return DomainProblem(self.message, self.column + columns, self.hint, index)


# What a text looks like: a range of numbers, an address, a network, a date, or text.

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
    """Return the kind that a text was probably meant as, even if it is wrong (`10.0.0.300`)."""
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
    # Times (12:30:45) and MAC addresses (00:16:3e:00:00:01) have colons too, but fewer.
    six = "::" in head or head.count(":") == 7
    return (six or bool(_FOUR.fullmatch(head))) and text[len(head) :][:1] in _AFTER_ADDRESS


def is_decimal(text: str) -> bool:
    """Return whether a text is an integer in decimal."""
    return bool(_DECIMAL.fullmatch(text))


def is_plain(text: str) -> bool:
    """Return whether an item with this text means exactly this text."""
    marked = not text or text[0] in "!=" or text != text.strip()
    return not marked and shape(text) is Kind.TEXT and range_of_text(text) is None


def range_of_text(text: str) -> DomainProblem | None:
    """Return what is wrong with a text item that looks like a range, or None if it does not."""
    if problem := misspelt(text):
        return problem
    line = " ".join(text.split())
    ends = line.split("..")
    if _WORDS.fullmatch(line) or (len(ends) == 2 and all(map(_WORD.fullmatch, ends))):
        hint = f"list the values, or write ={shown(line)} for just this text"
        return DomainProblem("text has no ranges", hint=hint)
    return None


def misspelt(text: str) -> DomainProblem | None:
    """Return what is wrong with a range (not of text) that has no hyphen between its ends, or None."""
    ends = _OTHER_DASHES.split(" ".join(text.split()), maxsplit=2)
    written = " - ".join(ends)
    if len(ends) != 2 or shape(written) is Kind.TEXT:
        return None
    return DomainProblem("a range has a hyphen between its ends", hint=f"write {shown(written)}")
