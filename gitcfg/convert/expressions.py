"""A rough parser of ClassAd expressions: whether a text is one, and which operators it has."""

import re
from collections.abc import Iterator

import msgspec

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
        """Whether it compares or combines truth values, as no path, list or command line does."""
        return not _JUDGING.isdisjoint(self.everywhere)


class _Reader:
    """Checks that operands and operators alternate, and that brackets match."""

    def __init__(self) -> None:
        self.open: list[str] = []
        self.wants_operand = True
        self.outermost: set[str] = set()
        self.everywhere: set[str] = set()
        self.last = ""
        self.steps = {
            "operand": self.operand,
            "operator": self.operator,
            "negation": self.negation,
            "open": self.opening,
            "close": self.closing,
            "comma": self.comma,
        }

    def accept(self, kind: str, text: str) -> bool:
        """Read a token. Return whether it can stand here."""
        if kind == "operand" and not self.wants_operand and text.lower() in _WORDS:
            kind = "operator"
        accepted = kind in self.steps and self.steps[kind](text)
        self.last = text
        return accepted

    def operand(self, text: str) -> bool:
        fits, self.wants_operand = self.wants_operand, False
        return fits

    def operator(self, text: str) -> bool:
        if self.wants_operand:
            return text in "+-"
        self.everywhere.add(text)
        if not self.open:
            self.outermost.add(text)
        self.wants_operand = True
        return True

    def negation(self, text: str) -> bool:
        return self.wants_operand

    def opening(self, text: str) -> bool:
        self.open.append(text)
        fits = self.wants_operand or text == "[" or (text == "(" and self.last[:1].isalpha())
        self.wants_operand = True
        return fits

    def closing(self, text: str) -> bool:
        empty = self.last == _PAIRS[text] and text != "]"
        fits = bool(self.open) and self.open.pop() == _PAIRS[text] and (empty or not self.wants_operand)
        self.wants_operand = False
        return fits

    def comma(self, text: str) -> bool:
        fits, self.wants_operand = bool(self.open) and not self.wants_operand, True
        return fits


def parse_operators(text: str) -> Operators | None:
    """Return the operators of an expression, None for a text that is none, or too long for one."""
    if len(text) > _LONGEST:
        return None
    reader = _Reader()
    for kind, token in _tokens(text):
        if not reader.accept(kind, token):
            return None
    if reader.wants_operand or reader.open:
        return None
    return Operators(frozenset(reader.outermost), frozenset(reader.everywhere))


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
