"""Nodes that are offered commits, and what becomes of them: no clock, no network, no database."""

from collections.abc import Callable, Sequence

from gitcfg.rollout import Plan, Progress, Rollout, Seen, advanced

STEP = 60.0


class Fleet:
    """Nodes that check in every minute. `takes` says of a node whether it gets through with the commit."""

    def __init__(
        self, plan: Plan, progress: Progress, takes: Callable[[str], bool], away: Sequence[str] = ()
    ) -> None:
        self.rollout = Rollout(plan, progress)
        self.now = progress.since
        self.seen = {name: Seen(self.now, self.now - 3600) for name in plan.order if name not in away}
        self.touched: set[str] = set()
        self._takes = takes

    def minute(self) -> None:
        """Everybody asks what to run, tries it, and reports."""
        self.now += STEP
        for name, was in self.seen.items():
            if not self.rollout.reached(name):
                self.seen[name] = Seen(self.now, was.present)
                continue
            self.touched.add(name)
            good = self._takes(name)
            self.seen[name] = Seen(self.now, was.present, runs=good, failed=None if good else self.now)
        progress = advanced(self.rollout.plan, self.rollout.progress, self.seen.get, self.now)
        self.rollout = Rollout(self.rollout.plan, progress)

    def minutes(self, number: int) -> Progress:
        """Some time passes."""
        for _ in range(number):
            self.minute()
        return self.rollout.progress
