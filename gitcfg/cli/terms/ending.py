"""`lift` and `expire` of holds and overrides: those that are named, or that are over, are taken away."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli import editing
from gitcfg.cli.session import Session

if TYPE_CHECKING:
    from gitcfg.edit.orders import Order
    from gitcfg.edit.terms import Term

_LIFT_EPILOG = """Examples:

  gitcfg {term} lift dimm

  gitcfg {term} lift dimm freeze --commit -m 'Both are mended'

  gitcfg {term} lift old --force                although that adds errors"""
_EXPIRE_EPILOG = """Nothing is taken away on its last day, only after it.

Examples:

  gitcfg {term} expire

  gitcfg {term} expire --commit

  gitcfg --today 2027-01-01 {term} expire       those that will be over by then"""


def lift_command(term: str) -> Callable[..., int]:
    """The command that takes some away."""

    def command(
        context: typer.Context,
        names: Annotated[list[str], typer.Argument(help="Which.", metavar=f"{term.upper()}...")],
        force: editing.Force = False,
        commit: editing.Commit = False,
        message: editing.Message = None,
    ) -> int:
        from gitcfg.edit.terms import Term

        wished = (force, commit, message)
        return _lift(context.obj, Term(term), tuple(names), wished, f"Lift {term} {', '.join(names)}")

    return command


def expire_command(term: str) -> Callable[..., int]:
    """The command that takes away those past their end."""

    def command(
        context: typer.Context,
        force: editing.Force = False,
        commit: editing.Commit = False,
        message: editing.Message = None,
    ) -> int:
        from gitcfg.edit.terms import Term, find_expired

        session: Session = context.obj
        with session.fleet(None) as fleet:
            names = find_expired(fleet.model, Term(term), session.open().today)
        if not names:
            session.console(stderr=True).print(f"No {term} is past its end.")
            return 0
        return _lift(session, Term(term), names, (force, commit, message), f"Lift {term}s past their end")

    return command


def _lift(
    session: Session,
    term: "Term",
    names: tuple[str, ...],
    wished: tuple[bool, bool, str | None],
    subject: str,
) -> int:
    from gitcfg.cli.edited import edit, wish
    from gitcfg.edit.terms import Term, lift_terms

    orders = lift_terms(term, names)
    if term is Term.OVERRIDE:
        _show_change(session, orders)
    return edit(session, orders, wish(*wished, subject))


def _show_change(session: Session, orders: "list[Order]") -> None:
    """Show what nodes get that have an override no more."""
    from gitcfg.cli import changes
    from gitcfg.edit.draft import Draft
    from gitcfg.edit.orders import carry_out
    from gitcfg.library import Fleet, compare

    source = session.open()
    with source.worktree() as old:
        draft = Draft(old.tree, source.cache)
        carry_out(draft, orders)
        with Fleet(draft.tree, None, source.today, source.cache) as new:
            found = compare(old, new)
            changes.show(session.console(), found, stat=True, files=False)
            changes.summary(session.console(stderr=True), found)
