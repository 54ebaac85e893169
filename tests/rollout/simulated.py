"""Nodes that are offered commits, and what becomes of them: no clock, no network, no database."""

from collections.abc import Callable, Sequence

from msgspec.structs import replace

from gitcfg.rollout import Plan, Presence, Progress, Rollout, advance, fill_stage, resume

STEP = 60.0


class Fleet:
    """Nodes that check in every minute. `takes` says of a node whether it gets through with the commit."""

    def __init__(
        self, plan: Plan, progress: Progress, takes: Callable[[str], bool], away: Sequence[str] = ()
    ) -> None:
        self.now = progress.since
        self.seen = {name: Presence(self.now, self.now - 3600) for name in plan.order if name not in away}
        self.rollout = Rollout(fill_stage(plan, 0, self.seen.get, self.now), progress)
        self.touched: set[str] = set()
        self.touched_before_well: set[str] = set()
        self.well = 0
        self._takes = takes

    def minute(self) -> None:
        """Everybody asks what to run, tries it, and reports."""
        self.now += STEP
        for name, was in self.seen.items():
            if not self.rollout.reached(name):
                self.seen[name] = Presence(self.now, was.present)
                continue
            self.touched.add(name)
            if was.runs or (was.failed is not None and was.failed >= self.rollout.progress.forgiven):
                self.seen[name] = replace(was, last=self.now)
                continue
            good = self._takes(name)
            self.well += good
            self.touched_before_well |= set() if self.well else {name}
            self.seen[name] = Presence(self.now, was.present, runs=good, failed=None if good else self.now)
        self.rollout = Rollout(*advance(self.rollout.plan, self.rollout.progress, self.seen.get, self.now))

    def comes(self, name: str) -> None:
        """A node that was away is there."""
        self.seen[name] = Presence(self.now, self.now)

    def resume(self) -> None:
        """Somebody lets it go on."""
        self.rollout = Rollout(self.rollout.plan, resume(self.rollout.progress, self.now))

    def minutes(self, number: int) -> Progress:
        """Some time passes."""
        for _ in range(number):
            self.minute()
        return self.rollout.progress
