"""The protocol of formats: values in, text out, and what a format cannot carry."""

from collections.abc import Iterator, Mapping
from typing import Any, Protocol, runtime_checkable

import msgspec

_EXACT = 1 << 53  # integers below are the same in all languages
Separators = Mapping[str, str | None]


class Unfit(msgspec.Struct, frozen=True):
    """Something that a format cannot carry: GC309, or GC310 for names that nest into each other."""

    code: str
    subjects: tuple[str, ...]
    reason: str
    hint: str = ""


class Format(Protocol):
    """Writes parameters so that reading the text gives them back, or says why it cannot."""

    name: str

    def write(self, values: Mapping[str, Any], separators: Separators) -> str:
        """The text, in order of name. Bare parameters (None) are left out."""
        ...

    def unfit(self, values: Mapping[str, Any], separators: Separators) -> Iterator[Unfit]:
        """What cannot be carried; if nothing, the text reads back as the values."""
        ...


@runtime_checkable
class LineFormat(Format, Protocol):
    """A format whose text is what it writes of each parameter by itself, one after the other.

    It cannot carry a parameter for that one's own sake alone, or because of another that is spelled alike.
    """

    def spelling(self, name: str) -> str:
        """The same for names that are one to the format's readers."""
        ...


def present(values: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """The parameters that have a value, in order of name."""
    return [(name, values[name]) for name in sorted(values) if values[name] is not None]


def is_simple(value: Any) -> bool:
    """Return whether every format carries a plain value: whatever has nothing unusual in it."""
    if type(value) is str:
        return value.isprintable() and value.strip() == value and value[-1:] != "\\"
    return type(value) is bool or (type(value) is int and abs(value) < _EXACT)


def unfit_name(name: str, reason: str) -> Unfit:
    """A name that the format would read otherwise, or not at all."""
    return Unfit("GC309", (name,), reason, f'Keep it out of this file: "!{name}" under `params:`.')
