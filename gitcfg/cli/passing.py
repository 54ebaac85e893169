"""Rules that pass a node by, for eyes."""

from collections.abc import Iterator

from rich.text import Text

from gitcfg.cli.trails import as_text, place_text
from gitcfg.explain.why import Passing, Reason, Sight
from gitcfg.model.nodeset import IN_JSON, abridged
from gitcfg.model.text import safe


def passing_lines(found: Passing, feature: str) -> Iterator[Text]:
    """What keeps a rule from installing a feature, where it says so, and what its condition saw."""
    what = "it" if found.feature == feature else f"{found.feature}, which includes it,"
    yield Text(safe(f"    rule {found.rule} installs {what} {_reason(found)}"))
    yield Text("      at ", "blue") + place_text(found.at.origin)
    for saw in found.saw:
        yield from _saw(saw, found.at.name)


def _reason(found: Passing) -> str:
    where = " ".join(found.at.name.split())
    return {
        Reason.WHERE: f"only where {where}",
        Reason.FAILED: f"only where {where}, and that cannot be said: {found.problem}",
        Reason.OVER: f"for instances of {found.at.name}, and it has none",
        Reason.PLACED: f"where that is decided: on {abridged(found.slots, IN_JSON)}",
        Reason.OPEN: "where that is decided, and nothing is yet: run `gitcfg solve`",
        Reason.IDLE: "nowhere: `gitcfg check` says why",
    }[found.reason]


def _saw(saw: Sight, where: str) -> Iterator[Text]:
    """The terms of a condition with their values; not the one that is all of it: that does not hold."""
    who = f"{safe(abridged(saw.instances, IN_JSON))}: " if saw.instances else ""
    for term, value in saw.terms.items():
        if value is not False or term != where.strip():
            yield Text(f"      {who}{safe(term)} is ") + Text(as_text(value), "green")
