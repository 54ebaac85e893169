"""What expressions look for in a variable, so that equal answers need one evaluation."""

from collections.abc import Callable
from functools import lru_cache

from gitcfg.cel.expression import Expression
from gitcfg.cel.terms import Form, Term, outermost

Lookup = Callable[[Term, str], str | None]
"""Return what a term looks for in a variable; None: nothing, or it does something else with it."""


def _find_lookups(expression: Expression, variable: str, lookup: Lookup) -> frozenset[str] | None:
    """Return all that an expression looks for in a variable; None: it does more with it."""
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


# Expressions that ask of a map only what stands under some keys: what else it holds changes nothing.

_LOOKED_UP = ("_[_]", "@in")
"""`map[KEY]`, and `KEY in map`."""


def find_fields(expression: Expression, variable: str) -> frozenset[str] | None:
    """Return the keys that an expression looks for in a map (`node.facts.KEY`, `node.facts["KEY"]`, `has()`
    of one, `"KEY" in node.facts`), where it does no more with it; None: it does.
    """
    return _find_lookups(expression, variable, _key)


def find_fields_of_each(expression: Expression, part: str) -> frozenset[str] | None:
    """Return the same for a part that each item of a list has: `nodes.all(n, n.params.KEY)`."""
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
    """Return whether a term is a member by name, or the name alone, which may be looked up."""
    return part in term.words if term.form in (Form.FIELD, Form.CONSTANT) else False


def _key(term: Term, variable: str) -> str | None:
    """Return the key under which a term looks into the map, and does nothing else with it."""
    looked = _split_lookup(term)
    return looked[1] if looked is not None and looked[0].path == variable else None


def _split_lookup(term: Term) -> tuple[Term, str] | None:
    """Return what a term looks into, and under which key, where it does nothing else."""
    if term.form is Form.FIELD:
        return term.parts[0], term.words[0]
    if term.form is not Form.CALL or len(term.words) != 1 or term.words[0] not in _LOOKED_UP:
        return None
    where, item = term.parts if term.words[0] == "_[_]" else reversed(term.parts)
    return (where, item.words[0]) if item.form is Form.CONSTANT and item.words else None


# Expressions that ask of a list only whether some names are in it: what else it holds changes nothing.


def find_members(expression: Expression, variable: str) -> frozenset[str] | None:
    """Return the names that an expression looks for in a list (`"NAME" in node.features`), where it does no
    more with it; None: it does.
    """
    return _find_lookups(expression, variable, _member)


def _member(term: Term, variable: str) -> str | None:
    """Return the name for which a term looks in the list, and does nothing else."""
    if term.form is not Form.CALL or term.words != ("@in",):
        return None
    item, where = term.parts
    return item.words[0] if item.form is Form.CONSTANT and item.words and where.path == variable else None
