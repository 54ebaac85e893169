"""The tables of runs as a person would play them with cards: one event at a time, nothing clever.

Written from the rules, not from the program: nodes are dictionaries, and every rule is a sentence of its own.
"""

import math
from typing import Any

from gitcfg.runs.jobs import Command, Event, Job, NodeEvent

LIVE = ("new", "voting", "running", "halted")
OPEN = ("blocked", "new", "ready", "running", "away")


class Naive:
    """A job as dictionaries."""

    def __init__(self, job: Job) -> None:
        self.limits = job.limits
        self.status = "new"
        self.batch = 0
        self.forgiven = 0
        self.deadline = self.vote_ends = math.inf
        self.nodes: dict[str, dict[str, Any]] = {
            name: {"is": visit.status, "batch": visit.batch, "sent": None, "abort": None, "back": None}
            for name, visit in job.visits.items()
        }

    def having(self, *statuses: str) -> list[dict[str, Any]]:
        return [node for node in self.nodes.values() if node["is"] in statuses]

    @property
    def under_way(self) -> list[dict[str, Any]]:
        return [node for node in self.having("ready", "running", "away") if node["sent"] is not None]

    def hear(self, event: Event, now: float) -> None:
        if isinstance(event, NodeEvent):
            if event.node in self.nodes and self.nodes[event.node]["is"] in OPEN:
                self.happen(self.nodes[event.node], event.signal.value, now)
        elif self.status in LIVE:
            self.obey(event, now)

    def obey(self, command: Command, now: float) -> None:
        if command is Command.STORED and self.status == "new":
            self.deadline = now + self.limits.timeout
            self.offer(0, now)
        elif command is Command.ABORT:
            self.status = "aborted"
            for node in self.having(*OPEN):
                self.happen(node, "abort", now)
        elif command is Command.ABORT_SOFT:
            for node in self.having("blocked", "new", "ready"):
                if node["sent"] is None:
                    self.happen(node, "abort", now)
        elif command is Command.RESUME and self.status == "halted":
            self.status = "running"
            self.forgiven = len(self.having("failed", "crashed", "timed_out"))
        elif command is Command.ORPHAN:
            self.status = "crashed"
            for node in self.having(*OPEN):
                ends = {"blocked": "not_started", "new": "unavailable", "ready": "was_ready"}
                node["is"] = "crashed" if node["sent"] is not None else ends[node["is"]]

    def offer(self, batch: int, now: float) -> None:
        self.status, self.batch = "voting", batch
        self.vote_ends = now + self.limits.vote_timeout
        for node in self.having("blocked"):
            if node["batch"] == batch:
                node["is"] = "new"

    def happen(self, node: dict[str, Any], what: str, now: float) -> None:
        """Something happens to a node that has not ended."""
        if what == "abort" and node["sent"] is not None:
            if node["abort"] is None:
                node["abort"] = now + max(30.0, 4 * self.limits.interval)
        elif what == "abort":
            node["is"] = "not_started"
        elif node["is"] == "blocked":
            return
        elif node["is"] == "new":
            node["is"] = {"ack": "ready", "nack": "nacked", "aborted": "new"}.get(what, "unavailable")
        elif node["is"] == "ready" and node["sent"] is None and self.status == "voting":
            node["is"] = "ready" if what in ("ack", "aborted") else "unavailable"
        elif node["is"] == "ready" and node["sent"] is None:
            node["is"] = {"ack": "ready", "aborted": "ready", "nack": "failed"}.get(what, "crashed")
        elif node["is"] == "ready":
            known = {"ack": "ready", "aborted": "aborted", "nack": "failed", "started": "running"}
            node["is"] = known.get(what, "crashed")
        elif self.limits.back_within is None:
            known = {"started": "running", "succeeded": "succeeded", "failed": "failed", "nack": "failed"}
            node["is"] = (known | {"aborted": "aborted"}).get(what, "crashed")
        else:
            self.happen_where_it_restarts(node, what, now)

    def happen_where_it_restarts(self, node: dict[str, Any], what: str, now: float) -> None:
        if what in ("succeeded", "down"):
            if node["is"] == "running":
                node["back"] = now + (self.limits.back_within or 0.0)
            node["is"] = "away"
        elif what == "started" and node["is"] == "running":
            return
        else:
            known = {"reborn": "succeeded", "failed": "failed", "nack": "failed", "aborted": "aborted"}
            node["is"] = known.get(what, "crashed")

    def pass_time(self, now: float) -> None:
        for node in self.under_way:
            if node["abort"] is not None and node["abort"] <= now:
                node["is"] = "aborted"
            elif node["abort"] is None and node["is"] == "away" and node["back"] <= now:
                node["is"] = "crashed"
        if self.status in LIVE and self.deadline <= now:
            self.status = "timed_out"
            for node in self.having(*OPEN):
                node["is"] = "not_started" if node["is"] in ("blocked", "new") else "timed_out"
        while self.move(now):
            pass

    def move(self, now: float) -> bool:
        """Do the next thing that a driver would do, if there is one."""
        if self.status == "voting":
            return self.count(now)
        return self.status in ("running", "halted") and self.run(now)

    def count(self, now: float) -> bool:
        here = [node for node in self.nodes.values() if node["batch"] == self.batch]
        if now >= self.vote_ends:
            for node in self.having("new"):
                node["is"] = "unavailable"
        if any(node["is"] == "new" for node in here):
            return False
        ready = [node for node in here if node["is"] == "ready"]
        self.status = "running"
        if len(ready) < self.limits.quorum.of(len(here)):
            self.status = "quorum_failed"
            for node in self.having("ready", "blocked"):
                node["is"] = "was_ready" if node["is"] == "ready" else "not_started"
        return True

    def run(self, now: float) -> bool:
        waiting = [node for node in self.having("ready") if node["sent"] is None]
        blocked = self.having("blocked")
        failures = len(self.having("failed", "crashed", "timed_out")) - self.forgiven
        if not waiting and not self.under_way and not blocked:
            self.status = "complete"
            return True
        if self.status == "halted":
            return False
        if self.limits.max_failures is not None and failures > self.limits.max_failures and waiting + blocked:
            self.status = "halted"
            return True
        for node in waiting:
            if self.has_room(now):
                node["sent"] = now
                return True
        if not waiting and not self.under_way:
            self.offer(min(node["batch"] for node in blocked), now)
            return True
        return False

    def has_room(self, now: float) -> bool:
        sent = [node["sent"] for node in self.nodes.values() if node["sent"] is not None]
        recent = sum(time > now - 60 for time in sent)
        full = self.limits.in_flight is not None and len(self.under_way) >= self.limits.in_flight
        return not full and (self.limits.per_minute is None or recent < self.limits.per_minute)
