"""What simulated agents write down: how long answers took, which counted, who was told of what."""

import base64
import time
from collections import Counter
from collections.abc import Sequence

import msgspec

from bench.agents.wire import Reply
from gitcfg.agent.keys import Answer, Request, verify


class Spread(msgspec.Struct, frozen=True):
    """How long so many answers took, in seconds: the middle, the slow ones, the slowest."""

    count: int
    p50: float
    p95: float
    p99: float
    most: float


def spread(seconds: Sequence[float]) -> Spread:
    """The percentiles of some times; of none all are nothing."""
    if not seconds:
        return Spread(0, 0.0, 0.0, 0.0, 0.0)
    ordered = sorted(seconds)
    p50, p95, p99 = (ordered[min(len(ordered) - 1, int(len(ordered) * part))] for part in (0.5, 0.95, 0.99))
    return Spread(len(ordered), p50, p95, p99, ordered[-1])


class Sheet:
    """`every`: of so many answers one is verified as an agent does it. `key` is the server's."""

    def __init__(self, key: str, every: int) -> None:
        self._key = base64.b64decode(key.removeprefix("ed25519:"))
        self._every = every
        self._seen = 0
        self.measuring = False
        self.times: dict[str, list[float]] = {"check-in": [], "poll": []}
        self.wrong: Counter[str] = Counter()
        self.kept: Counter[str] = Counter()
        self.last: dict[str, int | None] = {}
        self.verified = 0
        self.told: dict[str, list[float]] = {}

    def begin(self) -> None:
        """Measure from now on."""
        self.measuring = True
        self.times = {kind: [] for kind in self.times}

    def answered(self, kind: str, request: Request, reply: Reply, seconds: float | None) -> bool:
        """Write an answer down; False: it is none that counts. None: it came when there was news."""
        if self.measuring and seconds is not None:
            self.times.setdefault(kind, []).append(seconds)
        self._seen += 1
        if reply.status not in (200, 304):
            self.wrong[f"{kind}: {reply.status}"] += 1
            return False
        if self._seen % self._every == 0:
            verify(Answer(reply.status, reply.headers, reply.body), request, (self._key,))
            self.verified += 1
        return True

    def checked_in(self, node: str, number: int | None) -> None:
        """The server has said that it keeps this check-in: it must be found afterwards.

        None: it has not answered. From then on nobody knows which of the node's check-ins it had last.
        """
        self.kept[node] += number is not None
        self.last[node] = number if self.last.get(node, 0) is not None else None

    def heard(self, commit: str) -> None:
        """One more node was told of a commit."""
        self.told.setdefault(commit, []).append(time.monotonic())
