"""Wallaby's values: the markers of operations, what all of a dump sets a parameter to, and bindings."""

import re
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.convert.definitions import convert_text
from gitcfg.convert.notes import Place
from gitcfg.convert.wallaby.dump import Parameter, Setting, Store
from gitcfg.convert.wallaby.names import Names, find_identities
from gitcfg.model.names import shown


class Marker(StrEnum):
    """What a value does to the value below it."""

    SET = ""
    APPEND = ">="
    AND = "&&="
    OR = "||="
    DEFAULT = "?="
    STANDARD = "0"  # the integer: use the parameter's default
    EMPTY = "empty"  # does nothing where something lower sets a value


OPERATIONS = {
    Marker.APPEND: "$append",
    Marker.AND: "$and",
    Marker.OR: "$or",
    Marker.DEFAULT: "$default",
}
_BEGINS = {marker: re.compile(rf"(?:{re.escape(marker.value)}\s*)+") for marker in OPERATIONS}
_READS_BELOW = (Marker.AND, Marker.OR, Marker.DEFAULT)
_EMPTY = {"$default": ""}
_BARE = "It is bound without a value, as operations above would find an empty text: files leave it out."
_HINDRANCE = (
    "An empty value says nothing where something is set, and operations above it would find the text."
)


class MarkedValue(msgspec.Struct, frozen=True):
    """A value without its marker; `bare` is a marker without a value."""

    marker: Marker
    text: str = ""
    bare: Marker | None = None


class Use(msgspec.Struct, frozen=True):
    """A setting of a parameter, and its place."""

    given: MarkedValue
    place: str


class Evidence(msgspec.Struct, frozen=True):
    """All that a dump says of a parameter: its declaration, if there is one, and every setting."""

    name: str
    declaration: Parameter | None
    uses: tuple[Use, ...]

    def marked(self, *markers: Marker) -> bool:
        """Return whether one of the markers is used on it."""
        return any(use.given.marker in markers for use in self.uses)

    @property
    def default(self) -> str:
        """The default that is kept, empty if there is none."""
        return self.declaration.default if self.declaration and has_default(self.declaration) else ""

    def texts(self) -> Iterator[tuple[str, str]]:
        """Yield every text that its values are made of, with the place."""
        if self.default:
            yield self.default, "default_val"
        for use in self.uses:
            if use.given.text:
                yield use.given.text, use.place


class Vocabulary(msgspec.Struct, frozen=True):
    """The names, parameters and types of a dump in the repository."""

    names: Names
    evidence: Mapping[str, Evidence]
    kinds: Mapping[str, str]


def read_setting(setting: Setting, parameter: Parameter | None) -> MarkedValue:
    """Return what a setting means.

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
    """Return whether a parameter must be given a value."""
    return parameter is not None and parameter.must_change


def has_default(parameter: Parameter | None) -> bool:
    """Return whether a parameter has a default that is used here."""
    return parameter is not None and parameter.default != "" and not parameter.must_change


def _split_marker(text: str) -> MarkedValue:
    for marker, begins in _BEGINS.items():
        found = begins.match(text)
        if found:
            rest = text[found.end() :].strip()
            return MarkedValue(marker, rest) if rest else MarkedValue(Marker.EMPTY, bare=marker)
    return MarkedValue(Marker.SET, text) if text else MarkedValue(Marker.EMPTY)


def find_marker(text: str) -> Marker | None:
    """Return the marker at the beginning of a text."""
    return next((marker for marker, begins in _BEGINS.items() if begins.match(text)), None)


def gather_evidence(store: Store, names: Names) -> Mapping[str, Evidence]:
    """Return the evidence of each parameter by its name in the repository, in order of name."""
    declared = {names.parameters.get(parameter.name.casefold()): parameter for parameter in store.parameters}
    uses: dict[str, list[Use]] = {name: [] for name in names.parameters.values()}
    for place, name, setting in _settings(store):
        spelt = names.parameter(name)
        if spelt is not None:
            uses[spelt].append(Use(read_setting(setting, declared.get(spelt)), place))
    return {name: Evidence(name, declared.get(name), tuple(uses[name])) for name in sorted(uses)}


def _settings(store: Store) -> Iterator[tuple[str, str, Setting]]:
    for feature in store.features:
        for name, setting in feature.params.items():
            yield f"feature {shown(feature.name)}", name, setting
    owners = find_identities(store)
    for group in store.groups:
        owner = owners.get(group.name)
        place = f"node {shown(owner.name)}" if owner else f"group {shown(group.name)}"
        for name, setting in group.params.items():
            yield place, name, setting


def convert_bindings(words: Vocabulary, params: Mapping[str, Setting], place: Place) -> dict[str, Any]:
    """Return the `params:` of a layer, in order of name."""
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
    value = convert_text(kind, given.text)
    return {OPERATIONS[given.marker]: value} if given.marker in OPERATIONS else value


def _is_hindrance(given: MarkedValue, evidence: Evidence) -> bool:
    """Return whether it is an empty value that operations above would see, and no binding can express."""
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
