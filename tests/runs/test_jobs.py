"""Plays of jobs: events at times, the orders that follow, and how each node ends."""

import re
from collections.abc import Iterable

import pytest

from gitcfg.model import GitcfgError
from gitcfg.runs.jobs import (
    Command,
    Event,
    FeedKind,
    Job,
    Limits,
    NodeEvent,
    Quorum,
    RunStatus,
    advance,
    find_next_due,
    make_job,
    parse_quorum,
)
from gitcfg.runs.visits import Signal

ALL = Quorum(percent=100)
PLAYS: dict[str, tuple[str, Limits, str]] = {
    "all vote, start and end": (
        "a b",
        Limits(),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack                  -                        voting
        2  b=ack                  start:a start:b          running
        3  a=started b=started    -                        running
        9  a=succeeded            -                        running
        10 b=failed               -                        complete  a=succeeded b=failed
        """,
    ),
    "one nack misses the quorum": (
        "a b c",
        Limits(),
        """
        0  stored                 offer:a offer:b offer:c  voting
        1  a=ack b=nack           -                        voting
        2  c=ack                  rehab:a rehab:c          quorum_failed  a=was_ready b=nacked c=was_ready
        """,
    ),
    "a silent node is given up at the end of the vote": (
        "a b",
        Limits(quorum=Quorum(percent=50)),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack                  -                        voting
        60 -                      start:a                  running
        61 a=started a=succeeded  -                        complete  a=succeeded b=unavailable
        """,
    ),
    "a vote is taken back": (
        "a b",
        Limits(quorum=Quorum(number=1)),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack                  -                        voting
        2  a=down                 rehab:a                  voting
        3  b=ack                  start:b                  running
        4  b=started b=succeeded  -                        complete  a=unavailable b=succeeded
        """,
    ),
    "more votes than nodes are asked for": (
        "a",
        Limits(quorum=Quorum(number=2)),
        """
        0  stored                 offer:a                  voting
        1  a=ack                  rehab:a                  quorum_failed  a=was_ready
        """,
    ),
    "no vote is needed": (
        "a",
        Limits(quorum=Quorum(number=0)),
        """
        0  stored                 offer:a                  voting
        1  a=nack                 -                        complete  a=nacked
        """,
    ),
    "it dies after its vote": (
        "a b",
        Limits(),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack b=ack            start:a start:b          running
        2  a=down                 rehab:a                  running
        3  b=started b=succeeded  -                        complete  a=crashed b=succeeded
        """,
    ),
    "it refuses the start": (
        "a",
        Limits(),
        """
        0  stored                 offer:a                  voting
        1  a=ack                  start:a                  running
        2  a=nack                 rehab:a                  complete  a=failed
        """,
    ),
    "its agent restarts while it runs": (
        "a",
        Limits(),
        """
        0  stored                 offer:a                  voting
        1  a=ack                  start:a                  running
        2  a=started              -                        running
        3  a=reborn               rehab:a                  complete  a=crashed
        4  a=succeeded            -                        complete  a=crashed
        """,
    ),
    "the result comes before the start": (
        "a",
        Limits(),
        """
        0  stored                 offer:a                  voting
        1  a=ack                  start:a                  running
        2  a=succeeded            rehab:a                  complete  a=crashed
        """,
    ),
    "the time of the run is over": (
        "a b",
        Limits(timeout=100.0),
        """
        0   stored                offer:a offer:b          voting
        1   a=ack b=ack           start:a start:b          running
        2   a=started             -                        running
        100 -                     rehab:a rehab:b          timed_out  a=timed_out b=timed_out
        """,
    ),
    "the time of the run is over while it votes": (
        "a b",
        Limits(timeout=10.0),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack                  -                        voting
        10 -                      rehab:a withdraw:b       timed_out  a=timed_out b=not_started
        """,
    ),
    "an abort while it votes": (
        "a b",
        Limits(),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack                  -                        voting
        2  abort                  withdraw:a withdraw:b    aborted  a=not_started b=not_started
        3  abort                  -                        aborted  a=not_started b=not_started
        """,
    ),
    "an abort while it runs is acknowledged, or not": (
        "a b",
        Limits(),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack b=ack            start:a start:b          running
        2  a=started              -                        running
        5  abort                  abort:a abort:b          aborted
        6  a=aborted b=abort      -                        aborted
        45 -                      -                        aborted  a=aborted b=aborted
        """,
    ),
    "it ends before the abort arrives": (
        "a",
        Limits(),
        """
        0  stored                 offer:a                  voting
        1  a=ack                  start:a                  running
        2  a=started              -                        running
        5  abort                  abort:a                  aborted
        6  a=succeeded            -                        aborted  a=succeeded
        """,
    ),
    "an abort that comes too late": (
        "a",
        Limits(),
        """
        0  stored                 offer:a                  voting
        1  a=ack                  start:a                  running
        2  a=started a=succeeded  -                        complete
        3  abort                  -                        complete  a=succeeded
        """,
    ),
    "a soft abort lets what runs end": (
        "a b",
        Limits(in_flight=1),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack b=ack            start:a                  running
        2  a=started              -                        running
        3  abort_soft             withdraw:b               running
        9  a=succeeded            -                        complete  a=succeeded b=not_started
        """,
    ),
    "places, and votes that are renewed": (
        "a b c",
        Limits(in_flight=1),
        """
        0  stored                 offer:a offer:b offer:c  voting
        1  a=ack b=ack c=ack      start:a                  running
        2  a=started              -                        running
        61 -                      renew:b renew:c          running
        62 b=ack a=succeeded      start:b                  running
        63 b=started b=failed     start:c                  running
        64 c=started c=succeeded  -                        complete  a=succeeded b=failed c=succeeded
        """,
    ),
    "a rate": (
        "a b c",
        Limits(per_minute=2),
        """
        0  stored                                 offer:a offer:b offer:c  voting
        1  a=ack b=ack c=ack                      start:a start:b          running
        2  a=started b=started                    -                        running
        3  a=succeeded b=succeeded                -                        running
        59 -                                      -                        running
        61 -                                      renew:c start:c          running
        62 c=started c=succeeded                  -                        complete
        """,
    ),
    "batches vote by themselves": (
        "a b / c d",
        Limits(quorum=Quorum(percent=50)),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack b=nack           start:a                  running
        2  a=started a=succeeded  offer:c offer:d          voting
        3  c=nack d=nack          -                        quorum_failed  a=succeeded b=nacked d=nacked
        """,
    ),
    "a batch that misses its quorum ends the run": (
        "a / b / c",
        Limits(),
        """
        0  stored                 offer:a                  voting
        1  a=ack                  start:a                  running
        2  a=started a=failed     offer:b                  voting
        3  b=nack                 -                        quorum_failed  a=failed b=nacked c=not_started
        """,
    ),
    "too many failures, and someone resumes": (
        "a b c",
        Limits(in_flight=1, max_failures=0),
        """
        0  stored                 offer:a offer:b offer:c  voting
        1  a=ack b=ack c=ack      start:a                  running
        2  a=started a=failed     -                        halted
        3  resume                 start:b                  running
        4  b=started b=succeeded  start:c                  running
        5  c=started c=failed     -                        complete  a=failed b=succeeded c=failed
        """,
    ),
    "too many failures, and no one resumes": (
        "a b",
        Limits(in_flight=1, max_failures=0, timeout=30.0),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack b=ack            start:a                  running
        2  a=started a=failed     -                        halted
        30 -                      rehab:b                  timed_out  a=failed b=timed_out
        """,
    ),
    "a node that restarts comes back": (
        "a b c d",
        Limits(back_within=100.0),
        """
        0   stored                          offer:a offer:b offer:c offer:d  voting
        1   a=ack b=ack c=ack d=ack         start:a start:b start:c start:d  running
        2   a=started b=started c=started   -                                running
        3   d=started d=failed              -                                running
        4   a=down b=succeeded c=down       -                                running
        50  a=reborn                        -                                running
        104 -                               -                                complete  a=succeeded b=crashed
        """,
    ),
    "the server that drove it is gone": (
        "a b / c",
        Limits(in_flight=1),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack b=ack            start:a                  running
        2  a=started              -                        running
        3  orphan                 rehab:a rehab:b          crashed  a=crashed b=was_ready c=not_started
        """,
    ),
    "it is gone while it votes": (
        "a b",
        Limits(),
        """
        0  stored                 offer:a offer:b          voting
        1  a=ack                  -                        voting
        3  orphan                 rehab:a                  crashed  a=was_ready b=unavailable
        """,
    ),
    "a busy node is asked again": (
        "a",
        Limits(wait_busy=100.0),
        """
        0   stored                offer:a                  voting
        1   a=busy                -                        voting
        3   -                     offer:a                  voting
        99  a=busy                -                        voting
        101 -                     -                        quorum_failed  a=unavailable
        """,
    ),
    "a busy node is not waited for": (
        "a",
        Limits(),
        """
        0   stored                offer:a                  voting
        1   a=busy                -                        quorum_failed  a=nacked
        """,
    ),
}


def event(word: str) -> Event:
    node, equals, signal = word.partition("=")
    if not equals:
        return Command(word)
    return NodeEvent(node, Signal.NACK, "busy") if signal == "busy" else NodeEvent(node, Signal(signal))


def made(text: str, limits: Limits) -> Job:
    return make_job([batch.split() for batch in text.split("/")], limits)


@pytest.mark.parametrize("name", PLAYS)
def test_a_play(name: str) -> None:
    nodes, limits, lines = PLAYS[name]
    job = made(nodes, limits)
    for line in lines.strip().splitlines():
        time, _, rest = line.strip().partition(" ")
        events, orders, status, *ends = re.split(r"  +", rest.strip())
        words = () if events == "-" else events.split()
        done = advance(job, map(event, words), float(time))
        told = " ".join(f"{order.kind}:{order.node}" for order in done.orders)
        assert (told or "-", done.job.status.value) == (orders, status), line
        job = done.job
        for node, end in (pair.split("=") for text in ends for pair in text.split()):
            assert job.visits[node].status == end, line
    assert job.is_over


def feed(job: Job, *steps: tuple[float, Iterable[str]]) -> list[str]:
    found = []
    for time, words in steps:
        done = advance(job, map(event, words), time)
        job = done.job
        found += [" ".join(filter(None, (one.kind, one.node, one.detail))) for one in done.feed]
    return found


def test_the_feed_of_a_job() -> None:
    job = make_job([["a", "b", "c", "d", "e"]], Limits(quorum=Quorum(number=2)), denied=["e"])
    steps = [(0.0, ["stored"]), (1.0, ["a=ack", "b=ack", "c=nack"]), (60.0, [])]
    steps += [(61.0, ["a=started", "b=down"]), (62.0, ["a=succeeded"])]
    assert feed(job, *steps) == [
        "start",
        "run_complete e denied",
        "quorum_vote a success",
        "quorum_vote b success",
        "quorum_vote c failure",
        "run_complete c nacked",
        "quorum_vote d voting_timeout",
        "run_complete d unavailable",
        "quorum_succeeded",
        "run_start a",
        "rehab b",
        "run_complete b crashed",
        "run_complete a succeeded",
        "job_complete complete",
    ]


def test_the_end_is_reported_once_when_the_last_visit_has_ended() -> None:
    told = feed(
        made("a", Limits()),
        (0.0, ["stored"]),
        (1.0, ["a=ack"]),
        (2.0, ["a=started", "abort"]),
        (3.0, ["a=aborted"]),
        (4.0, ["a=aborted", "abort"]),
    )
    assert told[-2:] == ["run_complete a aborted", "job_complete aborted"]
    assert sum(line.startswith(FeedKind.JOB_COMPLETE) for line in told) == 1


def test_when_time_does_something_next() -> None:
    job = made("a b", Limits(timeout=1000.0, in_flight=1))
    job = advance(job, [Command.STORED], 0.0).job
    assert find_next_due(job, 0.0) == 60.0
    job = advance(job, map(event, ["a=ack", "b=ack"]), 10.0).job
    assert find_next_due(job, 10.0) == 70.0  # b's vote is renewed
    job = advance(job, map(event, ["a=started", "abort"]), 20.0).job
    assert find_next_due(job, 20.0) == 60.0  # the abort counts as acknowledged
    job = advance(job, (), 60.0).job
    assert job.status is RunStatus.ABORTED
    assert find_next_due(job, 60.0) is None


def test_one_node_is_aborted() -> None:
    job = advance(made("a b", Limits()), [Command.STORED], 0.0).job
    job = advance(job, map(event, ["a=ack", "b=ack"]), 1.0).job
    job = advance(job, map(event, ["a=started", "b=started"]), 2.0).job
    done = advance(job, [NodeEvent("a", Signal.ABORT)], 3.0)
    assert [(one.node, one.kind.value) for one in done.orders] == [("a", "abort")]
    job = advance(done.job, map(event, ["a=aborted", "b=succeeded"]), 4.0).job
    assert job.status is RunStatus.COMPLETE
    assert job.counts == {"aborted": 1, "succeeded": 1}


def test_a_job_without_nodes_is_an_error() -> None:
    with pytest.raises(GitcfgError, match="No node is selected"):
        make_job([[], []], Limits())


@pytest.mark.parametrize(
    ("text", "nodes", "needed"),
    [("12", 5, 12), ("0", 5, 0), ("all", 5, 5), ("90%", 11, 10), ("0%", 5, 0), ("100%", 3, 3), ("1%", 3, 1)],
)
def test_a_quorum(text: str, nodes: int, needed: int) -> None:
    assert parse_quorum(text).of(nodes) == needed


NO_QUORUM = ("80 %", "many", "", "101%", "-1", "1e3", "\u0661", "10\n", "1.5")


@pytest.mark.parametrize(
    ("text", "hint"),
    [("0.8", "80%"), (".75", "75%"), ("0.05", "5%"), *((text, "Use a number") for text in NO_QUORUM)],
)
def test_what_is_no_quorum(text: str, hint: str) -> None:
    with pytest.raises(GitcfgError) as error:
        parse_quorum(text)
    assert hint in " ".join(error.value.hints)
