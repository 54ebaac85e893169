"""ClassAd expressions without HTCondor: faults, joining, and macros.

A macro, `$(X)` or `$INT(X)`, is one unknown piece: an operand, an operator, several of them, or nothing. What
HTCondor's parser accepts is never a fault here; it may reject more.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import NamedTuple

import msgspec

# Possessive repeats: what is not closed is read once, not once for each place where it may begin.
TOKEN = re.compile(
    r"""
    (?P<blank>    \s++ | //[^\n]*+\n | /\*(?:[^*]|\*(?!/))*+\*/ )
  | (?P<literal>  "(?:[^"\\]|\\.)*+" | '(?:[^'\\]|\\.)*+'
                  | [0-9]++\.?+[0-9]*+[eE][-+][0-9]++ | [0-9.][A-Za-z0-9_.]*+ )
  | (?P<name>     [A-Za-z_][A-Za-z0-9_.]*+ )
  | (?P<macro>    \$\$?[A-Za-z0-9_]*+\( )
  | (?P<open>     [(\[{] )
  | (?P<close>    [)\]}] )
  | (?P<endless>  ["'] | // | /\* )
  | (?P<operator> && | \|\| | =\?= | =!= | [=!<>]= | >>>? | << | . )
    """,
    re.VERBOSE | re.DOTALL,
)
OPENING = {")": "(", "]": "[", "}": "{"}
ENDLESS = {"//": "the comment that begins with // has no end", "/*": "a comment is not closed"}
LONGEST = 1 << 16
"""The most characters of an expression. Longer ones, which only composing creates, are not checked here."""

_SIMPLE = re.compile(r"\s*(?:[A-Za-z0-9_]+|\$\([A-Za-z0-9_.]*\))?\s*")
_MACRO = re.compile(r"\$[A-Za-z0-9_]*+\(")
_COMPARING = frozenset({"==", "!=", "=?=", "=!=", "<", "<=", ">", ">="})
_BINARY = _COMPARING | frozenset({"&&", "||", "<<", ">>", ">>>", *"+-*/%&|^?"})
_PREFIX = frozenset("+-!~")
_WORDS: Mapping[str, str] = {"and": "&&", "or": "||", "not": "!"}
_COMMAS = frozenset({"call", "list", "subscript", "any"})


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with an expression, in words that follow "is not a ClassAd expression:".

    It is not `sure` if a macro is next to it, which may have the missing part.
    """

    reason: str
    sure: bool = True
    hint: str = ""


def find_fault(text: str) -> Fault | None:
    """Return the first fault of an expression, or None."""
    if _SIMPLE.fullmatch(text) or len(text) > LONGEST:
        return None
    tokens = list(_tokens(text))
    return _Reader(tokens).fault() if tokens else None


class _Token(msgspec.Struct, frozen=True):
    """A token; a macro includes its brackets and all within."""

    kind: str
    text: str

    @property
    def unknown(self) -> bool:
        """Whether it may be anything, or contain a quote."""
        return self.kind == "macro" or (self.text[0] in "\"'" and _MACRO.search(self.text) is not None)


_END = _Token("end", " ")


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match is not None  # the last alternative matches any character
        kind, start, at = match.lastgroup or "", at, match.end()
        if kind == "macro" and (end := _end_of_macro(text, at)):
            at = end
        elif kind == "macro":
            kind = "endless"
        elif kind == "endless" and match[0] == '"' and text.rstrip().endswith('\\"'):
            kind, at = "literal", len(text)  # HTCondor allows a backslash as the last character
        if kind != "blank":
            yield _Token(kind, text[start:at])
        if kind == "endless":
            return


def _end_of_macro(text: str, at: int) -> int:
    """Return the offset after a macro's closing bracket, or 0 if there is none."""
    depth = 1
    for match in _BRACKET.finditer(text, at):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return match.end()
    return 0


_BRACKET = re.compile(r"[()]")


class _Level:
    """The state between two brackets: their `kind`, the number of `?` without a `:`, any macros."""

    def __init__(self, kind: str, opening: str = "") -> None:
        self.kind, self.opening = kind, opening
        self.waiting, self.unknown = 0, False


class _Stop(Exception):
    """The end of reading, with or without a fault."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault


class _Reader:
    """Checks that operands and operators alternate.

    `turn` is what must come next: an "operand", an "operator" (or the end), "any" after a macro, or in a
    record the name of an "attribute" or "=".
    """

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._turn = "operand"
        self._levels = [_Level("top")]

    def fault(self) -> Fault | None:
        """Read all tokens, and return the first fault, or None."""
        try:
            for at, token in enumerate([*self._tokens, _END]):
                self._at = at
                _STEPS[token.kind](self, token)
        except _Stop as stop:
            return stop.fault
        return None

    @property
    def _before(self) -> _Token | None:
        return self._tokens[self._at - 1] if self._at else None

    def _wrong(self, reason: str, hint: str = "") -> _Stop:
        """Return a fault between the previous token and this one."""
        beside = self._tokens[max(self._at - 2, 0) : self._at + 2]
        return _Stop(Fault(reason, not any(token.unknown for token in beside), hint))

    def _unpaired(self, reason: str) -> _Stop:
        """Return a fault that any macro in the expression may resolve."""
        return _Stop(Fault(reason, not any(token.unknown for token in self._tokens)))

    def _macro(self, token: _Token) -> None:
        self._levels[-1].unknown = True
        self._turn = "any"

    def _name(self, token: _Token) -> None:
        if token.text.lower() in ("is", "isnt"):
            self._binary(token)
        else:
            self._operand(token)

    def _operand(self, token: _Token) -> None:
        before = self._before
        if self._turn == "attribute":
            if token.kind != "name" and token.text[0] != "'":
                raise self._wrong(f"{_quoted(token)} is not an attribute name")
            self._turn = "="
            return
        if self._turn == "=":
            raise self._wrong(f"`=` is missing before {_quoted(token)}")
        if self._turn == "operator" and before is not None and not _joins(before, token):
            raise self._two_operands(before, token)
        self._turn = "operator"

    def _two_operands(self, before: _Token, token: _Token) -> _Stop:
        word = next((each for each in (before, token) if each.text.lower() in _WORDS), None)
        hint = f"Write {_WORDS[word.text.lower()]} for {word.text}." if word else ""
        return self._wrong(f"two operands in a row, {_quoted(before)} and {_quoted(token)}", hint)

    def _open(self, token: _Token) -> None:
        before, turn = self._before, self._turn
        if turn in ("attribute", "="):
            raise self._wrong(f"{_quoted(token)} is in the place of an attribute name")
        if turn == "operator" and before is not None:
            if token.text == "{" or (token.text == "(" and before.kind != "name"):
                raise self._two_operands(before, token)
            kind = "call" if token.text == "(" else "subscript"
        elif turn == "any":
            kind = "any"
        else:
            kind = {"(": "group", "[": "record", "{": "list"}[token.text]
        self._levels.append(_Level(kind, token.text))
        self._turn = "attribute" if kind == "record" else "any" if kind == "any" else "operand"

    def _close(self, token: _Token) -> None:
        level = self._levels[-1]
        if level.kind == "top" and token.text == "]":
            raise _Stop  # HTCondor's parser may end there
        if level.opening != OPENING[token.text]:
            raise self._unpaired(f"`{token.text}` has no opening bracket")
        before = self._before
        empty = before is not None and before.kind == "open"
        if self._turn == "=" or (self._turn == "operand" and not (empty and level.kind in ("call", "list"))):
            if empty:
                raise self._wrong(f"nothing is between `{level.opening}` and `{token.text}`")
            raise self._ends(before)
        self._all_paired(level)
        self._levels.pop()
        self._turn = "operator"

    def _operator(self, token: _Token) -> None:
        text = token.text
        if text == "=":
            self._assign(token)
        elif text == ":":
            self._colon(token)
        elif text == ",":
            self._comma(token)
        elif text == ";":
            self._semicolon(token)
        elif text in _PREFIX and self._turn in ("operand", "any"):
            self._turn = "operand"
        elif text in _BINARY:
            self._binary(token)
        elif text in _PREFIX:
            raise self._wrong(f"an operator is missing before `{text}`")
        else:
            raise self._wrong(f"{_quoted(token)} has no meaning here")

    def _binary(self, token: _Token) -> None:
        if self._turn not in ("operator", "any"):
            raise self._misplaced(token)
        if token.text == "?":
            self._levels[-1].waiting += 1
        self._turn = "operand"

    def _misplaced(self, token: _Token) -> _Stop:
        before = self._before
        if before is None:
            return self._wrong(f"it begins with the operator {_quoted(token)}")
        if before.kind in ("operator", "name"):
            return self._wrong(f"two operators in a row, {_quoted(before)} and {_quoted(token)}")
        return self._wrong(f"{_quoted(token)} has no operand before it")

    def _assign(self, token: _Token) -> None:
        if self._turn == "=":
            self._turn = "operand"
        elif self._turn == "operand":
            raise self._misplaced(token)
        elif self._levels[-1].kind == "any" or (self._turn == "any" and self._levels[-1].kind == "record"):
            self._turn = "operand"
        else:
            hint = "Compare with ==, or with =?= if it may be undefined."
            raise self._wrong("`=` is used for `==`", hint)

    def _colon(self, token: _Token) -> None:
        level, before = self._levels[-1], self._before
        short = self._turn == "operand" and before is not None and before.text == "?"
        if not (short or self._turn in ("operator", "any")):
            raise self._misplaced(token)
        if not (level.waiting or level.unknown or level.kind == "any"):
            raise self._unpaired("`:` has no `?` before it")
        level.waiting -= 1
        self._turn = "operand"

    def _comma(self, token: _Token) -> None:
        level = self._levels[-1]
        if self._turn not in ("operator", "any"):
            raise self._misplaced(token)
        if level.kind not in _COMMAS:
            raise self._unpaired("a comma is outside of a list")
        self._all_paired(level)
        self._turn = "operand"

    def _semicolon(self, token: _Token) -> None:
        level = self._levels[-1]
        if level.kind == "top":
            raise _Stop  # HTCondor's parser may end there
        if self._turn == "operand":
            raise self._misplaced(token)
        if level.kind not in ("record", "any"):
            raise self._unpaired("`;` is outside of a record")
        self._all_paired(level)
        self._turn = "attribute" if level.kind == "record" else "any"

    def _endless(self, token: _Token) -> None:
        if token.text in ENDLESS:
            self._end(token)  # HTCondor's parser may end there, too
        elif token.text[0] == "$":
            raise self._unpaired("the bracket of a macro is not closed")
        else:
            raise self._unpaired("a quote is not closed")

    def _end(self, token: _Token) -> None:
        level = self._levels[-1]
        if self._turn == "operand" and self._before is not None and self._before.kind != "open":
            raise self._ends(self._before)
        if level.opening:
            raise self._unpaired(f"`{level.opening}` is not closed")
        self._all_paired(level)

    def _ends(self, before: _Token | None) -> _Stop:
        where = "it ends" if self._at == len(self._tokens) else "the part in brackets ends"
        return self._wrong(f"{where} with the operator {_quoted(before or _END)}")

    def _all_paired(self, level: _Level) -> None:
        if level.waiting > 0 and not level.unknown:
            raise self._unpaired("`?` has no `:` after it")


# Outside the class: as attributes the bound methods would form reference cycles, left to the collector.
_STEPS: Mapping[str, Callable[[_Reader, _Token], None]] = {
    "macro": _Reader._macro,
    "literal": _Reader._operand,
    "name": _Reader._name,
    "open": _Reader._open,
    "close": _Reader._close,
    "operator": _Reader._operator,
    "endless": _Reader._endless,
    "end": _Reader._end,
}


def _joins(before: _Token, token: _Token) -> bool:
    """Return whether these tokens may be neighbours: an attribute (`a . b`), or two parts of a string."""
    if before.text.endswith(".") or token.text.startswith("."):
        return True
    return before.text[0] == token.text[0] and token.text[0] in "\"'"


def _quoted(token: _Token) -> str:
    text = token.text if token.text.isprintable() else ascii(token.text)[1:-1]
    return f"`{text if len(text) <= 40 else text[:37] + '...'}`"


# Expressions in a target's language, joined by && and || so that neither operand changes its meaning.

_ALONE = frozenset({("literal",), ("name",), ("()",), ("name", "()")})
_LOOSER = {"||": frozenset("?:,;="), "&&": frozenset({*"?:,;=", "||"})}


class _Outline(msgspec.Struct, frozen=True):
    """The tokens outside all brackets (a group in brackets is one token), and what is not closed."""

    top: Sequence[str]
    problem: str | None = None


def join_operands(operator: str, below: str, above: str) -> str:
    """Return two operands as one expression, the lower one first.

    Joining is associative for balanced operands, since a chain gets no parentheses.
    """
    return f"{as_operand(below, operator)} {operator} {as_operand(above, operator)}"


def as_operand(text: str, operator: str) -> str:
    """Return the text as one operand: in parentheses, unless it is safe without."""
    outline = _outline(text)
    bare = outline.problem is None and (tuple(outline.top[:3]) in _ALONE or _chain(outline.top, operator))
    return text if bare else f"({text})"


def find_unbalanced(text: str) -> str | None:
    """Return why a text cannot be an operand: a quote, bracket or comment that is not closed."""
    return _outline(text).problem


def _chain(top: Sequence[str], operator: str) -> bool:
    """Return whether it is a chain of the operator, without operators that bind less tightly."""
    return operator in top and _LOOSER[operator].isdisjoint(top)


def _outline(text: str) -> _Outline:
    top: list[str] = []
    open_: list[str] = []
    for match in TOKEN.finditer(text):
        kind, token = match.lastgroup or "", match.group()
        if kind == "endless":
            return _Outline(top, ENDLESS.get(token, "a quote is not closed"))
        if kind == "close" and (not open_ or open_.pop() != OPENING[token]):
            return _Outline(top, f"{token} closes nothing")
        if not open_ and kind not in ("blank", "close"):
            top.append(_thing(kind, token))
        if kind in ("open", "macro"):
            open_.append(token[-1])
    return _Outline(top, f"{open_[-1]} is not closed" if open_ else None)


def _thing(kind: str, token: str) -> str:
    """Return the name of a token at the top level; an opening bracket represents its whole group."""
    if kind == "open":
        return "()" if token == "(" else "[]"
    return token if kind == "operator" else kind


# HTCondor's macros as HTCondor scans them: $(NAME), $(NAME:default) and functions like $INT(NAME).

_DOLLAR = re.compile(r"\$\$?+[A-Za-z0-9_]*+")
_BODY = re.compile(r"\(([A-Za-z0-9_./]*)(?::((?:[A-Za-z0-9_./$ ,\\:]|\([^)]*\))*+))?\)")
_ANYTHING = re.compile(r"\(([^)]*)\)")
_OF_FILES = re.compile(r"\$F[pnxdqabfwu]*", re.IGNORECASE)
_OF_ONE = frozenset({"$INT", "$REAL", "$STRING", "$EVAL", "$BASENAME", "$DIRNAME"})
_OF_MORE = frozenset({"$SUBSTR", "$CHOICE", "$RANDOM_CHOICE"})


class Macro(NamedTuple):
    """A macro in a value: its start and end, its function (`$`: none), and the text in its brackets."""

    start: int
    end: int
    function: str
    body: str
    default: str = ""

    @property
    def at_once(self) -> bool:
        """Whether HTCondor replaces it at once while it reads the value of the very setting that it names."""
        return self.function == "$" or _of_files(self.function)


@lru_cache(maxsize=4096)
def find_macros(value: str) -> tuple[Macro, ...]:
    """Return the macros that HTCondor sees in a value, from the left, without those inside other macros."""
    return tuple(_macros(value))


def _macros(value: str) -> Iterator[Macro]:
    at = 0
    while (dollar := _DOLLAR.search(value, at)) is not None:
        at = dollar.end()
        body = _body(dollar[0]).match(value, at)
        if body is not None:
            at = body.end()
            yield Macro(dollar.start(), at, dollar[0], *body.groups(""))


def _body(function: str) -> re.Pattern[str]:
    if function == "$":
        return _BODY
    known = function in _OF_ONE or function in _OF_MORE or _of_files(function)
    return _ANYTHING if known else _NOTHING


_NOTHING = re.compile(r"(?!)")


def _of_files(function: str) -> bool:
    return function.startswith("$F") and _OF_FILES.fullmatch(function) is not None


def find_lookups(value: str, values: Mapping[str, str]) -> Iterator[tuple[str, Macro]]:
    """Yield the names in `values` (lower case) that expanding a value certainly uses, with their macros."""
    for macro in find_macros(value):
        name = macro.body.lower()
        if macro.function != "$":
            yield from ((argument, macro) for argument in _arguments(macro) if argument in values)
        elif values.get(name):
            yield name, macro
        elif name in values:
            yield from find_lookups(macro.default, values)


def _arguments(macro: Macro) -> list[str]:
    """Return the names that a function looks up: all arguments or the first one, but not items of a list."""
    arguments = [argument.strip().lower() for argument in macro.body.split(",")]
    if macro.function == "$CHOICE" and len(arguments) == 2:
        return arguments
    if macro.function == "$RANDOM_CHOICE":
        return arguments if len(arguments) == 1 else []
    return arguments if macro.function == "$SUBSTR" else arguments[:1]


LONGEST_MACROS = 1 << 16
"""The most characters of a value with its macros replaced; a longer one is returned unchanged."""


class Expansion:
    """Replaces $(NAME) by values, and macros in these values. Unknown macros stay unchanged.

    `find` returns the raw value of a name in lower case, or None if it is not known. `base` returns the value
    of a name that is not set, which the name means in its own value. Each name is expanded only once.
    """

    def __init__(
        self, find: Callable[[str], str | None], base: Callable[[str], str | None] = lambda _: None
    ) -> None:
        self._find, self._base = find, base
        self._known: dict[str, str | None] = {}

    def of(self, text: str, own: str = "") -> str:
        """Return the value of the name `own` (lower case) with all known macros replaced."""
        if "$(" not in text:
            return text
        parts, at, size = [], 0, len(text)
        for macro in find_macros(text):
            put = self._put(macro, own) if macro.function == "$" else None
            if put is not None:
                size += len(put)
                if size > LONGEST_MACROS:
                    return text
                parts += [text[at : macro.start], put]
                at = macro.end
        return "".join([*parts, text[at:]])

    def used(self, text: str, own: str = "") -> set[str]:
        """Return the names (lower case) whose values `of` inserts in a text, also through other values."""
        found: set[str] = set()
        wanted = [macro.body.lower() for macro in find_macros(text) if macro.function == "$"]
        while wanted:
            name = wanted.pop()
            value = None if name == own or name in found else self._find(name)
            if value is not None:
                found.add(name)
                wanted += (macro.body.lower() for macro in find_macros(value) if macro.function == "$")
        return found

    def _put(self, macro: Macro, own: str) -> str | None:
        name = macro.body.lower()
        if name == own:
            return self._base(name)
        if name not in self._known:
            self._known[name] = None  # for a cycle
            value = self._find(name)
            self._known[name] = None if value is None else self.of(value, name)
        value = self._known[name]
        return macro.default if value is not None and not value.strip() else value
