"""Expressions that ask of a map only what stands under some keys: what else it holds changes nothing."""

from gitcfg.cel.expression import Expression
from gitcfg.cel.looking import looked_for
from gitcfg.cel.terms import Form, Term, outermost

_LOOKED_UP = ("_[_]", "@in")
"""`map[KEY]`, and `KEY in map`."""


def fields_asked(expression: Expression, variable: str) -> frozenset[str] | None:
    """The keys that an expression looks for in a map (`node.facts.KEY`, `node.facts["KEY"]`, `has()` of one,
    `"KEY" in node.facts`), where it does no more with it; None: it does.
    """
    return looked_for(expression, variable, _key)


def fields_asked_of_each(expression: Expression, part: str) -> frozenset[str] | None:
    """The same of a part that each item of a list has (`nodes.all(n, n.params.KEY)`), whoever is asked."""
    found, waiting = set[str](), [outermost(expression.checked)]
    while waiting:
        term = waiting.pop()
        looked = _looked_up(term)
        if looked is not None and _is_part(looked[0], part):
            found.add(looked[1])
        elif _is_part(term, part):
            return None
        else:
            waiting += term.parts
    return frozenset(found)


def _is_part(term: Term, part: str) -> bool:
    """Is a term what something has under a name, or the name alone, which may be looked up?"""
    return part in term.words if term.form in (Form.FIELD, Form.CONSTANT) else False


def _key(term: Term, variable: str) -> str | None:
    """The key under which a term looks into the map, and does nothing else with it."""
    looked = _looked_up(term)
    return looked[1] if looked is not None and looked[0].path == variable else None


def _looked_up(term: Term) -> tuple[Term, str] | None:
    """What a term looks into, and under which key, where it does nothing else."""
    if term.form is Form.FIELD:
        return term.parts[0], term.words[0]
    if term.form is not Form.CALL or len(term.words) != 1 or term.words[0] not in _LOOKED_UP:
        return None
    where, item = term.parts if term.words[0] == "_[_]" else reversed(term.parts)
    return (where, item.words[0]) if item.form is Form.CONSTANT and item.words else None
