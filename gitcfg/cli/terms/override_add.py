"""`gitcfg override add`: something holds for some nodes for some time."""

import typer

from gitcfg.cli import editing
from gitcfg.cli.session import Session
from gitcfg.cli.terms import say

_OVERRIDE_EPILOG = """Values are YAML, as they would stand in the file. An override is topmost.

Examples:

  gitcfg override add dimm exec042 --set START=FALSE --until 2027-01-15 --reason 'bad DIMM, ticket 4711'

  gitcfg override add no-gpus @rack3 --without GpuNode --until 2026-12-31 --reason 'new drivers' --commit

  gitcfg override add try --where '"ssd" in node.labels' --feature Lab --until 2026-12-31 --reason 'a test'"""

_KEYS = ("features", "without", "params", "files")
_OVERRIDE_OPTIONS = [
    option
    for option in editing.OPTIONS
    if option.key in _KEYS and option.part in (editing.Part.ADD, editing.Part.PUT)
]


def add_override(
    context: typer.Context,
    name: say._Name,
    nodes: say._Nodes = None,
    *,
    until: say._UntilDay,
    reason: say._Reason,
    where: say._Where = None,
    force: editing.Force = False,
    solve: editing.Solve = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
    **said: editing.Texts,
) -> int:
    """Let something hold for some nodes until a day has passed."""
    from gitcfg.cli.edited import edit, wish
    from gitcfg.cli.ordered import ordered
    from gitcfg.edit.orders import Action, Order
    from gitcfg.edit.terms import TermEnd, begin_term, parse_last_day, parse_scope

    session: Session = context.obj
    source = session.open()
    order = ordered(Order(Action.NEW, "override", name), None, said)
    with source.worktree() as fleet:
        who = parse_scope(fleet.model, nodes or (), where)
    order = begin_term(order, who, TermEnd(parse_last_day(until), reason), source.today)
    return edit(session, [order], wish(force, commit, message, f"Add override {name}: {reason}", solve))
