"""Visits: one contact with one node in one run, and the table with the effect of each event."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

import msgspec


class Outcome(StrEnum):
    """How a visit ended. It is final."""

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
"""The outcomes that count as failures of a run: a refusal in the vote does not."""


class State(StrEnum):
    """The state of an open visit, a row of the table. Some states look the same to users."""

    BLOCKED = "blocked"  # its batch has not begun
    OFFERED = "offered"
    VOTED = "voted"  # ready, and the vote continues
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
    UNREACHABLE = "unreachable"  # so that it never had an offer
    REBORN = "reborn"  # a new incarnation of its agent
    # What the time does.
    VOTE_ENDED = "vote_ended"
    DEADLINE = "deadline"  # of the run
    LATE = "late"  # it has been away for too long
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
    """The result of an event: another state or the outcome, and how the node is ordered to end.

    `rehab`: repeat the order until the node acknowledges it. `withdraw`: send it once, as nothing has
    started.
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
"""The effect of each event on an open visit. For events that a row does not list, see find_next."""


UNDERWAY = frozenset((State.STARTING, State.RUNNING, State.RESTARTING, State.AWAY))
"""The states in which the command may run on the node: they count against the limit of a run."""


class Visit(msgspec.Struct, frozen=True):
    """One node's part in a run. Times are in seconds; `batch` counts from 0.

    At `due`, the time changes it: an offer is repeated, a vote is renewed, an abort counts as acknowledged,
    or an absence is too long. `aborting`: it was ordered to end, and has not acknowledged it yet.
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
        """The status that users see: blocked, new, ready, running, away, or the outcome."""
        return _SHOWN.get(self.state, self.state.value)

    @property
    def is_open(self) -> bool:
        """Whether the visit can still change."""
        return isinstance(self.state, State)


def find_next(state: State | Outcome, signal: Signal) -> Next | None:
    """Return the effect of a signal on a visit in a state; None: there is none.

    A message that no row lists is odd, except one about a visit without an offer, and a late acknowledgement
    of an abort.
    """
    if not isinstance(state, State):
        return None
    row = TABLE[state]
    odd = signal in MESSAGES and signal is not Signal.ABORTED
    return row.get(signal) or (row.get(Signal.ODD) if odd else None)
