"""What is decided, for eyes: what comes, goes and changes, or what cannot hold together."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from rich.text import Text

from gitcfg.cli.plain import safe
from gitcfg.cli.session import Session
from gitcfg.cli.solving.folded import Folded, folded
from gitcfg.cli.trails import aligned, as_text, placed
from gitcfg.model import Origin
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.solve.fleet import Deed

if TYPE_CHECKING:
    from gitcfg.cli.solving.decision import Decision

_SIGNS = {Deed.ADD: ("+", "green"), Deed.REMOVE: ("-", "red"), Deed.CHANGE: ("~", "yellow")}


def show(session: Session, decision: "Decision") -> None:
    """Write it: what changes to stdout, why nothing can be decided to stderr."""
    console = session.console(stderr=not decision.holds)
    for line in _changes(decision) if decision.holds else _conflict(decision):
        console.print(line)
    for line in _besides(decision):
        session.console(stderr=True).print(line)


def _besides(decision: "Decision") -> Iterator[Text]:
    """What whoever reads the changes alone would miss."""
    if decision.aside:
        named = safe(", ".join(decision.aside))
        yield Text(f"Left aside, as `gitcfg check` finds them wrong: {named}.", "yellow")
    elif decision.holds and not decision.changes:
        yield Text("Nothing is left to decide.")


def _changes(decision: "Decision") -> Iterator[Text]:
    rule = None
    for one in folded(decision.changes):
        if one.change.rule != rule:
            rule = one.change.rule
            yield Text(safe(rule), "bold")
        yield _change(one)


def _change(one: Folded) -> Text:
    change, slots = one.change, safe(abridged(one.slots, IN_JSON))
    sign, style = _SIGNS[change.deed]
    if one.to:
        return Text(f"  ~ {safe(change.what)} from {slots} to {safe(abridged(one.to, IN_JSON))}", "yellow")
    if not change.param:
        return Text(f"  {sign} {safe(change.what)} on {slots}", style)
    values = " -> ".join(as_text(value) for value in (change.old, change.new) if value is not None)
    return Text(f"  {sign} {safe(change.what)} = {values} on {slots}", style)


def _conflict(decision: "Decision") -> Iterator[Text]:
    failed = safe(decision.problem)
    yield Text(f"A rule cannot be asked: {failed}" if failed else "These cannot hold together:", "bold red")
    causes = [(Text(f"  {safe(one.text)}"), _places(one.origins)) for one in decision.causes]
    yield from aligned(causes, widest=80)
    if decision.nodes:
        yield Text(f"  nodes: {safe(abridged(decision.nodes, IN_JSON))}")
    if decision.suggestion is not None:
        yield Text(f"hint: All else could be decided without this: {safe(decision.suggestion.text)}.", "cyan")


def _places(origins: tuple[Origin, ...]) -> Text:
    return Text(" ").join(placed(origin) for origin in origins)
