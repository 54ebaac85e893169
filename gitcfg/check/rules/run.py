"""Runs the checks of rules on a fleet that has some."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding

if TYPE_CHECKING:
    from gitcfg.compile.ruled.bringing import Bringing

_JUDGED = ("features", "groups", "nodes", "nodesets", "overrides", "rules", "allocations")
"""Where something of these was misread, it is not known what nodes have."""


def rules(fleet: Fleet) -> Iterator[Finding]:
    """What is wrong across nodes. Where nothing asks for it, it costs nothing."""
    model = fleet.model
    if model.allocations:
        from gitcfg.check.rules.leftover import pointless

        yield from pointless(model)
    known = not any(model.unread.get(kind) for kind in _JUDGED)
    if fleet.bringing is not None:
        yield from _ruled(fleet, fleet.bringing, known=known)
    if fleet.collecting is not None and known:
        from gitcfg.check.rules.collected import collected

        yield from collected(fleet.collecting)


def _ruled(fleet: Fleet, bringing: "Bringing", *, known: bool) -> Iterator[Finding]:
    """`known`: everything was read that says what nodes have."""
    from gitcfg.check.rules.attributes import attributes
    from gitcfg.check.rules.counts import counts
    from gitcfg.check.rules.domains import domains, misread
    from gitcfg.check.rules.failing import Failures, meaningless
    from gitcfg.check.rules.held import Holding
    from gitcfg.check.rules.invariants import invariants
    from gitcfg.check.rules.leftover import leftover
    from gitcfg.check.rules.looked import Looked
    from gitcfg.check.rules.unique import unique

    looked = Looked(fleet, bringing)
    holding = Holding(looked)
    yield from meaningless(looked)
    yield from misread(looked, holding)
    if not known:
        return
    failures = Failures(looked)
    yield from counts(looked)
    yield from leftover(looked, holding)
    yield from domains(looked, holding)
    yield from attributes(looked)
    yield from unique(looked, holding, failures)
    yield from invariants(looked, failures)
    yield from failures.findings()
