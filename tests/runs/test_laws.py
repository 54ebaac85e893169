"""What holds for every play, and that the engine plays as a naive model does."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.runs.jobs import (
    Command,
    Event,
    Job,
    Limits,
    NodeEvent,
    OrderKind,
    Quorum,
    advance,
    find_next_due,
    make_job,
)
from gitcfg.runs.visits import MESSAGES, UNDERWAY, Outcome, Signal
from tests.runs.naive import Naive

NODES = ("a", "b", "c", "d")
HEARD = sorted(MESSAGES | {Signal.DOWN, Signal.REBORN, Signal.ABORT})
quorums = st.builds(Quorum, st.none(), st.sampled_from([0, 50, 100])) | st.builds(Quorum, st.integers(0, 3))
limits = st.builds(
    Limits,
    quorum=quorums,
    timeout=st.sampled_from([100.0, 2000.0, 2000.0]),
    vote_timeout=st.sampled_from([10.0, 60.0]),
    in_flight=st.none() | st.integers(1, 2),
    per_minute=st.none() | st.integers(1, 2),
    max_failures=st.none() | st.integers(0, 2),
    back_within=st.sampled_from([None, 40.0]),
)
FITS = {"new": Signal.ACK, "ready": Signal.STARTED, "running": Signal.SUCCEEDED, "away": Signal.REBORN}
"""What a node that behaves says next."""
odd = st.builds(NodeEvent, st.sampled_from((*NODES, "stranger")), st.sampled_from(HEARD))
commands = st.sampled_from(
    [Command.ABORT, Command.ABORT_SOFT, Command.RESUME, Command.RESUME, Command.ORPHAN]
)
events = st.one_of(*[st.sampled_from(NODES)] * 12, odd, commands)
"""A node by its name does what fits."""
waits = st.sampled_from([0.0, 1.0, 1.0, 1.0, 25.0, 41.0])
steps = st.lists(st.tuples(waits, st.lists(events, min_size=1, max_size=6)), min_size=4, max_size=20)
batches = st.lists(st.integers(0, 2), min_size=4, max_size=4).map(
    lambda numbers: [[n for n, at in zip(NODES, numbers, strict=True) if at == batch] for batch in range(3)]
)


def fitting(job: Job, node: str) -> NodeEvent:
    """What a node says next that behaves."""
    status = job.visits[node].status if node in job.visits else ""
    return NodeEvent(node, FITS.get(status, Signal.FAILED))


@settings(max_examples=1500)
@given(batches.filter(any), limits, steps)
def test_every_play(
    groups: list[list[str]], limits: Limits, steps: list[tuple[float, list[Event | str]]]
) -> None:
    groups = [group for group in groups if group]
    job = make_job(groups, limits)
    naive = Naive(job)
    now, started, ended = 0.0, Counter[str](), 0
    play: list[tuple[float, list[Event | str]]] = [(0.0, [Command.STORED]), *steps]
    while play or not job.is_over:
        wait, given = play.pop(0) if play else (0.0, [])
        heard = [event if isinstance(event, NodeEvent | Command) else fitting(job, event) for event in given]
        due = find_next_due(job, now)
        assert due is not None or job.is_over, "it waits for ever"
        now = max(now, due) if not play and due is not None else now + wait
        before = {node: visit.state for node, visit in job.visits.items()}
        done = advance(job, heard, now)
        for event in heard:
            naive.hear(event, now)
        naive.pass_time(now)
        job = done.job
        assert {node: visit.status for node, visit in job.visits.items()} == {
            node: one["is"] for node, one in naive.nodes.items()
        }
        assert job.status.value == naive.status
        for node, state in before.items():
            assert not isinstance(state, Outcome) or job.visits[node].state is state, "final is final"
        started.update(order.node for order in done.orders if order.kind is OrderKind.START)
        assert set(started.values()) <= {1}, "a node is started twice"
        under_way = sum(visit.state in UNDERWAY for visit in job.visits.values())
        assert under_way <= (limits.in_flight or len(NODES))
        ended += sum(entry.kind.value == "job_complete" for entry in done.feed)
    assert ended == 1
    assert not job.status.is_live
    assert not any(visit.is_open for visit in job.visits.values())
    again = advance(job, [NodeEvent(node, signal) for node in NODES for signal in HEARD], now + 1.0)
    assert again.job == job
    assert (again.orders, again.feed) == ((), ())
