"""Expressions that ask of a map only what stands under some keys: what else it holds changes nothing."""

from functools import lru_cache

from gitcfg.cel.parsed import hides, parsed
from gitcfg.cel.terms import Form, Term

_LOOKED_UP = ("_[_]", "@in")
"""`map[KEY]`, and `KEY in map`."""


@lru_cache(maxsize=512)
def fields_asked(text: str, variable: str) -> frozenset[str] | None:
    """The keys that an expression looks for in a map (`node.facts.KEY`, `node.facts["KEY"]`, `has()` of one,
    `"KEY" in node.facts`), where it does no more with it; None: it does, or is none.
    """
    whole = parsed(text)
    if whole is None:
        return None
    found, waiting = set(), [whole]
    while waiting:
        term = waiting.pop()
        key = _key(term, variable)
        if key is not None:
            found.add(key)
        elif term.path == variable or hides(term, variable):
            return None
        else:
            waiting += term.parts
    return frozenset(found)


def _key(term: Term, variable: str) -> str | None:
    """The key under which a term looks into the map, and does nothing else with it."""
    if term.form is Form.FIELD:
        return term.words[0] if term.parts[0].path == variable else None
    if term.form is not Form.CALL or len(term.words) != 1 or term.words[0] not in _LOOKED_UP:
        return None
    where, item = term.parts if term.words[0] == "_[_]" else reversed(term.parts)
    return item.words[0] if item.form is Form.CONSTANT and item.words and where.path == variable else None
