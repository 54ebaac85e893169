"""Runs the checks of rules on a fleet that has some."""

from collections.abc import Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding

_JUDGED = ("features", "groups", "nodes", "nodesets", "overrides", "rules", "allocations")
"""Where something of these was misread, it is not known what nodes have."""


def rules(fleet: Fleet) -> Iterator[Finding]:
    """GC4xx, and GC206 about domains. Without rules and allocations it costs nothing."""
    model = fleet.model
    if fleet.bringing is None:
        return
    from gitcfg.check.rules.counts import counts
    from gitcfg.check.rules.failing import Failures, meaningless
    from gitcfg.check.rules.invariants import invariants
    from gitcfg.check.rules.looked import Looked

    looked = Looked(fleet, fleet.bringing)
    yield from meaningless(looked)
    if any(model.unread.get(kind) for kind in _JUDGED):
        return
    failures = Failures(looked)
    yield from counts(looked)
    yield from invariants(looked, failures)
    yield from failures.findings()
