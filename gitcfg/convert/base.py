"""Common parts of imports: notes on what they could not keep, definitions in files, types of values."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from enum import StrEnum
from typing import Any

import msgspec


class Weight(StrEnum):
    """The importance of a note, highest first."""

    DROPPED = "dropped"  # it is not in the repository
    CHANGED = "changed"  # it is there in another form, or with a slightly different meaning
    LOOK = "look"  # it is there unchanged, and should be checked


class Note(msgspec.Struct, frozen=True):
    """A note on an object of some kind and name, or without a name on all of that kind."""

    kind: str
    name: str
    field: str
    reason: str
    weight: Weight


_ORDER = {weight: place for place, weight in enumerate(Weight)}


def sort_notes(notes: list[Note]) -> tuple[Note, ...]:
    """Return the notes by importance, then by place."""
    return tuple(sorted(notes, key=lambda n: (_ORDER[n.weight], n.kind, n.name, n.field, n.reason)))


class Place:
    """A place in what is imported, for the notes on it."""

    def __init__(self, notes: list[Note], kind: str, name: str) -> None:
        self.notes = notes
        self.kind = kind
        self.name = name

    def dropped(self, field: str, reason: str) -> None:
        """Note what is left out."""
        self.notes.append(Note(self.kind, self.name, field, reason, Weight.DROPPED))

    def changed(self, field: str, reason: str) -> None:
        """Note what is kept in another form."""
        self.notes.append(Note(self.kind, self.name, field, reason, Weight.CHANGED))

    def look(self, field: str, reason: str) -> None:
        """Note what should be checked."""
        self.notes.append(Note(self.kind, self.name, field, reason, Weight.LOOK))


# A rough parser of ClassAd expressions: whether a text is one, and which operators it has.

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<operand>"(?:[^"\\]|\\.)*" | '(?:[^'\\]|\\.)*' | \d+(?:\.\d*)?(?:[eE][-+]?\d+)?[KMGT]?\b | \.\d+
        | \$+[A-Za-z_]*\([^()]*\) | [A-Za-z_][\w.]*)
      | (?P<operator>&&|\|\||=\?=|=!=|==|!=|<=|>=|[-+*/%<>?:])
      | (?P<negation>[!~])
      | (?P<open>[(\[{]) | (?P<close>[)\]}]) | (?P<comma>,)
    )""",
    re.VERBOSE,
)
_LONGEST = 10_000
_WORDS = frozenset({"is", "isnt"})
_PAIRS = {")": "(", "]": "[", "}": "{"}
_JUDGING = frozenset({"&&", "||", "==", "!=", "=?=", "=!=", "<", "<=", ">", ">=", "?"})


class Operators(msgspec.Struct, frozen=True):
    """The operators of an expression: those outside all brackets, and all of them."""

    outermost: frozenset[str]
    everywhere: frozenset[str]

    @property
    def is_judgement(self) -> bool:
        """Whether it compares or combines truth values, unlike a path, list or command line."""
        return not _JUDGING.isdisjoint(self.everywhere)


class _Reader:
    """Checks that operands and operators alternate, and that brackets match.

    `operators` are those so far, each with whether it is outside all brackets.
    """

    def __init__(self) -> None:
        self.open: list[str] = []
        self.wants_operand = True
        self.operators: set[tuple[str, bool]] = set()
        self.last = ""

    def accept(self, kind: str, text: str) -> bool:
        """Read a token. Return whether it is valid in this place."""
        if kind == "operand" and not self.wants_operand and text.lower() in _WORDS:
            kind = "operator"
        wanted, self.wants_operand = self.wants_operand, kind not in ("operand", "close")
        last, self.last = self.last, text
        match kind:
            case "operand" | "negation":
                return wanted
            case "operator" if wanted:
                return text in "+-"
            case "operator":
                self.operators.add((text, not self.open))
                return True
            case "open":
                self.open.append(text)
                return wanted or text == "[" or (text == "(" and last[:1].isalpha())
            case "close":
                empty = last == _PAIRS[text] and text != "]"
                return bool(self.open) and self.open.pop() == _PAIRS[text] and (empty or not wanted)
            case "comma":
                return bool(self.open) and not wanted
        return False


def parse_operators(text: str) -> Operators | None:
    """Return the operators of an expression; None for a text that is not one, or is too long."""
    if len(text) > _LONGEST:
        return None
    reader = _Reader()
    for kind, token in _tokens(text):
        if not reader.accept(kind, token):
            return None
    if reader.wants_operand or reader.open:
        return None
    outermost = frozenset(text for text, is_outermost in reader.operators if is_outermost)
    return Operators(outermost, frozenset(text for text, _ in reader.operators))


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """Yield kinds and texts of tokens; an empty kind where none matches."""
    place, end = 0, len(text.rstrip())
    while place < end:
        found = _TOKEN.match(text, place, end)
        if found is None or found.lastgroup is None:
            yield "", text[place:]
            return
        yield found.lastgroup, found[found.lastgroup]
        place = found.end()


# Definitions and values.

DEFAULTS = {"type": "string", "macros": "condor"}
"""The `defaults:` of files of parameters."""
MANY = 60  # more parameters than this are split by their first word
FEWEST = 5  # ... into files that hold at least this many
MACRO = re.compile(r"\$\([A-Za-z_][\w.]*\)")
_ITEM = re.compile(r'(?:[^\s"\'()\[\]{}]|\$\([\w.]+\))+|"[^"\\]*"')
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def without_empty(**entries: object) -> dict[str, object]:
    """Return the entries of a definition whose values are not empty."""
    return {key: value for key, value in entries.items() if value not in ("", [], {}, False, None)}


def parameter_files(declared: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the contents of files by path: one file, or one for each first word of many names."""
    if len(declared) <= MANY:
        return {"parameters/condor.yaml": _content(declared)} if declared else {}
    words: dict[str, dict[str, Any]] = defaultdict(dict)
    for name, body in declared.items():
        word = re.split(r"[^a-z]", name.lower(), maxsplit=1)[0][:40] or "other"
        words[word][name] = body
    result: dict[str, dict[str, Any]] = defaultdict(dict)
    for word, part in words.items():
        result[word if len(part) >= FEWEST else "other"].update(part)
    return {
        f"parameters/{word}.yaml": _content(dict(sorted(result[word].items()))) for word in sorted(result)
    }


def _content(declared: Mapping[str, Any]) -> dict[str, Any]:
    return {"defaults": DEFAULTS, "parameters": dict(declared)}


def _integer(text: str) -> bool:
    return _INTEGER.fullmatch(text) is not None


def _number(text: str) -> bool:
    """Return whether a text is a number as YAML would write it."""
    return _integer(text) or (
        re.fullmatch(r"-?[0-9]+\.[0-9]+", text) is not None and repr(float(text)) == text
    )


LITERALS: dict[str, Callable[[str], bool]] = {
    "integer": _integer,
    "number": _number,
    "boolean": lambda text: text.lower() in ("true", "false"),
}


def convert_text(kind: str, text: str) -> str | int | float | bool | list[str]:
    """Convert a text to a value of a type; a text that does not fit stays text."""
    if kind == "list":
        return _items(text)
    if kind not in LITERALS or not LITERALS[kind](text):
        return text
    if kind == "boolean":
        return text.lower() == "true"
    return int(text) if _integer(text) else float(text)


def _items(text: str) -> str | list[str]:
    """Return several items as a list if they are certain, otherwise the text, which is split later."""
    items = [item.strip() for item in text.split(",")]
    return items if len(items) > 1 and all(map(_ITEM.fullmatch, items)) else text
