"""Runs the checks of rules on a fleet that has some."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding

_JUDGED = ("features", "groups", "nodes", "nodesets", "overrides", "rules", "allocations")
"""Where something of these was misread, it is not known what nodes have."""


def rules(fleet: Fleet) -> Iterator[Finding]:
    """GC4xx, and GC206 about domains. Without rules and allocations it costs nothing."""
    model = fleet.model
    if model.allocations:
        from gitcfg.check.rules.leftover import pointless

        yield from pointless(model)
    if fleet.bringing is None:
        return
    from gitcfg.check.rules.counts import counts
    from gitcfg.check.rules.domains import domains, misread
    from gitcfg.check.rules.failing import Failures, meaningless
    from gitcfg.check.rules.held import Holding
    from gitcfg.check.rules.invariants import invariants
    from gitcfg.check.rules.leftover import leftover
    from gitcfg.check.rules.looked import Looked
    from gitcfg.check.rules.unique import unique

    looked = Looked(fleet, fleet.bringing)
    holding = Holding(looked)
    yield from meaningless(looked)
    yield from misread(looked, holding)
    if any(model.unread.get(kind) for kind in _JUDGED):
        return
    failures = Failures(looked)
    yield from counts(looked)
    yield from leftover(looked, holding)
    yield from domains(looked, holding)
    yield from unique(looked, holding, failures)
    yield from invariants(looked, failures)
    yield from failures.findings()
