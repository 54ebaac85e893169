"""Runs the checks of rules on a fleet that has some."""

from collections.abc import Iterator, Set
from functools import cached_property
from itertools import chain

from gitcfg.check.rules.base import Holding, RuledFleet
from gitcfg.check.rules.conditions import Failures, invariants, meaningless
from gitcfg.check.rules.counts import counts, leftover, pointless, unique
from gitcfg.check.rules.ledger import Ledger, hold, kept
from gitcfg.check.rules.values import attributes, domains, misread
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.rules.placement import RuleEngine
from gitcfg.model import Finding

_JUDGED = ("features", "groups", "nodes", "nodesets", "overrides", "rules", "allocations")
"""Where something of these was misread, it is not known what nodes have."""


class Ruling:
    """What is wrong with rules. Where nothing asks for it, it costs nothing."""

    def __init__(self, fleet: Fleet, names: Set[str] | None = None) -> None:
        """`names` are the nodes of a fleet that has not all: only what concerns each of them is found."""
        self._fleet = fleet
        self._names = names
        self._judged: Judged | None = None

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All of them."""
        return tuple(self._found())

    def ledger(self) -> Ledger | None:
        """Return what the next check may take over; None: nothing, for something is wrong."""
        if self.findings:
            return None
        return Ledger() if self._judged is None else self._judged.kept()

    def _found(self) -> Iterator[Finding]:
        fleet, model = self._fleet, self._fleet.model
        if model.allocations:
            from gitcfg.check.rules.counts import pointless

            yield from pointless(model)
        known = not any(model.unread.get(kind) for kind in _JUDGED)
        if fleet.rule_engine is not None:
            self._judged = judged = Judged(fleet, fleet.rule_engine, self._names)
            yield from judged.of_rules()
            if known:
                yield from judged.of_nodes() if self._names is None else judged.of_each()
        if fleet.collecting is not None and known:
            from gitcfg.check.rules.values import collected

            yield from collected(fleet.collecting)


# Judges the rules of a fleet: by themselves, on all nodes together, and on each node alone.


class Judged:
    """A fleet, all of it or the nodes `names`, and what its rules find there."""

    def __init__(self, fleet: Fleet, rule_engine: RuleEngine, names: Set[str] | None = None) -> None:
        self._ruled = RuledFleet(fleet, rule_engine, names)
        self._holding = Holding(self._ruled)
        self._failures = Failures(self._ruled)

    def of_rules(self) -> Iterator[Finding]:
        """Yield what is wrong with rules whatever nodes there are."""
        yield from meaningless(self._ruled)
        yield from misread(self._ruled, self._holding)

    def of_nodes(self) -> Iterator[Finding]:
        """Yield what is wrong with nodes together, and one by one."""
        yield from counts(self._ruled)
        yield from unique(self._ruled, self._holding, self._failures)
        yield from self.of_each()

    def of_each(self) -> Iterator[Finding]:
        """Yield what is wrong with single nodes, and with expressions evaluated on them."""
        yield from leftover(self._ruled, self._holding)
        yield from domains(self._ruled, self._holding)
        yield from attributes(self._ruled)
        yield from invariants(self._ruled, self._failures)
        yield from self._failures.findings()

    def kept(self) -> Ledger:
        """Return what rules saw that look at many nodes at once."""
        return kept(self._ruled, self._holding, self._failures)

    def hold(self, ledger: Ledger) -> bool:
        """Return whether those rules hold for what they counted."""
        return hold(self._ruled, self._holding, ledger)


def still(before: Ledger, fleet: Fleet, rule_engine: RuleEngine, names: Set[str]) -> Ledger | None:
    """Return what is kept after a change of some nodes, which are all that the fleet holds.

    None: rules may not hold any more, which only a look at all nodes can say, and show.
    """
    judged = Judged(fleet, rule_engine, names)
    if any(True for _ in chain(pointless(fleet.model), judged.of_rules())):
        return None  # what features say now may make rules wait for themselves
    ledger = judged.kept()
    if not before.matches(ledger) or any(
        not names.isdisjoint(nodes) for nodes in (*before.whole.values(), *ledger.whole.values())
    ):
        return None
    if any(True for _ in judged.of_each()):
        return None
    after = before.followed(ledger, names)
    return after if judged.hold(after) else None
