"""Check-ins (`gitcfg.checkin/1`) and deploy reports (`gitcfg.deploy-report/1`): parsing, and batches."""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from typing import Annotated, Any, Literal

import msgspec

from gitcfg.model import GitcfgError
from gitcfg.server.controller import Controller
from gitcfg.server.http import Problem
from gitcfg.server.signatures import SignedRequest
from gitcfg.state.records import Checkin, Deployed, Event, Result

CHECKIN, DEPLOY_REPORT = "gitcfg.checkin/1", "gitcfg.deploy-report/1"
MOST_BYTES = 64 * 1024
Commit = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{40}$")]
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Version = Annotated[str, msgspec.Meta(pattern="^[0-9A-Za-z.+_-]{0,64}$")]
Seconds = Annotated[float, msgspec.Meta(ge=-1e12, le=1e12)]
MOST_BYTES_DEPLOYED = 1024 * 1024
_MOST_NODES = 1000
Outcome = Annotated[str, msgspec.Meta(pattern="^[a-z][a-z-]{0,19}$")]


class Running(msgspec.Struct, frozen=True):
    """The commit and digest on the node, and since when."""

    commit: Commit | None = None
    digest: Digest | None = None
    since: Seconds | None = None


class CheckinResult(msgspec.Struct, frozen=True):
    """The result of the last installation."""

    commit: Commit
    outcome: Literal["ok", "unchanged", "refused", "reverted", "failed"]
    step: Annotated[str, msgspec.Meta(max_length=200)] | None = None
    output: Annotated[str, msgspec.Meta(max_length=32768)] | None = None
    seconds: Seconds | None = None


class Drift(msgspec.Struct, frozen=True):
    """A managed file that was changed on the node."""

    path: str
    kind: Literal["changed", "missing", "mode", "owner", "link"]
    diff: str = ""


class CheckinBody(msgspec.Struct, frozen=True):
    """The body of a check-in."""

    schema: Literal["gitcfg.checkin/1"]
    node: str
    running: Running | None = None
    result: CheckinResult | None = None
    drift: tuple[Drift, ...] = ()
    facts: dict[str, Any] = {}
    version: Version = ""
    clock_offset: Seconds = 0.0
    interval: Annotated[float, msgspec.Meta(ge=0, le=1e7)] = 0.0


def parse_checkin(body: bytes, signed: SignedRequest, now: float, address: str) -> Checkin:
    """Parse a check-in. Raise Problem if it is malformed, or from another node."""
    try:
        report = msgspec.json.decode(body, type=CheckinBody)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _malformed(CHECKIN, error) from None
    if report.node != signed.node:
        raise Problem("malformed", "The body names another node than the one that signed it.")
    running, result = report.running or Running(), None
    if (one := report.result) is not None:  # dated by this server's clock, because the node's may be wrong
        step, output = one.step or "", one.output or ""
        result = Result(one.commit, one.outcome, now, step, output, one.seconds or 0.0)
    return Checkin(
        report.node,
        now,
        signed.key,
        signed.nonce,
        running.commit,
        running.digest,
        running.since,
        result,
        tuple({"path": one.path, "kind": one.kind, "diff": one.diff} for one in report.drift),
        report.facts,
        report.version,
        report.clock_offset,
        report.interval,
        address,
    )


class DeployRun(msgspec.Struct, frozen=True):
    """A deploy; a report with a known id is a repetition."""

    id: Annotated[str, msgspec.Meta(pattern="^[0-9a-hj-km-np-tv-z]{10}$")]
    commit: Commit
    who: Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class DeployedNode(msgspec.Struct, frozen=True):
    """The result of a deploy on a node."""

    node: Annotated[str, msgspec.Meta(max_length=253)]
    outcome: Outcome
    at: Seconds
    step: Annotated[str, msgspec.Meta(max_length=200)] = ""
    output: Annotated[str, msgspec.Meta(max_length=32768)] = ""
    seconds: Annotated[float, msgspec.Meta(ge=0, le=1e7)] = 0.0
    commit: Commit | None = None
    digest: Digest | None = None
    agent: bool = False


class DeployReport(msgspec.Struct, frozen=True):
    """The body of a deploy report. `now` is the time by the sender's clock."""

    schema: Literal["gitcfg.deploy-report/1"]
    now: Seconds
    run: DeployRun
    nodes: Annotated[tuple[DeployedNode, ...], msgspec.Meta(max_length=_MOST_NODES)]


def parse_deploy_report(body: bytes) -> DeployReport:
    """Parse a deploy report. Raise Problem if it is malformed."""
    try:
        return msgspec.json.decode(body, type=DeployReport)
    except (msgspec.DecodeError, RecursionError) as error:
        raise _malformed(DEPLOY_REPORT, error) from None


def _malformed(schema: str, error: Exception) -> Problem:
    return Problem("malformed", f"The body is not a valid {schema} document: {str(error)[:200]}")


def collect_deploy_results(report: DeployReport, now: float) -> list[Deployed]:
    """Return results to store, dated by this server's clock, because the sender's may be wrong."""
    run, found = report.run, []
    for one in report.nodes:
        at = max(0.0, min(now, one.at + now - report.now))
        result = Result(run.commit, one.outcome, at, one.step, one.output, one.seconds, run.who, run.id)
        found.append(Deployed(one.node, result, one.commit, one.digest, one.agent))
    return found


# Batches of check-ins and events: one transaction for many.

PAUSE = 0.05
_MOST = 1000
_MOST_WAITING = 20_000

EVENT_PAUSE = 0.2
_MOST_EVENTS = 20_000


class CheckinWriter:
    """Writer of check-ins in batches, with 20 transactions a second.

    With 8,000 nodes every 30 s a batch has 13 check-ins.
    """

    def __init__(self, thread: Executor, record: Callable[[Sequence[Checkin]], tuple[bool, ...]]) -> None:
        self._thread = thread
        self._record = record
        self._waiting: list[tuple[Checkin, asyncio.Future[bool]]] = []
        self._task: asyncio.Task[None] | None = None

    async def write(self, checkin: Checkin) -> bool:
        """Write a check-in; return False if it is a replay. Raise GitcfgError if the database fails."""
        if len(self._waiting) >= _MOST_WAITING:
            raise Problem(
                "unavailable", "Too many check-ins are waiting to be written.", {"Retry-After": "5"}
            )
        future: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._waiting.append((checkin, future))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())
        return await future

    async def _run(self) -> None:
        loop = asyncio.get_running_loop()
        while self._waiting:
            await asyncio.sleep(PAUSE)
            batch, self._waiting = self._waiting[:_MOST], self._waiting[_MOST:]
            written = loop.run_in_executor(self._thread, self._record, [checkin for checkin, _ in batch])
            (found,) = await asyncio.gather(written, return_exceptions=True)
            for place, (_, future) in enumerate(batch):
                if future.done():  # the request was cancelled
                    continue
                if isinstance(found, BaseException):
                    future.set_exception(found)
                else:
                    future.set_result(found[place])


class EventWriter:
    """Writer of events in batches. What exceeds a batch's limit is dropped: the inventory has all of it."""

    def __init__(self, controller: Controller) -> None:
        self._controller = controller
        self._waiting: list[Event] = []
        self._task: asyncio.Task[None] | None = None

    def add(self, at: float, kind: str, data: Mapping[str, Any], node: str = "") -> None:
        """Queue an event."""
        if len(self._waiting) < _MOST_EVENTS:
            self._waiting.append(Event(0, at, kind, node, data))
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def _run(self) -> None:
        while self._waiting:
            await asyncio.sleep(EVENT_PAUSE)
            events, self._waiting = self._waiting, []
            try:
                await self._controller.with_state(lambda state: state.events.extend(events))  # noqa: B023
            except GitcfgError as error:
                self._controller.log.error("events are lost", extra={"fields": {"error": error.message}})
            self._controller.wake()
