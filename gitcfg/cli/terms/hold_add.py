"""`gitcfg hold add`: nodes stay at a commit for some time."""

from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli import editing
from gitcfg.cli.session import Session
from gitcfg.cli.terms import say

if TYPE_CHECKING:
    from gitcfg.library import Fleet, Source

_HOLD_EPILOG = """\
What a hold is about runs that commit until its last day has passed; then a server lets go of it.

Examples:

  gitcfg hold add dimm exec042 --commit-id HEAD~3 --until 2027-01-15 --reason 'bad DIMM, ticket 4711'

  gitcfg hold add freeze @rack3 --commit-id v4 --until 2026-12-31 --reason 'a run of 5 weeks' --commit

  gitcfg hold add ssds --where '"ssd" in node.labels' --commit-id main --until 2026-12-31 --reason 'a test'"""

_COMMIT = typer.Option("--commit-id", help="The commit that they run meanwhile.", metavar="REV")


def add_hold(
    context: typer.Context,
    name: say._Name,
    nodes: say._Nodes = None,
    *,
    revision: Annotated[str, _COMMIT],
    until: say._UntilDay,
    reason: say._Reason,
    where: say._Where = None,
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
) -> int:
    """Keep nodes at a commit until a day has passed."""
    from gitcfg.cli.edited import edit, wish
    from gitcfg.edit.orders import Action, Order
    from gitcfg.edit.terms import TermEnd, begin_term, parse_last_day, parse_scope
    from gitcfg.edit.yaml.changes import Given

    session: Session = context.obj
    source = session.open()
    order = Order(Action.NEW, "hold", name, fields={"commit": Given(_full_commit(session, source, revision))})
    with source.worktree() as fleet:
        who = parse_scope(fleet.model, nodes or (), where)
        if "where" in who:
            _warn_of_no_node(session, fleet, str(who["where"].meaning))
    order = begin_term(order, who, TermEnd(parse_last_day(until), reason), source.today)
    return edit(session, [order], wish(force, commit, message, f"Add hold {name}: {reason}"))


def _warn_of_no_node(session: Session, fleet: "Fleet", where: str) -> None:
    """Say it if a condition that can be read holds for no node."""
    selection = fleet.compiled.select(where)
    if selection.problem is None and not selection.names:
        text = "warning: No node fulfils that condition, so that the hold keeps nobody by now."
        session.console(stderr=True).print(text, style="yellow")


def _full_commit(session: Session, source: "Source", revision: str) -> str:
    """The full id of a commit. GitcfgError: it is not here, or there is nothing of ours in it."""
    from gitcfg.git.history import History
    from gitcfg.load.repository import settings_entry

    tree = source.repository.at(revision)
    settings_entry(tree)
    assert tree.commit is not None
    history = History(source.repository)
    if not history.includes(str(source.repository.commit("HEAD").id), tree.commit):
        console = session.console(stderr=True)
        console.print(
            "note: HEAD does not come after that commit; servers have what a protected ref reaches."
        )
    return tree.commit
