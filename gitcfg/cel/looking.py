"""What expressions look for in a variable, where they do nothing else with it."""

from collections.abc import Callable
from functools import lru_cache

from gitcfg.cel.expression import Expression
from gitcfg.cel.terms import Form, Term, outermost

Looks = Callable[[Term, str], str | None]
"""What a term looks for in a variable; None: nothing, or it does something else with it."""


def looked_for(expression: Expression, variable: str, looks: Looks) -> frozenset[str] | None:
    """All that an expression looks for in a variable; None: it does more with it."""
    if variable not in expression.names:
        return frozenset()
    return _looked_for(expression.checked, variable, looks)


@lru_cache(maxsize=4_096)
def _looked_for(checked: bytes, variable: str, looks: Looks) -> frozenset[str] | None:
    letters = variable.rpartition(".")[2].encode()
    found, waiting = set(), [outermost(checked)]
    while waiting:
        term = waiting.pop()
        item = looks(term, variable)
        if item is not None:
            found.add(item)
        elif term.path == variable or _hides(term, variable):
            return None
        else:
            waiting += term.parts_with(letters)
    return frozenset(found)


def _hides(term: Term, variable: str) -> bool:
    """Has a loop a variable of that name? Then the name within it need not be what is meant."""
    return term.form is Form.LOOP and variable.partition(".")[0] in term.words
