"""Runs the checks of rules on a fleet that has some."""

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from gitcfg.check.rules.ledger import Ledger
from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding

if TYPE_CHECKING:
    from gitcfg.check.rules.judged import Judged

_JUDGED = ("features", "groups", "nodes", "nodesets", "overrides", "rules", "allocations")
"""Where something of these was misread, it is not known what nodes have."""


class Ruling:
    """What is wrong across nodes. Where nothing asks for it, it costs nothing."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._judged: Judged | None = None

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All of them."""
        return tuple(self._found())

    def ledger(self) -> Ledger | None:
        """What the next check may take over; None: nothing, for something is wrong."""
        if self.findings:
            return None
        return Ledger() if self._judged is None else self._judged.kept()

    def _found(self) -> Iterator[Finding]:
        fleet, model = self._fleet, self._fleet.model
        if model.allocations:
            from gitcfg.check.rules.leftover import pointless

            yield from pointless(model)
        known = not any(model.unread.get(kind) for kind in _JUDGED)
        if fleet.bringing is not None:
            from gitcfg.check.rules.judged import Judged

            self._judged = Judged(fleet, fleet.bringing)
            yield from self._judged.of_rules()
            yield from self._judged.of_nodes() if known else ()
        if fleet.collecting is not None and known:
            from gitcfg.check.rules.collected import collected

            yield from collected(fleet.collecting)
