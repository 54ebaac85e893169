"""Expressions that ask of a map only what stands under some keys: what else it holds changes nothing."""

from gitcfg.cel.expression import Expression
from gitcfg.cel.looking import looked_for
from gitcfg.cel.terms import Form, Term

_LOOKED_UP = ("_[_]", "@in")
"""`map[KEY]`, and `KEY in map`."""


def fields_asked(expression: Expression, variable: str) -> frozenset[str] | None:
    """The keys that an expression looks for in a map (`node.facts.KEY`, `node.facts["KEY"]`, `has()` of one,
    `"KEY" in node.facts`), where it does no more with it; None: it does.
    """
    return looked_for(expression, variable, _key)


def _key(term: Term, variable: str) -> str | None:
    """The key under which a term looks into the map, and does nothing else with it."""
    if term.form is Form.FIELD:
        return term.words[0] if term.parts[0].path == variable else None
    if term.form is not Form.CALL or len(term.words) != 1 or term.words[0] not in _LOOKED_UP:
        return None
    where, item = term.parts if term.words[0] == "_[_]" else reversed(term.parts)
    return item.words[0] if item.form is Form.CONSTANT and item.words and where.path == variable else None
