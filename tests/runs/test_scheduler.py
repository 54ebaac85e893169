"""A server's jobs together: presence, nodes that cannot be reached, and aborts that are repeated."""

from collections.abc import Iterable

from hypothesis import given, settings
from hypothesis import strategies as st

from gitcfg.runs.jobs import Command, Limits, NodeEvent, Quorum, make_job
from gitcfg.runs.scheduler import (
    Answer,
    Bar,
    Beat,
    Message,
    Request,
    Schedule,
    Stop,
    add_job,
    choose_interval,
    find_next_tick,
    remove_finished,
    tick,
)
from gitcfg.runs.visits import Signal

NODES = ("a", "b", "c")


class Server:
    """A schedule that is played with; `sent` are the orders of the last step."""

    def __init__(self, beating: Iterable[str] = NODES) -> None:
        self.now = 0.0
        self.schedule = Schedule(interval_ends=10.0)
        self.sent: list[str] = []
        self.feed: list[str] = []
        self.step(*(Beat(node, "1") for node in beating))

    def start(self, name: str, nodes: str, limits: Limits | None = None) -> None:
        found = add_job(self.schedule, name, make_job([nodes.split()], limits or Limits()), self.now)
        self.schedule = found.schedule
        self.sent = [f"{job}:{order.kind}:{order.node}" for job, order in found.orders]
        self.feed += [f"{job}:{one.kind}:{one.node}:{one.detail}" for job, one in found.feed]

    def step(self, *messages: Message, wait: float = 0.0) -> None:
        self.now += wait
        found = tick(self.schedule, messages, self.now)
        self.schedule = found.schedule
        self.sent = [f"{job}:{order.kind}:{order.node}" for job, order in found.orders]
        self.feed += [f"{job}:{one.kind}:{one.node}:{one.detail}" for job, one in found.feed]

    def answer(self, job: str, node: str, *signals: str) -> None:
        self.step(*(Answer(job, NodeEvent(node, Signal(signal))) for signal in signals))

    def statuses(self, job: str) -> dict[str, str]:
        return {node: visit.status for node, visit in self.schedule.jobs[job].visits.items()}


def test_a_node_without_an_agent_has_its_answer_at_once() -> None:
    server = Server("a")
    server.start("j", "a b", Limits(quorum=Quorum(number=1)))
    assert server.sent == ["j:offer:a"]
    assert server.statuses("j") == {"a": "new", "b": "unavailable"}
    assert server.schedule.jobs["j"].visits["b"].why == "no agent"
    assert "j:quorum_vote:b:down" in server.feed
    assert not server.schedule.rehabs


def test_an_operator_keeps_visits_from_a_node() -> None:
    server = Server()
    server.step(Bar("a", "new disk, ticket 7"))
    server.start("j", "a")
    assert server.sent == []
    assert server.schedule.jobs["j"].visits["a"].why == "new disk, ticket 7"
    server.step(Bar("a"))
    server.start("k", "a")
    assert server.sent == ["k:offer:a"]


def test_silence_makes_a_running_visit_crash() -> None:
    server = Server()
    server.start("j", "a b")
    server.answer("j", "a", "ack")
    server.answer("j", "b", "ack")
    server.answer("j", "a", "started")
    server.answer("j", "b", "started")
    for _ in range(4):
        server.step(Beat("b", "1"), wait=10.0)
    assert server.statuses("j") == {"a": "crashed", "b": "running"}
    assert not server.schedule.is_up("a")
    assert "j:rehab:a" in server.sent


def test_a_server_that_was_late_judges_no_one() -> None:
    server = Server()
    server.start("j", "a")
    server.answer("j", "a", "ack")
    server.answer("j", "a", "started")
    server.step(wait=45.0)
    assert server.statuses("j") == {"a": "running"}


def test_an_agent_that_stops_is_down_at_once_and_says_why() -> None:
    server = Server()
    server.start("j", "a")
    server.answer("j", "a", "ack")
    server.answer("j", "a", "started")
    server.step(Stop("a", "reboot"))
    assert server.statuses("j") == {"a": "crashed"}
    assert server.schedule.jobs["j"].visits["a"].why == "reboot"


def test_an_abort_is_repeated_until_it_is_acknowledged() -> None:
    server = Server()
    server.start("j", "a b", Limits(quorum=Quorum(number=1)))
    server.answer("j", "a", "ack")
    server.step(Answer("j", NodeEvent("a", Signal.NACK)))
    assert server.sent == ["j:rehab:a"]
    repeated = []
    while server.now < 60.0:
        server.step(*(Beat(node, "1") for node in NODES), wait=0.5)
        repeated += [server.now] * ("j:rehab:a" in server.sent)
    assert repeated == [1.0, 3.0, 7.0, 15.0, 25.0, 35.0, 45.0, 55.0]
    server.start("k", "a")
    assert server.schedule.jobs["k"].visits["a"].why == "still ending another visit"
    server.answer("j", "a", "aborted")
    assert not server.schedule.rehabs
    server.start("l", "a")
    assert server.sent == ["l:offer:a"]


def test_a_new_incarnation_has_lost_all_of_its_visits() -> None:
    server = Server()
    server.start("j", "a")
    server.answer("j", "a", "ack")
    server.answer("j", "a", "started")
    server.start("k", "a")
    server.step(Beat("a", "2"))
    assert (server.statuses("j"), server.statuses("k")) == ({"a": "crashed"}, {"a": "unavailable"})
    assert server.schedule.is_up("a")
    server.step(Beat("a", "2"))
    assert server.sent == []


def test_jobs_that_are_over_are_removed() -> None:
    server = Server()
    server.start("j", "a")
    server.step(Request("j", Command.ABORT))
    assert remove_finished(server.schedule).jobs == {}
    server.answer("unknown", "a", "started")
    assert server.sent == []


def test_beats_are_rarer_in_a_large_fleet() -> None:
    assert (choose_interval(3999), choose_interval(4000)) == (10.0, 15.0)


messages = st.one_of(
    st.builds(Beat, st.sampled_from(NODES), st.sampled_from(["1", "1", "1", "2"])),
    st.builds(Stop, st.sampled_from(NODES), st.just("stop")),
    st.builds(
        Answer,
        st.sampled_from(["j", "k", "x"]),
        st.builds(NodeEvent, st.sampled_from(NODES), st.sampled_from(sorted(Signal))),
    ),
    st.builds(Request, st.sampled_from(["j", "k"]), st.sampled_from(sorted(Command))),
    st.builds(Bar, st.sampled_from(NODES), st.sampled_from(["", "why"])),
)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.sampled_from([0.0, 1.0, 12.0]), st.lists(messages, max_size=5)), max_size=15))
def test_every_job_ends_even_if_no_node_says_anything_more(steps: list[tuple[float, list[Message]]]) -> None:
    server = Server()
    server.start("j", "a b c", Limits(timeout=300.0, quorum=Quorum(number=1), in_flight=1))
    server.start("k", "c a", Limits(timeout=300.0, back_within=100.0))
    for wait, heard in steps:
        server.step(*heard, wait=wait)
        assert find_next_tick(server.schedule, server.now) > server.now
    for _ in range(1000):
        server.now = find_next_tick(server.schedule, server.now)
        server.step()
        if not remove_finished(server.schedule).jobs:
            break
    assert not remove_finished(server.schedule).jobs
    assert server.now <= 700.0
    for job in ("j", "k"):
        assert sum(line.startswith(f"{job}:job_complete") for line in server.feed) == 1
