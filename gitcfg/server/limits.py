"""Rate limits: a faulty node must not slow down the others."""

from collections import OrderedDict

from gitcfg.server.problems import Problem

BURST = 120.0
PER_SECOND = 2.0
_MOST = 100_000


class RateLimiter:
    """A token bucket for each node that has asked lately. Only authenticated nodes get one."""

    def __init__(self, burst: float = BURST, a_second: float = PER_SECOND) -> None:
        self._burst, self._a_second = burst, a_second
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def count(self, node: str, now: float) -> None:
        """Count a request. Raise Problem if there are too many."""
        left, at = self._left.pop(node, (self._burst, now))
        left = min(self._burst, left + max(0.0, now - at) * self._a_second)
        self._left[node] = (max(0.0, left - 1.0), now)
        while len(self._left) > _MOST:
            self._left.popitem(last=False)
        if left < 1.0:
            raise Problem("too-many", headers={"Retry-After": "5"})
