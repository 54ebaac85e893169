"""`$and` and `$or`: operands joined, in parentheses where they need them."""

import re

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')"""
    r"""|(?P<word>[A-Za-z_0-9.]+)|(?P<sign>&&|\|\||[<>=!]=|=\?=|=!=|\S))""",
    re.DOTALL,
)
_CLOSES = {"(": ")", "[": "]", "{": "}"}


def join(below: str, above: str, sign: str) -> str:
    """Two operands, each left bare only if it stays one there."""
    return f"{_operand(below, sign)} {sign} {_operand(above, sign)}"


def _operand(text: str, sign: str) -> str:
    tokens = [found.group().strip() for found in _TOKEN.finditer(text)]
    bare = _single(tokens) or _call(tokens) or _parenthesised(tokens) or _chain(tokens, sign)
    return text if bare else f"({text})"


def _single(tokens: list[str]) -> bool:
    return len(tokens) == 1 and bool(re.match(r"[A-Za-z_0-9.\"']", tokens[0]))


def _call(tokens: list[str]) -> bool:
    named = len(tokens) > 2 and bool(re.match(r"[A-Za-z_]", tokens[0]))
    return named and _parenthesised(tokens[1:])


def _parenthesised(tokens: list[str]) -> bool:
    return bool(tokens) and tokens[0] == "(" and _end(tokens) == len(tokens) - 1


def _end(tokens: list[str]) -> int:
    """Where the bracket closes that the first token opens; -1: nowhere."""
    open_: list[str] = []
    for place, token in enumerate(tokens):
        if token in _CLOSES:
            open_.append(_CLOSES[token])
        elif open_ and token == open_[-1]:
            open_.pop()
            if not open_:
                return place
    return -1


def _chain(tokens: list[str], sign: str) -> bool:
    """Is it `A sign B ...`, with nothing at the top that binds less tightly than the sign?"""
    top = _top(tokens)
    looser = {"?", ":"} | ({"||"} if sign == "&&" else set())
    return sign in top and not looser & set(top)


def _top(tokens: list[str]) -> list[str]:
    """The tokens outside all brackets."""
    found: list[str] = []
    while tokens:
        skipped = _end(tokens) if tokens[0] in _CLOSES else 0
        if not skipped:
            found.append(tokens[0])
        tokens = tokens[max(skipped, 0) + 1 :]
    return found
