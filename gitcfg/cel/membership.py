"""Expressions that ask of a list only whether some names are in it: what else it holds changes nothing."""

from gitcfg.cel.expression import Expression
from gitcfg.cel.looking import looked_for
from gitcfg.cel.terms import Form, Term


def members_asked(expression: Expression, variable: str) -> frozenset[str] | None:
    """The names that an expression looks for in a list (`"NAME" in node.features`), where it does no more
    with it; None: it does.
    """
    return looked_for(expression, variable, _member)


def _member(term: Term, variable: str) -> str | None:
    """The name for which a term looks in the list, and does nothing else."""
    if term.form is not Form.CALL or term.words != ("@in",):
        return None
    item, where = term.parts
    return item.words[0] if item.form is Form.CONSTANT and item.words and where.path == variable else None
