"""Expressions as their terms, for questions about what they read."""

from functools import lru_cache

from gitcfg.cel.terms import Form, Term, outermost


@lru_cache(maxsize=512)
def parsed(text: str) -> Term | None:
    """The whole of an expression; None: it is none."""
    from gitcfg.cel.environment import environment

    try:
        found = environment((), None, bounded=False).compile(text, disable_check=True)
    except RuntimeError:
        return None
    return outermost(found.serialize())


def hides(term: Term, variable: str) -> bool:
    """Has a loop a variable of that name? Then the name within it need not be what is meant."""
    return term.form is Form.LOOP and variable.partition(".")[0] in term.words
