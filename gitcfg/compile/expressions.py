"""Expressions in a target's language, joined by && and ||."""

import re

_TOKEN = re.compile(
    r'\s+|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|&&|\|\||\$+\w*\(|[()\[\]{}?:]|[A-Za-z_][\w.]*|[0-9][\w.]*|.',
    re.DOTALL,
)
_CLOSING = {")": "(", "]": "[", "}": "{"}


def join(operator: str, below: str, above: str) -> str:
    """Two operands as one expression, the lower one first."""
    return f"{operand(below, operator)} {operator} {operand(above, operator)}"


def operand(text: str, operator: str) -> str:
    """The text as one operand: in parentheses, unless it is safe without."""
    tokens = [token for token in _TOKEN.findall(text) if not token.isspace()]
    if (len(tokens) == 1 and len(tokens[0]) > 0) or _whole(tokens) or operator in _top(tokens, operator):
        return text
    return f"({text})"


def _whole(tokens: list[str]) -> bool:
    """Is it parenthesised whole, or one call?"""
    call = len(tokens) > 1 and re.fullmatch(r"[A-Za-z_][\w.]*", tokens[0]) and tokens[1] == "("
    start = 1 if call else 0
    if not tokens or len(tokens) <= start or tokens[start] != "(":
        return False
    depth = 0
    for index, token in enumerate(tokens[start:], start):
        depth += _step(token)
        if depth == 0:
            return index == len(tokens) - 1
    return False


def _step(token: str) -> int:
    return 1 if token[-1] in "([{" else -1 if token in ")]}" else 0


def _top(tokens: list[str], operator: str) -> set[str]:
    """The operator, if the tokens are a chain of it at the top level."""
    depth, found = 0, set()
    for token in tokens:
        depth += _step(token)
        if depth == 0 and token in ("&&", "||", "?", ":"):
            found.add(token)
    chain = found == {operator} or (operator == "||" and found == {"&&", "||"})
    return found if chain else set()


def unbalanced(text: str) -> str | None:
    """Why a text cannot be an operand: a quote or bracket that does not close."""
    open_: list[str] = []
    for token in _TOKEN.findall(text):
        if token in ('"', "'"):
            return "a quote is not closed"
        if token[-1] in "([{":
            open_.append(token[-1])
        elif token in _CLOSING and (not open_ or open_.pop() != _CLOSING[token]):
            return f"{token} closes nothing"
    return f"{open_[-1]} is not closed" if open_ else None
