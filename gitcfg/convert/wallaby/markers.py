"""The markers at the beginning of Wallaby's values, and the operations that they are."""

import re
from enum import StrEnum

import msgspec

from gitcfg.convert.wallaby.store import Parameter, Setting


class Marker(StrEnum):
    """What a value does to what lies below it."""

    SET = ""
    APPEND = ">="
    AND = "&&="
    OR = "||="
    DEFAULT = "?="
    STANDARD = "0"  # the integer: use the parameter's default
    EMPTY = "empty"  # says nothing where something lower has said anything


OPERATIONS = {
    Marker.APPEND: "$append",
    Marker.AND: "$and",
    Marker.OR: "$or",
    Marker.DEFAULT: "$default",
}
_BEGINS = {marker: re.compile(rf"(?:{re.escape(marker.value)}\s*)+") for marker in OPERATIONS}


class MarkedValue(msgspec.Struct, frozen=True):
    """A value without its marker; `bare` is the marker of one that had nothing behind it."""

    marker: Marker
    text: str = ""
    bare: Marker | None = None


def read_setting(setting: Setting, parameter: Parameter | None) -> MarkedValue:
    """What a setting means.

    A default that is empty is an empty value. An empty value of a parameter that must be changed
    only asks for one, as its default does.
    """
    given = MarkedValue(Marker.STANDARD) if setting.text is None else _split_marker(setting.text)
    if given.marker is Marker.STANDARD and not has_default(parameter) and not is_change_required(parameter):
        return MarkedValue(Marker.EMPTY)
    if given.marker is Marker.EMPTY and is_change_required(parameter):
        return MarkedValue(Marker.STANDARD, bare=given.bare)
    return given


def is_change_required(parameter: Parameter | None) -> bool:
    """Does it have to be given a value?"""
    return parameter is not None and parameter.must_change


def has_default(parameter: Parameter | None) -> bool:
    """Does it have a default that is used here?"""
    return parameter is not None and parameter.default != "" and not parameter.must_change


def _split_marker(text: str) -> MarkedValue:
    for marker, begins in _BEGINS.items():
        found = begins.match(text)
        if found:
            rest = text[found.end() :].strip()
            return MarkedValue(marker, rest) if rest else MarkedValue(Marker.EMPTY, bare=marker)
    return MarkedValue(Marker.SET, text) if text else MarkedValue(Marker.EMPTY)


def find_marker(text: str) -> Marker | None:
    """The marker that a text begins with."""
    return next((marker for marker, begins in _BEGINS.items() if begins.match(text)), None)
