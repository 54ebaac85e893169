"""A YAML document's values, and where they stand; Ruby's tags are not kept."""

import msgspec

from gitcfg.load.yaml import resolve
from gitcfg.model import GitcfgError

_HINT = "`wallaby dump FILE` writes a dump; give that file as it is."


class Text(msgspec.Struct, frozen=True):
    """A scalar: its source text, and whether it was written without quotes."""

    text: str
    plain: bool
    line: int
    column: int

    @property
    def absent(self) -> bool:
        """Is it YAML's null?"""
        return self.plain and (self.text == "" or resolve_plain(self) is None)


class Items(msgspec.Struct, frozen=True):
    """A list."""

    items: tuple["Value", ...]
    line: int
    column: int


class Table(msgspec.Struct, frozen=True):
    """A mapping."""

    entries: dict[str, "Value"]
    line: int
    column: int


Value = Text | Items | Table


def resolve_plain(value: Text) -> object:
    """What YAML takes a plain scalar for, the text itself where it is beyond use."""
    try:
        return resolve(value.text)
    except ValueError:
        return value.text


def dump_error(message: str, line: int = 0, column: int = 0) -> GitcfgError:
    """The error that stops an import, with the place if there is one."""
    place = f" (line {line}, column {column})" if line else ""
    return GitcfgError(f"This is not a Wallaby dump{place}: {message}.", _HINT)


def value_error(value: Value, message: str) -> GitcfgError:
    """The error that a value causes."""
    return dump_error(message, value.line, value.column)
