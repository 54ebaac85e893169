"""Expressions that ask of a list only whether some names are in it: what else it holds changes nothing."""

from functools import lru_cache

from gitcfg.cel.parsed import hides, parsed
from gitcfg.cel.terms import Form, Term


def plain_features(text: str) -> frozenset[str] | None:
    """The features that an expression asks a node for; None: it may look at all that there are."""
    return members_asked(text, "node.features")


@lru_cache(maxsize=512)
def members_asked(text: str, variable: str) -> frozenset[str] | None:
    """The names that an expression looks for in a list (`"NAME" in node.features`), where it does no more
    with it; None: it does, or is none.
    """
    whole = parsed(text)
    if whole is None:
        return None
    found, waiting = set(), [whole]
    while waiting:
        term = waiting.pop()
        member = _member(term, variable)
        if member is not None:
            found.add(member)
        elif term.path == variable or hides(term, variable):
            return None
        else:
            waiting += term.parts
    return frozenset(found)


def _member(term: Term, variable: str) -> str | None:
    """The name for which a term looks in the list, and does nothing else."""
    if term.form is not Form.CALL or term.words != ("@in",):
        return None
    item, where = term.parts
    return item.words[0] if item.form is Form.CONSTANT and item.words and where.path == variable else None
