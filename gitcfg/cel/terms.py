"""The terms of an expression, read from CEL's checked form (`cel.expr.CheckedExpr`)."""

from collections.abc import Iterable, Iterator
from enum import Enum
from itertools import takewhile

import msgspec


class Form(Enum):
    """The form of a term; its number is that of the field of `cel.expr.Expr`."""

    CONSTANT = 3
    NAME = 4
    FIELD = 5
    CALL = 6
    LIST = 7
    MAP = 8
    LOOP = 9


class Term(msgspec.Struct, frozen=True):
    """A term. `words`: a name, a field's or function's name, a text, or the variables of a loop."""

    form: Form
    words: tuple[str, ...]
    _inner: tuple[bytes, ...] = ()

    @property
    def parts(self) -> list["Term"]:
        """The terms inside it, in order."""
        return [_term(inner) for inner in self._inner]

    def parts_with(self, letters: bytes) -> list["Term"]:
        """Return the terms inside it whose serialized form contains these letters."""
        return [_term(inner) for inner in self._inner if letters in inner]

    @property
    def path(self) -> str:
        """`node.features` for a name with fields; an empty text for any other term."""
        fields, term = "", self
        while term.form is Form.FIELD:
            fields, term = f".{term.words[0]}{fields}", term.parts[0]
        return term.words[0].removeprefix(".") + fields if term.form is Form.NAME else ""


def outermost(checked: bytes) -> Term:
    """Return the outermost term of a serialized expression."""
    return _term(_find_field(_find_field(checked, 2), 4))


def find_names(checked: bytes, names: Iterable[str]) -> frozenset[str]:
    """Return which of these names a serialized expression refers to. A loop variable may hide one."""
    marks = {name: b"\n" + bytes([len(name)]) + name.encode() for name in names}
    marks = {name: mark for name, mark in marks.items() if mark in checked}
    fields = _fields(_find_field(checked, 2)) if marks else ()
    entries = [held for _, held in takewhile(lambda field: field[0] == 2, fields)]  # they come first
    return frozenset(name for name, mark in marks.items() if any(mark in entry for entry in entries))


_WORDS = {
    Form.CONSTANT: (6,),
    Form.NAME: (1,),
    Form.FIELD: (2,),
    Form.CALL: (2,),
    Form.LOOP: (1, 3, 8),
}
_TERMS = {
    Form.FIELD: (1,),
    Form.CALL: (1, 3),
    Form.LIST: (1,),
    Form.LOOP: (2, 4, 5, 6, 7),
}
"""The numbers of the fields that contain terms."""


def _term(message: bytes) -> Term:
    number, body = next((number, body) for number, body in _fields(message) if number != 2)
    form, fields = Form(number), [each for each in _fields(body) if isinstance(each[1], bytes)]
    words = [held.decode() for number, held in fields if number in _WORDS.get(form, ())]
    if form is Form.MAP:
        entries = [entry for number, entry in fields if number == 2]
        return Term(
            form, (), tuple(held for entry in entries for number, held in _fields(entry) if number in (3, 4))
        )
    return Term(form, tuple(words), tuple(held for number, held in fields if number in _TERMS.get(form, ())))


def _find_field(message: bytes, number: int) -> bytes:
    return next(content for each, content in _fields(message) if each == number)


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield the fields of a message: number and content, which is empty for a field that is a number."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        size = {1: 8, 5: 4}.get(tag & 7, 0)
        if tag & 7 in (0, 2):
            size, at = _varint(message, at)
        content = message[at : at + size] if tag & 7 == 2 else b""
        at += size if tag & 7 else 0
        yield tag >> 3, content


def _varint(message: bytes, at: int) -> tuple[int, int]:
    """Return a varint (seven bits a byte), and the offset after it."""
    value = shift = 0
    while message[at] & 0x80:
        value |= (message[at] & 0x7F) << shift
        at, shift = at + 1, shift + 7
    return value | message[at] << shift, at + 1
