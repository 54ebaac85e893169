"""Expressions in a target's language, joined by && and || so that neither operand changes its meaning."""

from collections.abc import Sequence

import msgspec

from gitcfg.compile.classad import ENDLESS, OPENING, TOKEN

_ALONE = frozenset({("literal",), ("name",), ("()",), ("name", "()")})
_LOOSER = {"||": frozenset("?:,;="), "&&": frozenset({*"?:,;=", "||"})}


class _Outline(msgspec.Struct, frozen=True):
    """What stands outside all brackets (a group in brackets is one thing there), and what does not close."""

    top: Sequence[str]
    problem: str | None = None


def join(operator: str, below: str, above: str) -> str:
    """Two operands as one expression, the lower one first.

    Of three that close, it does not matter which two are joined first: a chain stays flat.
    """
    return f"{operand(below, operator)} {operator} {operand(above, operator)}"


def operand(text: str, operator: str) -> str:
    """The text as one operand: in parentheses, unless it is safe without."""
    outline = _outline(text)
    bare = outline.problem is None and (tuple(outline.top[:3]) in _ALONE or _chain(outline.top, operator))
    return text if bare else f"({text})"


def unbalanced(text: str) -> str | None:
    """Why a text cannot be an operand: a quote, bracket or comment that does not close."""
    return _outline(text).problem


def _chain(top: Sequence[str], operator: str) -> bool:
    """Is it operands of the operator, with nothing beside them that binds less tightly?"""
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
    """What a token at the top level is; the one that opens a group stands for all of it."""
    if kind == "open":
        return "()" if token == "(" else "[]"
    return token if kind == "operator" else kind
