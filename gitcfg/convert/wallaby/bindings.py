"""A layer's settings as the bindings of a repository."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.convert.literals import value
from gitcfg.convert.notes import Place
from gitcfg.convert.wallaby.evidence import Evidence
from gitcfg.convert.wallaby.markers import OPERATIONS, Given, Marker, read
from gitcfg.convert.wallaby.names import Names
from gitcfg.convert.wallaby.store import Setting

EMPTY = {"$default": ""}
_READS_BELOW = (Marker.AND, Marker.OR, Marker.DEFAULT)


class Vocabulary(msgspec.Struct, frozen=True):
    """What a dump's names and parameters are in the repository."""

    names: Names
    evidence: Mapping[str, Evidence]
    kinds: Mapping[str, str]


def bindings(words: Vocabulary, params: Mapping[str, Setting], place: Place) -> dict[str, Any]:
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
            given = read(setting, evidence.declaration)
            _note(given, evidence, field, place)
            if not _hinders(given, evidence):
                result[spelt] = _binding(given, words.kinds[spelt], evidence)
    return dict(sorted(result.items()))


def _binding(given: Given, kind: str, evidence: Evidence) -> Any:
    if given.marker is Marker.STANDARD:
        return None
    if given.marker is Marker.EMPTY:
        return None if evidence.marked(*_READS_BELOW) else dict(EMPTY)
    said = value(kind, given.text)
    return {OPERATIONS[given.marker]: said} if given.marker in OPERATIONS else said


def _hinders(given: Given, evidence: Evidence) -> bool:
    """Is it an empty value that operations above would find, and that no bare binding can replace?"""
    return given.marker is Marker.EMPTY and evidence.default != "" and evidence.marked(*_READS_BELOW)


def _note(given: Given, evidence: Evidence, field: str, place: Place) -> None:
    if given.bare is not None:
        place.changed(field, f"Nothing stands behind the marker {given.bare.value}: it is an empty value.")
    if _hinders(given, evidence):
        place.dropped(field, _HINDERS)
    elif given.marker is Marker.EMPTY and evidence.marked(*_READS_BELOW):
        place.changed(field, _BARE)
    if "\n" in given.text:
        place.look(field, "The value holds a line break, which HTCondor's configuration cannot carry.")


_BARE = "It is bound without a value, as operations above would find an empty text: files leave it out."
_HINDERS = "An empty value says nothing where something is set, and operations above it would find the text."
