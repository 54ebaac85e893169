"""Reports of deploys: runs as a server receives them, and as an inventory has them."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.deploy.messages import Hello
from gitcfg.deploy.outcomes import EndReason
from gitcfg.deploy.records import (
    NodeDone,
    Run,
    RunRecord,
    append_line,
    list_ids,
    read_file,
    read_run,
    run_file,
)
from gitcfg.install import outcome as installed
from gitcfg.model import GitcfgError
from gitcfg.model.names import HOST
from gitcfg.state.records import Deployed, NodeState, Result

_UNTRIED = ("skipped", "differs")
_AT_ONCE, _MOST_BYTES = 500, 512 * 1024
"""The limits of one request: a server accepts 1,000 nodes and 1 MiB."""
_MOST_WHO, _MOST_STEP, _MOST_SECONDS = 200, 200, 1e7


def list_deployed(record: RunRecord) -> tuple[Deployed, ...]:
    """Return what a run did to nodes, in the order in which they finished."""
    return tuple(_make_deployed(record.run, done) for done in record.done.values() if _was_tried(done))


def _was_tried(done: NodeDone) -> bool:
    """Return whether the deploy tried to change the node: not if a hold or an agent prevented it."""
    spared = done.outcome == "refused" and not done.step
    return not spared and done.outcome not in _UNTRIED and HOST.fullmatch(done.node) is not None


def _make_deployed(run: Run, done: NodeDone) -> Deployed:
    seconds = min(max(done.seconds, 0.0), _MOST_SECONDS)
    who = run.who[:_MOST_WHO] or "somebody"
    result = Result(
        run.commit, done.outcome, done.at, done.step[:_MOST_STEP], done.output, seconds, who, run.id
    )
    return Deployed(done.node, result, done.commit, done.digest, bool(done.agent))


def build_reports(record: RunRecord, now: float) -> Iterator[bytes]:
    """Yield the report of a run to a server (`gitcfg.deploy-report/1`), in as many parts as needed."""
    nodes: list[bytes] = []
    size = 0
    for one in list_deployed(record):
        node = msgspec.json.encode(_deployed_to_json(one))
        if nodes and (len(nodes) == _AT_ONCE or size + len(node) > _MOST_BYTES):
            yield _encode_report(record.run, now, nodes)
            nodes, size = [], 0
        nodes.append(node)
        size += len(node)
    if nodes:
        yield _encode_report(record.run, now, nodes)


def _encode_report(run: Run, now: float, nodes: list[bytes]) -> bytes:
    report = {
        "schema": "gitcfg.deploy-report/1",
        "now": now,
        "run": {"id": run.id, "commit": run.commit, "who": run.who[:_MOST_WHO] or "somebody"},
        "nodes": [msgspec.Raw(line) for line in nodes],
    }
    return msgspec.json.encode(report)


def _deployed_to_json(one: Deployed) -> dict[str, Any]:
    result = one.result
    return {
        "node": one.node,
        **{name: getattr(result, name) for name in ("outcome", "at", "step", "output", "seconds")},
        **{name: getattr(one, name) for name in ("commit", "digest", "agent")},
    }


def find_states(runs: Iterable[RunRecord]) -> list[NodeState]:
    """Return the nodes on which anything was ever installed, in order of name, as in a database.

    The runs must be in the order in which they began.
    """
    found: dict[str, NodeState] = {}
    for one in (each for record in runs for each in list_deployed(record) if each.installed):
        before = found.get(one.node)
        if before is None or before.last <= one.result.at:
            found[one.node] = update_state(before, one)
    return [found[name] for name in sorted(found)]


def update_state(before: NodeState | None, deployed: Deployed) -> NodeState:
    """Return the state of a node without an agent after a deploy; unreported values stay."""
    at, result = deployed.result.at, deployed.result
    node = before or NodeState(deployed.node, at, at, at)
    if deployed.commit is not None:
        same = (node.commit, node.digest) == (deployed.commit, deployed.digest) and node.since is not None
        node = replace(node, commit=deployed.commit, digest=deployed.digest, since=node.since if same else at)
    if result.failed:
        node = replace(node, failed_commit=result.commit, failed_at=at)
    return replace(node, last=at, result=result, via=result.by, deployed=at)


def count_outcomes(record: RunRecord) -> Mapping[str, int]:
    """Count the nodes by outcome, the most frequent first."""
    counts = Counter(find_outcome(record, name) for name in record.run.nodes)
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def find_outcome(record: RunRecord, name: str) -> str:
    """Return the outcome of a node, even if the record has none.

    In a run that was broken off, or had a fault, it is unknown: the node may have been running.
    """
    done = record.done.get(name)
    if done is not None:
        return done.outcome
    if record.end is not None and record.end.how != EndReason.FAULT:
        return "skipped"
    return "waiting" if record.going else "unknown"


# Nodes whose result a deploy did not receive: the next deploy does, and completes the record.

_UNHEARD = ("lost", "timeout")
_MARKS = tuple(f'"outcome":"{word}"'.encode() for word in _UNHEARD)
_CAME_TO = (*_UNHEARD, "ok", "unchanged", "reverted", "failed", "full", "busy")
"""The outcomes after which the node may have been changed, by this deploy or by another."""
_TAKEN_BACK = "The installation was interrupted; the next deploy rolls it back."


class LateOutcomes:
    """A listener that completes the records of earlier runs with what nodes report in the next deploy."""

    def __init__(self, folder: Path, names: Iterable[str], clock: Callable[[], float]) -> None:
        self._folder, self._names, self._clock = folder, frozenset(names), clock

    def heard(self, node: str, hello: Hello, dry: bool) -> None:
        """Record the result of a node if it was unknown. On an error, only this run records it."""
        with contextlib.suppress(OSError, GitcfgError):
            if node in self._unheard:
                run, lost = self._unheard[node]
                done = find_late_outcome(run, lost, hello, dry)
                if done is not None:
                    append_line(self._folder, run.id, replace(done, at=self._clock()))

    @cached_property
    def _unheard(self) -> dict[str, tuple[Run, NodeDone]]:
        """The last run, by node, that may have changed the node, if its result was not received."""
        left, found = set(self._names), dict[str, tuple[Run, NodeDone]]()
        for record in _read_until_complete(self._folder):
            for name in left & record.done.keys():
                done = record.done[name]
                if done.outcome in _CAME_TO or done.step:
                    left.discard(name)
                    if done.outcome in _UNHEARD and done.commit is None and not record.going:
                        found[name] = (record.run, done)
        return found


def _read_until_complete(folder: Path) -> Iterator[RunRecord]:
    """Yield runs, newest first, down to the oldest that lacks a node's result; usually there are none."""
    known = list_ids(folder)
    oldest = -1
    for number, run in enumerate(known):
        with contextlib.suppress(OSError, ValueError):
            raw, _ = read_file(run_file(folder, run))
            if any(mark in raw for mark in _MARKS):
                oldest = number
    records = (read_run(folder, run).record for run in known[: oldest + 1])
    return (record for record in records if record is not None)


def find_late_outcome(run: Run, lost: NodeDone, hello: Hello, dry: bool) -> NodeDone | None:
    """Return the outcome of a node by its report; None if that is of another run, or not final."""
    if hello.busy or hello.problem:
        return None
    report = hello.report
    if hello.interrupted:
        if dry:
            return None
        report = installed.Outcome(installed.OK, run.commit, "")
        if hello.commit != run.commit:
            report = report._replace(result=installed.REVERTED, step="interrupted", output=_TAKEN_BACK)
    if report is None or report.commit != run.commit:
        return None
    known = report.result != installed.FAILED
    said = f"Its end was unknown at first ({lost.outcome}); the next deploy reported: {report.result}."
    return NodeDone(
        lost.node,
        report.result,
        report.step,
        "\n".join(filter(None, (said, report.output))),
        lost.seconds,
        len(report.changed) + len(report.removed),
        hello.commit if known else None,
        hello.digest if known else None,
        lost.agent,
    )
