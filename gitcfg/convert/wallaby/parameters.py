"""A dump's parameters: values with markers of operations, bindings, declarations and families."""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.convert.base import (
    DEFAULTS,
    LITERALS,
    MACRO,
    Note,
    Place,
    convert_text,
    parse_operators,
    without_empty,
)
from gitcfg.convert.wallaby.dump import Parameter, Setting, Store
from gitcfg.convert.wallaby.names import MAX_NAME, Names, find_identities, translate_names
from gitcfg.model.names import shown


class Marker(StrEnum):
    """The effect of a value on the value below it."""

    SET = ""
    APPEND = ">="
    AND = "&&="
    OR = "||="
    DEFAULT = "?="
    STANDARD = "0"  # the integer: use the parameter's default
    EMPTY = "empty"  # has no effect if a lower layer sets a value


OPERATIONS = {
    Marker.APPEND: "$append",
    Marker.AND: "$and",
    Marker.OR: "$or",
    Marker.DEFAULT: "$default",
}
_BEGINS = {marker: re.compile(rf"(?:{re.escape(marker.value)}\s*)+") for marker in OPERATIONS}
_READS_BELOW = (Marker.AND, Marker.OR, Marker.DEFAULT)
_EMPTY = {"$default": ""}
_BARE = (
    "It is bound without a value and not written to files: an empty text would affect operations above it."
)
_HINDRANCE = "The empty value is omitted: it has no meaning here but would affect operations above it."


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
    """Everything that a dump has about a parameter: its declaration, if there is one, and every setting."""

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
        """Yield every text in its values, with the place."""
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
    """Return the meaning of a setting.

    An empty default is an empty value. An empty value of a parameter that must be changed only asks for
    one, as its default does.
    """
    given = MarkedValue(Marker.STANDARD) if setting is None else _split_marker(setting)
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
            place.dropped(field.strip(), "It is set twice here; this name has blanks around it.")
        elif spelt is None:
            place.dropped(field, "This is not a valid name for a parameter.")
        elif spelt in result:
            place.dropped(field, "It is set twice here: names are case-insensitive.")
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
    """Return whether it is an empty value that operations above would read, and no binding can express."""
    return given.marker is Marker.EMPTY and evidence.default != "" and evidence.marked(*_READS_BELOW)


def _note_binding(given: MarkedValue, evidence: Evidence, field: str, place: Place) -> None:
    if given.bare is not None:
        place.changed(field, f"The marker {given.bare.value} has no value after it: the value is empty.")
    if _is_hindrance(given, evidence):
        place.dropped(field, _HINDRANCE)
    elif given.marker is Marker.EMPTY and evidence.marked(*_READS_BELOW):
        place.changed(field, _BARE)
    if "\n" in given.text:
        place.look(field, "The value has a line break, which HTCondor's configuration cannot express.")


# The declarations of a dump's parameters: types that all values have, and families of numbered names.

_WORDS = re.compile(r"[\w.]+(?:\s+[\w.]+)+")
_LABELS = {
    "integer": "integer",
    "interger": "integer",
    "int": "integer",
    "double": "number",
    "float": "number",
    "boolean": "boolean",
    "bool": "boolean",
    "expression": "expression",
    "expr": "expression",
    "string": "string",
    "": "string",
}

# Numbered names that are declared alike (`STARTD_1_ARGS`, `STARTD_2_ARGS`, ...) become one pattern.

_FEWEST = 3  # two similar names may be chance
_HIGHEST_LEVEL = 2


class Family(msgspec.Struct, frozen=True):
    """Names that differ only in the digits of one number, all of the same width."""

    before: str
    width: int
    after: str
    members: tuple[str, ...]

    @property
    def pattern(self) -> str:
        """The pattern that matches the members, and no other name of the dump."""
        return f"{self.before}{'?' * self.width}{self.after}"


def declare_parameters(words: Vocabulary, families: Iterable[Family], notes: list[Note]) -> dict[str, Any]:
    """Return the declarations of all parameters by name or pattern."""
    patterns = {name: family for family in families for name in family.members}
    result: dict[str, Any] = {}
    for name, evidence in words.evidence.items():
        place = Place(notes, "parameter", name)
        family = patterns.get(name)
        if family is None:
            result[name] = _declare(words, evidence, place)
        elif family.pattern not in result:
            result[family.pattern] = _declare(words, evidence, place)
            span = f"{len(family.members)} parameters, {family.members[0]} to {family.members[-1]}"
            place.changed(
                "name", f"{span}, have the same declaration: they are now the family {family.pattern}."
            )
    return dict(sorted(result.items()))


def _declare(words: Vocabulary, evidence: Evidence, place: Place) -> dict[str, Any]:
    kind = words.kinds[evidence.name]
    type_ = without_empty(
        type=kind if kind != DEFAULTS["type"] else "", separator="comma" if kind == "list" else ""
    )
    declared = evidence.declaration
    if declared is None:
        place.changed(
            "", "It is set but not declared in the dump: it is declared now, without a description."
        )
        return type_
    default = {"default": convert_text(kind, evidence.default)} if evidence.default else {}
    texts = dict.fromkeys(filter(None, (declared.description, declared.annotation)))
    _note_declaration(declared, evidence, place)
    return {
        **without_empty(description="\n\n".join(texts)),
        **type_,
        **default,
        **without_empty(
            must_change=declared.must_change,
            restart=declared.restart,
            depends=translate_names(declared.depends, words.names.parameter, "depends", place),
            conflicts=translate_names(declared.conflicts, words.names.parameter, "conflicts", place),
            level=min(max(declared.level, 0), _HIGHEST_LEVEL),
        ),
    }


def _note_declaration(declared: Parameter, evidence: Evidence, place: Place) -> None:
    if declared.must_change and declared.default:
        reason = f"It must be changed, so its default {shown(declared.default)} is never used."
        place.dropped("default_val", reason)
    marker = next((marker for marker, begins in _BEGINS.items() if begins.match(evidence.default)), None)
    if marker is not None:
        reason = f"The default begins with {marker.value}: it is imported as a value, not as an operation."
        place.look("default_val", reason)
    if not 0 <= declared.level <= _HIGHEST_LEVEL:
        place.changed("level", f"Levels go from 0 to {_HIGHEST_LEVEL}, not to {declared.level}.")


def decide_type(evidence: Evidence, place: Place) -> str:
    """Return the type to declare; note if its label or its own values contradict it."""
    written = evidence.declaration.kind if evidence.declaration else ""
    label = _LABELS.get(written.strip().lower())
    if label is None:
        place.look("kind", f"The kind {shown(written)!r} is unknown.")
        label = "string"
    if evidence.marked(Marker.APPEND):
        _note_list(evidence, place)
        return "list"
    if evidence.marked(Marker.AND, Marker.OR):
        _note_parentheses(evidence, place)
        return "expression"
    decided = _infer_from_values(evidence, label)
    if label in LITERALS and decided != label:
        _note_contradiction(evidence, written, label, decided, place)
    elif decided != "expression":
        _note_broken_expression(evidence, place)
    return decided


def _infer_from_values(evidence: Evidence, label: str) -> str:
    texts = [text for text, _ in evidence.texts()]
    if not texts or evidence.marked(Marker.EMPTY):
        return "string"
    literal = [text for text in texts if not MACRO.fullmatch(text)]
    if label in LITERALS:
        if literal and all(map(LITERALS[label], literal)):
            return label
        if not literal:
            return "string"
    shapes = [parse_operators(text) for text in texts]
    judges = any(found is not None and found.is_judgement for found in shapes)
    return "expression" if all(shapes) and (judges or label == "expression") else "string"


def _note_contradiction(evidence: Evidence, written: str, label: str, decided: str, place: Place) -> None:
    for text, where in evidence.texts():
        if not LITERALS[label](text) and not MACRO.fullmatch(text):
            reason = f"The kind is {written}, but the value {shown(text)!r} ({where}) is not a valid {label}"
            place.changed("kind", f"{reason}: its type is {decided}.")
            return
    empty = [use.place for use in evidence.uses if use.given.marker is Marker.EMPTY]
    if empty:
        reason = f"The kind is {written}, but the value is empty in {empty[0]}: its type is {decided}."
        place.changed("kind", reason)


def _note_broken_expression(evidence: Evidence, place: Place) -> None:
    """Note values that do not parse while others are expressions: they are likely mistakes."""
    shapes = [(text, where, parse_operators(text)) for text, where in evidence.texts()]
    sound = [found for _, _, found in shapes if found is not None and found.is_judgement]
    for text, where, found in shapes if sound else ():
        if found is None:
            reason = f"Other values are expressions, but {shown(text)!r} ({where}) is not a well-formed one."
            place.look("type", reason)


def _note_list(evidence: Evidence, place: Place) -> None:
    if evidence.marked(Marker.AND, Marker.OR):
        place.look("type", "Values are appended to it and joined with && or ||: no type supports both.")
    for text, where in evidence.texts():
        for item in filter(_WORDS.fullmatch, map(str.strip, text.split(","))):
            reason = f"{shown(item)!r} ({where}) is one item: separate several items with commas."
            place.look("type", reason)


def _note_parentheses(evidence: Evidence, place: Place) -> None:
    """Note that operands get parentheses: Wallaby joined `A || B` and `&& C` to `A || B && C`."""
    weak = {"?"} if not evidence.marked(Marker.AND) else {"?", "||"}
    operators = (parse_operators(text) for text, _ in evidence.texts())
    if any(found is not None and found.outermost & weak for found in operators):
        reason = "Operands get parentheses where joining them as plain text changed their meaning."
        place.changed("params", reason)


def find_families(
    store: Store, names: Names, evidence: Mapping[str, Evidence], kinds: Mapping[str, str]
) -> tuple[Family, ...]:
    """Return the certain families: three or more members, declared alike, none of them used by itself."""
    # What parameters depend on or conflict with must be declared exactly.
    related = (name for parameter in store.parameters for name in parameter.depends + parameter.conflicts)
    referred = {names.parameter(name) or name for name in related}
    lists = [frozenset(map(names.parameter, subsystem.params)) for subsystem in store.subsystems]
    taken: set[str] = set()
    result = []
    for candidate in _select_exact(_find_candidates(evidence), evidence):
        members = set(candidate.members)
        declared = ((evidence[name].declaration, kinds[name]) for name in members)
        alike = {(one and msgspec.structs.replace(one, name=""), kind) for one, kind in declared}
        together = all(members.isdisjoint(listed) or members <= listed for listed in lists)
        if len(alike) == 1 and together and members.isdisjoint(taken | referred):
            result.append(candidate)
            taken |= members
    return tuple(result)


def _find_candidates(names: Collection[str]) -> list[Family]:
    """Return all candidates, those with most members first."""
    found: dict[tuple[str, int, str], list[str]] = defaultdict(list)
    for name in names:
        for number in re.finditer(r"[0-9]+", name) if len(name) <= MAX_NAME else ():
            found[name[: number.start()], len(number[0]), name[number.end() :]].append(name)
    large = [Family(*key, tuple(members)) for key, members in found.items() if len(members) >= _FEWEST]
    return sorted(large, key=lambda candidate: (-len(candidate.members), candidate.pattern))


def _select_exact(candidates: list[Family], names: Collection[str]) -> list[Family]:
    """Return the candidates whose patterns match no other name."""
    spans = {(len(candidate.before), candidate.width) for candidate in candidates}
    fitting = Counter(
        f"{name[:start]}{'?' * width}{name[start + width :]}"
        for name in names
        for start, width in spans
        if len(name) >= start + width
    )
    return [candidate for candidate in candidates if fitting[candidate.pattern] == len(candidate.members)]
