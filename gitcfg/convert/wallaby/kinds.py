"""Which type a parameter has: what every value of it in the dump, and its label, are certain of."""

import re

from gitcfg.convert.expressions import Operators, parse_operators
from gitcfg.convert.literals import LITERALS, MACRO
from gitcfg.convert.notes import Place
from gitcfg.convert.wallaby.evidence import Evidence
from gitcfg.convert.wallaby.markers import Marker
from gitcfg.model.names import shown

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


def decide_type(evidence: Evidence, place: Place) -> str:
    """The type to declare; where its label or its own values contradict that, a note says so."""
    label = _type_of_label(evidence, place)
    if evidence.marked(Marker.APPEND):
        _note_list(evidence, place)
        return "list"
    if evidence.marked(Marker.AND, Marker.OR):
        _note_parentheses(evidence, place)
        return "expression"
    decided = _infer_from_values(evidence, label)
    if label in LITERALS and decided != label:
        _note_contradiction(evidence, label, decided, place)
    elif decided != "expression":
        _note_broken_expression(evidence, place)
    return decided


def _type_of_label(evidence: Evidence, place: Place) -> str:
    written = evidence.declaration.kind if evidence.declaration else ""
    if written.strip().lower() not in _LABELS:
        place.look("kind", f"The kind {shown(written)!r} says nothing about its values.")
    return _LABELS.get(written.strip().lower(), "string")


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


def _note_contradiction(evidence: Evidence, label: str, decided: str, place: Place) -> None:
    written = evidence.declaration.kind if evidence.declaration else ""
    for text, where in evidence.texts():
        if not LITERALS[label](text) and not MACRO.fullmatch(text):
            reason = f"The kind is {written}, but the value {shown(text)!r} ({where}) is no {label}"
            return place.changed("kind", f"{reason}: its type is {decided}.")
    empty = [use.place for use in evidence.uses if use.given.marker is Marker.EMPTY]
    if empty:
        reason = f"The kind is {written}, but the value is empty in {empty[0]}: its type is {decided}."
        place.changed("kind", reason)
    return None


def _note_broken_expression(evidence: Evidence, place: Place) -> None:
    """One value that does not parse among others that are expressions is likely a mistake."""
    shapes = [(text, where, parse_operators(text)) for text, where in evidence.texts()]
    sound = [found for _, _, found in shapes if found is not None and found.is_judgement]
    for text, where, found in shapes if sound else ():
        if found is None:
            reason = f"Other values are expressions, but {shown(text)!r} ({where}) is not a well-formed one."
            place.look("type", reason)


def _note_list(evidence: Evidence, place: Place) -> None:
    if evidence.marked(Marker.AND, Marker.OR):
        place.look("type", "Values are appended to it and joined with && or ||: no type takes both.")
    for text, where in evidence.texts():
        for item in filter(_WORDS.fullmatch, map(str.strip, text.split(","))):
            reason = f"{shown(item)!r} ({where}) is one item: if it is several, put commas between them."
            place.look("type", reason)


def _note_parentheses(evidence: Evidence, place: Place) -> None:
    """Wallaby joins as plain text: `A || B`, then `&& C`, is `A || B && C`."""
    weak = {"?"} if not evidence.marked(Marker.AND) else {"?", "||"}
    if any(_outermost_operators(parse_operators(text)) & weak for text, _ in evidence.texts()):
        reason = "Operands get parentheses now, where joining them as plain text changed what they mean."
        place.changed("params", reason)


def _outermost_operators(found: Operators | None) -> frozenset[str]:
    return found.outermost if found is not None else frozenset()
