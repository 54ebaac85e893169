"""Which parts of a variable an expression looks up, so that equal rows are evaluated once."""

from collections.abc import Callable
from functools import lru_cache

from gitcfg.cel.expression import Expression
from gitcfg.cel.terms import Form, Term, outermost

Lookup = Callable[[Term, str], str | None]
"""Return what a term looks up in a variable, or None if it does not, or uses the variable in another way."""


def _find_lookups(expression: Expression, variable: str, lookup: Lookup) -> frozenset[str] | None:
    """Return all that an expression looks up in a variable, or None if it uses it in another way too."""
    if variable not in expression.names:
        return frozenset()
    return _find_in_terms(expression.checked, variable, lookup)


@lru_cache(maxsize=4_096)
def _find_in_terms(checked: bytes, variable: str, lookup: Lookup) -> frozenset[str] | None:
    letters = variable.rpartition(".")[2].encode()
    found, waiting = set(), [outermost(checked)]
    while waiting:
        term = waiting.pop()
        item = lookup(term, variable)
        hides = term.form is Form.LOOP and variable.partition(".")[0] in term.words
        if item is not None:
            found.add(item)
        elif term.path == variable or hides:
            return None
        else:
            waiting += term.parts_with(letters)
    return frozenset(found)


# Lookups in a map: an expression that only looks up some keys does not depend on the others.

_LOOKED_UP = ("_[_]", "@in")
"""`map[KEY]`, and `KEY in map`."""


def find_fields(expression: Expression, variable: str) -> frozenset[str] | None:
    """Return the keys that an expression looks up in a map, or None if it uses the map in another way too.

    Lookups are `node.facts.KEY`, `node.facts["KEY"]`, `has()` of one, and `"KEY" in node.facts`.
    """
    return _find_lookups(expression, variable, _key)


def find_fields_of_each(expression: Expression, part: str) -> frozenset[str] | None:
    """Return the keys looked up in a part that each item of a list has: `nodes.all(n, n.params.KEY)`.

    Return None if the expression uses the part in another way too.
    """
    found, waiting = set[str](), [outermost(expression.checked)]
    while waiting:
        term = waiting.pop()
        looked = _split_lookup(term)
        if looked is not None and _is_part(looked[0], part):
            found.add(looked[1])
        elif _is_part(term, part):
            return None
        else:
            waiting += term.parts
    return frozenset(found)


def _is_part(term: Term, part: str) -> bool:
    """Return whether a term is a member or a constant of this name; a constant may be used for a lookup."""
    return part in term.words if term.form in (Form.FIELD, Form.CONSTANT) else False


def _key(term: Term, variable: str) -> str | None:
    """Return the key that a term looks up in the map, or None if it is not a lookup in that map."""
    looked = _split_lookup(term)
    return looked[1] if looked is not None and looked[0].path == variable else None


def _split_lookup(term: Term) -> tuple[Term, str] | None:
    """Return the term in which this one looks up a key, and the key; None if it is not a lookup."""
    if term.form is Form.FIELD:
        return term.parts[0], term.words[0]
    if term.form is not Form.CALL or len(term.words) != 1 or term.words[0] not in _LOOKED_UP:
        return None
    where, item = term.parts if term.words[0] == "_[_]" else reversed(term.parts)
    return (where, item.words[0]) if item.form is Form.CONSTANT and item.words else None


# Lookups in a list: an expression that only asks whether names are in it does not depend on other items.


def find_members(expression: Expression, variable: str) -> frozenset[str] | None:
    """Return the names that an expression looks for in a list: `"NAME" in node.features`.

    Return None if it uses the list in another way too.
    """
    return _find_lookups(expression, variable, _member)


def _member(term: Term, variable: str) -> str | None:
    """Return the name that a term looks for in the list, or None if it does not."""
    if term.form is not Form.CALL or term.words != ("@in",):
        return None
    item, where = term.parts
    return item.words[0] if item.form is Form.CONSTANT and item.words and where.path == variable else None
