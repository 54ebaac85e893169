"""What is decided, for eyes: what comes, goes and changes, or what cannot hold together."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from gitcfg.cli.session import Session
from gitcfg.cli.solving.folded import _fold_changes, _FoldedChange
from gitcfg.cli.trails import aligned, as_text, placed
from gitcfg.model import Origin
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.text import safe
from gitcfg.solve.fleet import Deed

if TYPE_CHECKING:
    from gitcfg.cli.solving.decision import Decision

_SIGNS = {Deed.ADD: ("+", "green"), Deed.REMOVE: ("-", "red"), Deed.CHANGE: ("~", "yellow")}


def print_decision(session: Session, decision: "Decision") -> None:
    """Write it: what changes to stdout, why nothing can be decided to stderr."""
    console = session.console(stderr=not decision.holds)
    for line in _format_changes(decision) if decision.holds else _format_conflict(decision):
        console.print(line)
    for line in _format_notes(decision):
        session.console(stderr=True).print(line)


def _format_notes(decision: "Decision") -> Iterator[Text]:
    """What whoever reads the changes alone would miss."""
    if decision.aside:
        named = safe(", ".join(decision.aside))
        yield Text(f"Left aside, as `gitcfg check` finds them wrong: {named}.", "yellow")
    elif decision.holds and not decision.changes:
        yield Text("Nothing is left to decide.")


def _format_changes(decision: "Decision") -> Iterator[Text]:
    rule = None
    for one in _fold_changes(decision.changes):
        if one.change.rule != rule:
            rule = one.change.rule
            yield Text(safe(rule), "bold")
        yield _format_change(one)


def _format_change(one: _FoldedChange) -> Text:
    change, slots = one.change, safe(abridged(one.slots, IN_JSON))
    sign, style = _SIGNS[change.deed]
    if one.to:
        return Text(f"  ~ {safe(change.what)} from {slots} to {safe(abridged(one.to, IN_JSON))}", "yellow")
    if not change.param:
        return Text(f"  {sign} {safe(change.what)} on {slots}", style)
    values = " -> ".join(as_text(value) for value in (change.old, change.new) if value is not None)
    return Text(f"  {sign} {safe(change.what)} = {values} on {slots}", style)


def _format_conflict(decision: "Decision") -> Iterator[Text]:
    failed = safe(decision.problem)
    yield Text(f"A rule cannot be asked: {failed}" if failed else "These cannot hold together:", "bold red")
    causes = [(Text(f"  {safe(one.text)}"), _format_origins(one.origins)) for one in decision.causes]
    yield from aligned(causes, widest=80)
    if decision.nodes:
        yield Text(f"  nodes: {safe(abridged(decision.nodes, IN_JSON))}")
    if decision.suggestion is not None:
        yield Text(f"hint: All else could be decided without this: {safe(decision.suggestion.text)}.", "cyan")


def _format_origins(origins: tuple[Origin, ...]) -> Text:
    return Text(" ").join(placed(origin) for origin in origins)
