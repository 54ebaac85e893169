"""The declarations of parameters."""

from collections.abc import Iterable
from typing import Any

from gitcfg.convert.definitions import DEFAULTS, said
from gitcfg.convert.literals import value
from gitcfg.convert.notes import Note, Place
from gitcfg.convert.wallaby.bindings import Vocabulary
from gitcfg.convert.wallaby.evidence import Evidence
from gitcfg.convert.wallaby.families import Family
from gitcfg.convert.wallaby.lists import listed
from gitcfg.convert.wallaby.markers import marker_of
from gitcfg.convert.wallaby.store import Parameter
from gitcfg.model.names import shown

HIGHEST = 2


def declarations(words: Vocabulary, families: Iterable[Family], notes: list[Note]) -> dict[str, Any]:
    """Every parameter's declaration by name or pattern."""
    patterns = {name: family for family in families for name in family.members}
    result: dict[str, Any] = {}
    for name, evidence in words.evidence.items():
        place = Place(notes, "parameter", name)
        family = patterns.get(name)
        if family is None:
            result[name] = _declaration(words, evidence, place)
        elif family.pattern not in result:
            result[family.pattern] = _declaration(words, evidence, place)
            span = f"{len(family.members)} parameters, {family.members[0]} to {family.members[-1]}"
            place.changed("name", f"{span}, are declared alike: they are now the family {family.pattern}.")
    return dict(sorted(result.items()))


def _declaration(words: Vocabulary, evidence: Evidence, place: Place) -> dict[str, Any]:
    kind = words.kinds[evidence.name]
    type_ = {} if kind == DEFAULTS["type"] else said(type=kind, separator="comma" if kind == "list" else "")
    declared = evidence.declaration
    if declared is None:
        place.changed("", "It is set but was never declared: it is declared now, without a description.")
        return type_
    default = {"default": value(kind, evidence.default)} if evidence.default else {}
    _note(declared, evidence, place)
    return {
        **said(description=_description(declared)),
        **type_,
        **default,
        **said(
            must_change=declared.must_change,
            restart=declared.restart,
            depends=listed(declared.depends, words.names.parameter, "depends", place),
            conflicts=listed(declared.conflicts, words.names.parameter, "conflicts", place),
            level=min(max(declared.level, 0), HIGHEST),
        ),
    }


def _description(declared: Parameter) -> str:
    texts = dict.fromkeys(filter(None, (declared.description, declared.annotation)))
    return "\n\n".join(texts)


def _note(declared: Parameter, evidence: Evidence, place: Place) -> None:
    if declared.must_change and declared.default:
        reason = f"It must be changed, so its default {shown(declared.default)} was never to be used."
        place.dropped("default_val", reason)
    marker = marker_of(evidence.default)
    if marker is not None:
        reason = f"The default begins with {marker.value}: a default is a value here, not an operation."
        place.look("default_val", reason)
    if not 0 <= declared.level <= HIGHEST:
        place.changed("level", f"Levels go from 0 to {HIGHEST}, not to {declared.level}.")
