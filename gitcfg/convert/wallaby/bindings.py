"""A layer's settings as the bindings of a repository."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.convert.literals import convert_text
from gitcfg.convert.notes import Place
from gitcfg.convert.wallaby.evidence import Evidence
from gitcfg.convert.wallaby.markers import OPERATIONS, MarkedValue, Marker, read_setting
from gitcfg.convert.wallaby.names import Names
from gitcfg.convert.wallaby.store import Setting

_EMPTY = {"$default": ""}
_READS_BELOW = (Marker.AND, Marker.OR, Marker.DEFAULT)


class Vocabulary(msgspec.Struct, frozen=True):
    """What a dump's names and parameters are in the repository."""

    names: Names
    evidence: Mapping[str, Evidence]
    kinds: Mapping[str, str]


def convert_bindings(words: Vocabulary, params: Mapping[str, Setting], place: Place) -> dict[str, Any]:
    """The `params:` of a layer, in order of name."""
    result: dict[str, Any] = {}
    for name, setting in params.items():
        field = f"params.{name}"
        spelt = words.names.parameter(name)
        if name != name.strip():
            place.dropped(field.strip(), "It is set twice here, and the name here has blanks around it.")
        elif spelt is None:
            place.dropped(field, "This is no legal name for a parameter.")
        elif spelt in result:
            place.dropped(field, "It is set twice here: names compare without case.")
        else:
            evidence = words.evidence[spelt]
            given = read_setting(setting, evidence.declaration)
            _note_binding(given, evidence, field, place)
            if not _is_hindrance(given, evidence):
                result[spelt] = _convert_binding(given, words.kinds[spelt], evidence)
    return dict(sorted(result.items()))


def _convert_binding(given: MarkedValue, kind: str, evidence: Evidence) -> Any:
    if given.marker is Marker.STANDARD:
        return None
    if given.marker is Marker.EMPTY:
        return None if evidence.marked(*_READS_BELOW) else dict(_EMPTY)
    said = convert_text(kind, given.text)
    return {OPERATIONS[given.marker]: said} if given.marker in OPERATIONS else said


def _is_hindrance(given: MarkedValue, evidence: Evidence) -> bool:
    """Is it an empty value that operations above would find, and that no bare binding can replace?"""
    return given.marker is Marker.EMPTY and evidence.default != "" and evidence.marked(*_READS_BELOW)


def _note_binding(given: MarkedValue, evidence: Evidence, field: str, place: Place) -> None:
    if given.bare is not None:
        place.changed(field, f"Nothing stands behind the marker {given.bare.value}: it is an empty value.")
    if _is_hindrance(given, evidence):
        place.dropped(field, _HINDRANCE)
    elif given.marker is Marker.EMPTY and evidence.marked(*_READS_BELOW):
        place.changed(field, _BARE)
    if "\n" in given.text:
        place.look(field, "The value holds a line break, which HTCondor's configuration cannot carry.")


_BARE = "It is bound without a value, as operations above would find an empty text: files leave it out."
_HINDRANCE = (
    "An empty value says nothing where something is set, and operations above it would find the text."
)
