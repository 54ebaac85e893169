"""Visits: one contact with one node in one run, and the table of what each event makes of it."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec


class Outcome(StrEnum):
    """How a visit ended. Nothing changes it any more."""

    NACKED = "nacked"
    UNAVAILABLE = "unavailable"
    DENIED = "denied"
    NOT_STARTED = "not_started"
    WAS_READY = "was_ready"
    CRASHED = "crashed"
    FAILED = "failed"
    SUCCEEDED = "succeeded"
    TIMED_OUT = "timed_out"
    ABORTED = "aborted"


FAILURES = frozenset((Outcome.FAILED, Outcome.CRASHED, Outcome.TIMED_OUT))
"""What counts against the most failures that a run may have: an answer to the vote does not."""


class State(StrEnum):
    """The state of a visit that is open. The rows of the table: some look alike from outside."""

    BLOCKED = "blocked"  # its batch has not begun
    OFFERED = "offered"
    VOTED = "voted"  # ready, and the vote goes on
    READY = "ready"  # ready, and the run is running
    STARTING = "starting"  # ready, and "start" was sent
    RUNNING = "running"
    RESTARTING = "restarting"  # running a command that may restart the node
    AWAY = "away"


_SHOWN: Mapping[State | Outcome, str] = {
    State.OFFERED: "new",
    State.VOTED: "ready",
    State.STARTING: "ready",
    State.RESTARTING: "running",
}


class Signal(StrEnum):
    """What happens to a visit."""

    # Messages of the node.
    ACK = "ack"
    NACK = "nack"  # not now, or not here; after the vote it refuses the start
    STARTED = "started"
    SUCCEEDED = "succeeded"  # exit 0
    FAILED = "failed"  # any other exit, or it took longer than the node's time
    ABORTED = "aborted"  # the abort is acknowledged
    ODD = "odd"  # any message that does not fit
    # What the server sees of the node.
    DOWN = "down"
    UNREACHABLE = "unreachable"  # so that it was never offered anything
    REBORN = "reborn"  # a new incarnation of its agent
    # What time does.
    VOTE_ENDED = "vote_ended"
    DEADLINE = "deadline"  # of the run
    LATE = "late"  # it is away for too long
    # What the run does.
    OFFER = "offer"
    DENY = "deny"
    GO = "go"  # the quorum is met
    MISS = "miss"  # the quorum is missed
    START = "start"
    ABORT = "abort"
    CLOSE = "close"  # the run is over
    ORPHAN = "orphan"  # the server that drove the run is gone


MESSAGES = frozenset(
    (Signal.ACK, Signal.NACK, Signal.STARTED, Signal.SUCCEEDED, Signal.FAILED, Signal.ABORTED, Signal.ODD)
)


class Next(NamedTuple):
    """What comes of an event: another state or the outcome, and whether the node is told to end.

    `rehab`: until it acknowledges that. `withdraw`: once, for what it does not do yet.
    """

    to: State | Outcome
    rehab: bool = False
    withdraw: bool = False


def _ends(status: Outcome, *signals: Signal, rehab: bool = False, withdraw: bool = False) -> "_Row":
    return {signal: Next(status, rehab, withdraw) for signal in signals}


def _stays(state: State, *signals: Signal) -> "_Row":
    return {signal: Next(state) for signal in signals}


_Row = Mapping[Signal, Next]
_S, _V = Signal, Outcome

_UNDERWAY: _Row = {
    **_ends(_V.CRASHED, _S.ODD, _S.ACK, _S.DOWN, _S.REBORN, _S.ORPHAN, rehab=True),
    **_ends(_V.FAILED, _S.NACK, rehab=True),
    **_ends(_V.FAILED, _S.FAILED),
    **_ends(_V.SUCCEEDED, _S.SUCCEEDED),
    **_ends(_V.TIMED_OUT, _S.DEADLINE, rehab=True),
    **_ends(_V.ABORTED, _S.ABORTED),
}

TABLE: Mapping[State, _Row] = {
    State.BLOCKED: {
        _S.OFFER: Next(State.OFFERED),
        **_ends(_V.NOT_STARTED, _S.ABORT, _S.CLOSE, _S.DEADLINE, _S.ORPHAN),
        **_ends(_V.DENIED, _S.DENY),
    },
    State.OFFERED: {
        _S.ACK: Next(State.VOTED),
        **_ends(_V.NACKED, _S.NACK),
        **_ends(_V.UNAVAILABLE, _S.DOWN, _S.REBORN, _S.ODD, rehab=True),
        **_ends(_V.UNAVAILABLE, _S.UNREACHABLE, _S.VOTE_ENDED, _S.ORPHAN),
        **_ends(_V.NOT_STARTED, _S.ABORT, _S.CLOSE, _S.DEADLINE, withdraw=True),
        **_ends(_V.DENIED, _S.DENY),
    },
    State.VOTED: {
        **_stays(State.VOTED, _S.ACK),
        **_ends(_V.UNAVAILABLE, _S.NACK, _S.DOWN, _S.REBORN, _S.ODD, rehab=True),
        _S.GO: Next(State.READY),
        **_ends(_V.WAS_READY, _S.MISS, _S.ORPHAN, rehab=True),
        **_ends(_V.TIMED_OUT, _S.DEADLINE, rehab=True),
        **_ends(_V.NOT_STARTED, _S.ABORT, withdraw=True),
    },
    State.READY: {
        **_stays(State.READY, _S.ACK),
        _S.START: Next(State.STARTING),
        **_ends(_V.CRASHED, _S.DOWN, _S.REBORN, _S.ODD, rehab=True),
        **_ends(_V.FAILED, _S.NACK, rehab=True),
        **_ends(_V.TIMED_OUT, _S.DEADLINE, rehab=True),
        **_ends(_V.NOT_STARTED, _S.ABORT, withdraw=True),
        **_ends(_V.WAS_READY, _S.ORPHAN, rehab=True),
    },
    State.STARTING: {
        **_stays(State.STARTING, _S.ACK),
        _S.STARTED: Next(State.RUNNING),
        **_ends(_V.CRASHED, _S.DOWN, _S.REBORN, _S.ODD, _S.ORPHAN, rehab=True),
        **_ends(_V.FAILED, _S.NACK, rehab=True),
        **_ends(_V.TIMED_OUT, _S.DEADLINE, rehab=True),
        **_ends(_V.ABORTED, _S.ABORTED),
    },
    State.RUNNING: {**_UNDERWAY, **_stays(State.RUNNING, _S.STARTED)},
    State.RESTARTING: {
        **_UNDERWAY,
        **_stays(State.RESTARTING, _S.STARTED),
        **_stays(State.AWAY, _S.SUCCEEDED, _S.DOWN),
        **_ends(_V.SUCCEEDED, _S.REBORN),
    },
    State.AWAY: {
        **_UNDERWAY,
        **_stays(State.AWAY, _S.SUCCEEDED, _S.DOWN),
        **_ends(_V.SUCCEEDED, _S.REBORN),
        **_ends(_V.CRASHED, _S.LATE),
    },
}
"""What each event makes of an open visit. What a row does not list: see find_next."""


UNDERWAY = frozenset((State.STARTING, State.RUNNING, State.RESTARTING, State.AWAY))
"""The states in which the command may run on the node: they fill a run's places."""


class Visit(msgspec.Struct, frozen=True):
    """One node's part in a run. Times are in seconds; `batch` counts from 0.

    `due` is when time does something to it: an offer is repeated, a vote renewed, an abort given up for
    acknowledged, an absence too long. `aborting`: it was told to end, and has not said yet that it did.
    """

    batch: int = 0
    state: State | Outcome = State.BLOCKED
    since: float = 0.0
    why: str = ""
    offered: float = 0.0
    started: float | None = None
    due: float | None = None
    aborting: bool = False

    @property
    def status(self) -> str:
        """What people see: blocked, new, ready, running, away, or the outcome."""
        return _SHOWN.get(self.state, self.state.value)

    @property
    def is_open(self) -> bool:
        """Whether something can still come of it."""
        return isinstance(self.state, State)


def find_next(state: State | Outcome, signal: Signal) -> Next | None:
    """Return what a signal makes of a visit in a state; None: nothing.

    A message that no row lists is odd, but for one about what was never offered, and for an abort that is
    acknowledged late.
    """
    if not isinstance(state, State):
        return None
    row = TABLE[state]
    odd = signal in MESSAGES and signal is not Signal.ABORTED
    return row.get(signal) or (row.get(Signal.ODD) if odd else None)
