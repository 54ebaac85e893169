"""ClassAd expressions as far as they can be read without HTCondor: tokens, and what is out of place.

A macro, `$(X)` or `$INT(X)`, is one unknown piece: an operand, an operator, some of both, or nothing.
What HTCondor's parser takes is never a fault here; it may refuse more.
"""

import re
from collections.abc import Callable, Iterator, Mapping

import msgspec

# Possessive repeats: what does not close is read once, not once for each place it could begin at.
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
"""Characters of an expression; nobody writes more, and what is composed into more is not read here."""

_SIMPLE = re.compile(r"\s*(?:[A-Za-z0-9_]+|\$\([A-Za-z0-9_.]*\))?\s*")
_MACRO = re.compile(r"\$[A-Za-z0-9_]*+\(")
_COMPARING = frozenset({"==", "!=", "=?=", "=!=", "<", "<=", ">", ">="})
_BINARY = _COMPARING | frozenset({"&&", "||", "<<", ">>", ">>>", *"+-*/%&|^?"})
_PREFIX = frozenset("+-!~")
_WORDS: Mapping[str, str] = {"and": "&&", "or": "||", "not": "!"}
_COMMAS = frozenset({"call", "list", "subscript", "any"})


class Fault(msgspec.Struct, frozen=True):
    """What is wrong with an expression, in words that follow "is not a ClassAd expression:".

    It is not `sure` where a macro stands beside it, which may hold what is missing.
    """

    reason: str
    sure: bool = True
    hint: str = ""


def find_fault(text: str) -> Fault | None:
    """Return the first thing that is wrong with an expression; None: nothing, as far as can be told."""
    if _SIMPLE.fullmatch(text) or len(text) > LONGEST:
        return None
    tokens = list(_tokens(text))
    return _Reader(tokens).fault() if tokens else None


class _Token(msgspec.Struct, frozen=True):
    """A token; a macro is one with all that is in its brackets."""

    kind: str
    text: str

    @property
    def unknown(self) -> bool:
        """May it be anything, or hold a quote?"""
        return self.kind == "macro" or (self.text[0] in "\"'" and _MACRO.search(self.text) is not None)


_END = _Token("end", " ")


def _tokens(text: str) -> Iterator[_Token]:
    at = 0
    while at < len(text):
        match = TOKEN.match(text, at)
        assert match is not None  # its last alternative takes anything
        kind, start, at = match.lastgroup or "", at, match.end()
        if kind == "macro" and (end := _end_of_macro(text, at)):
            at = end
        elif kind == "macro":
            kind = "endless"
        elif kind == "endless" and match[0] == '"' and text.rstrip().endswith('\\"'):
            kind, at = "literal", len(text)  # HTCondor lets a backslash be the last character of a text
        if kind != "blank":
            yield _Token(kind, text[start:at])
        if kind == "endless":
            return


def _end_of_macro(text: str, at: int) -> int:
    """Where a macro's brackets close; 0: they do not."""
    depth = 1
    for match in _BRACKET.finditer(text, at):
        depth += 1 if match[0] == "(" else -1
        if not depth:
            return match.end()
    return 0


_BRACKET = re.compile(r"[()]")


class _Level:
    """What stands between two brackets: `kind`, how many `?` wait for their `:`, and is a macro in it?"""

    def __init__(self, kind: str, opening: str = "") -> None:
        self.kind, self.opening = kind, opening
        self.waiting, self.unknown = 0, False


class _Stop(Exception):
    """The end of reading: with a fault, or with none that can be told."""

    def __init__(self, fault: Fault | None = None) -> None:
        self.fault = fault


class _Reader:
    """Lets operands and operators take turns.

    `turn` is what has to come next: an "operand", an "operator" (or the end), "any" after a macro, or in a
    record the name of an "attribute" or "=".
    """

    def __init__(self, tokens: list[_Token]) -> None:
        self._tokens = tokens
        self._at = 0
        self._turn = "operand"
        self._levels = [_Level("top")]

    def fault(self) -> Fault | None:
        """Read all tokens; what is wrong?"""
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
        """A fault between the token before and this one."""
        beside = self._tokens[max(self._at - 2, 0) : self._at + 2]
        return _Stop(Fault(reason, not any(token.unknown for token in beside), hint))

    def _unpaired(self, reason: str) -> _Stop:
        """A fault that any macro may mend, wherever it stands."""
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
                raise self._wrong(f"{_quoted(token)} is no attribute's name")
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
            raise self._wrong(f"{_quoted(token)} stands where a record says an attribute")
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
            raise self._unpaired(f"`{token.text}` closes nothing")
        before = self._before
        empty = before is not None and before.kind == "open"
        if self._turn == "=" or (self._turn == "operand" and not (empty and level.kind in ("call", "list"))):
            if empty:
                raise self._wrong(f"nothing stands between `{level.opening}` and `{token.text}`")
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
            raise self._wrong(f"{_quoted(token)} means nothing here")

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
            raise self._wrong("`=` stands where `==` was meant", hint)

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
            raise self._unpaired("a comma stands outside of a list")
        self._all_paired(level)
        self._turn = "operand"

    def _semicolon(self, token: _Token) -> None:
        level = self._levels[-1]
        if level.kind == "top":
            raise _Stop  # HTCondor's parser may end there
        if self._turn == "operand":
            raise self._misplaced(token)
        if level.kind not in ("record", "any"):
            raise self._unpaired("`;` stands outside of a record")
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
        where = "it ends" if self._at == len(self._tokens) else "what is in brackets ends"
        return self._wrong(f"{where} with the operator {_quoted(before or _END)}")

    def _all_paired(self, level: _Level) -> None:
        if level.waiting > 0 and not level.unknown:
            raise self._unpaired("`?` has no `:` after it")


# Beside the class: a reader that held its own methods would wait for Python's collector.
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
    """May these stand in a row: an attribute of something (`a . b`), or one string in two parts?"""
    if before.text.endswith(".") or token.text.startswith("."):
        return True
    return before.text[0] == token.text[0] and token.text[0] in "\"'"


def _quoted(token: _Token) -> str:
    text = token.text if token.text.isprintable() else ascii(token.text)[1:-1]
    return f"`{text if len(text) <= 40 else text[:37] + '...'}`"
