"""What a domain's values may be."""

from enum import StrEnum

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
