"""The declarations of parameters."""

from collections.abc import Iterable
from typing import Any

from gitcfg.convert.definitions import DEFAULTS, without_empty
from gitcfg.convert.literals import convert_text
from gitcfg.convert.notes import Note, Place
from gitcfg.convert.wallaby.bindings import Vocabulary
from gitcfg.convert.wallaby.evidence import Evidence
from gitcfg.convert.wallaby.families import Family
from gitcfg.convert.wallaby.lists import translate_names
from gitcfg.convert.wallaby.markers import find_marker
from gitcfg.convert.wallaby.store import Parameter
from gitcfg.model.names import shown

_HIGHEST_LEVEL = 2


def declare_parameters(words: Vocabulary, families: Iterable[Family], notes: list[Note]) -> dict[str, Any]:
    """Every parameter's declaration by name or pattern."""
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
            place.changed("name", f"{span}, are declared alike: they are now the family {family.pattern}.")
    return dict(sorted(result.items()))


def _declare(words: Vocabulary, evidence: Evidence, place: Place) -> dict[str, Any]:
    kind = words.kinds[evidence.name]
    type_ = (
        {}
        if kind == DEFAULTS["type"]
        else without_empty(type=kind, separator="comma" if kind == "list" else "")
    )
    declared = evidence.declaration
    if declared is None:
        place.changed("", "It is set but was never declared: it is declared now, without a description.")
        return type_
    default = {"default": convert_text(kind, evidence.default)} if evidence.default else {}
    _note_declaration(declared, evidence, place)
    return {
        **without_empty(description=_describe(declared)),
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


def _describe(declared: Parameter) -> str:
    texts = dict.fromkeys(filter(None, (declared.description, declared.annotation)))
    return "\n\n".join(texts)


def _note_declaration(declared: Parameter, evidence: Evidence, place: Place) -> None:
    if declared.must_change and declared.default:
        reason = f"It must be changed, so its default {shown(declared.default)} was never to be used."
        place.dropped("default_val", reason)
    marker = find_marker(evidence.default)
    if marker is not None:
        reason = f"The default begins with {marker.value}: a default is a value here, not an operation."
        place.look("default_val", reason)
    if not 0 <= declared.level <= _HIGHEST_LEVEL:
        place.changed("level", f"Levels go from 0 to {_HIGHEST_LEVEL}, not to {declared.level}.")
