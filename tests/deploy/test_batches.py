"""Who is begun when in a deploy: laws that hold whatever nodes come to, in whatever order."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from gitcfg.deploy.batches import (
    INTERRUPTED,
    Abandon,
    Action,
    Ended,
    Event,
    Leave,
    Over,
    Plan,
    Skip,
    Start,
    State,
    Stop,
    allowed,
    batches,
    begin,
    step,
)
from gitcfg.deploy.outcomes import EndReason, Weight
from gitcfg.model import Share

SHARES = st.one_of(
    st.integers(1, 30).map(Share), st.integers(1, 100).map(lambda number: Share(number, percent=True))
)


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    names = tuple(f"n{number:02}" for number in range(draw(st.integers(0, 25))))
    return Plan(
        names,
        batches(draw(st.lists(SHARES, max_size=4)), len(names)),
        draw(st.integers(1, 6)),
        draw(st.none() | st.integers(0, 4)),
        draw(st.none() | st.integers(0, 4)),
    )


class Watched:
    """A run that is followed, and each of its laws judged at each step."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.weights: dict[str, Weight] = {}
        self.running: set[str] = set()
        self.begun: list[str] = []
        self.ends: Counter[str] = Counter()
        self.stopped = False
        self.over = False
        self.state, actions = begin(plan)
        self.heed(actions)

    def tell(self, event: Event) -> None:
        self.stopped = self.stopped or isinstance(event, Stop | Leave)
        if isinstance(event, Ended):
            self.running.remove(event.node)
            self.weights[event.node] = event.weight
            self.ends[event.node] += 1
        self.state, actions = step(self.plan, self.state, event)
        self.heed(actions)

    def count(self, weight: Weight) -> int:
        return sum(one is weight for one in self.weights.values())

    def heed(self, actions: tuple[Action, ...]) -> None:
        for action in actions:
            assert not self.over
            if isinstance(action, Start):
                self.started(action)
            elif isinstance(action, Over):
                assert not self.running
                self.over = True
            else:
                self.ends.update(action.nodes)
                if isinstance(action, Abandon):
                    assert set(action.nodes) == self.running
                    self.running.clear()
        assert len(self.running) <= self.plan.jobs
        assert self.over or self.running

    def started(self, action: Start) -> None:
        assert not self.stopped
        for limit, weight in (
            (self.plan.failures, Weight.FAILED),
            (self.plan.unreached, Weight.UNREACHED),
        ):
            assert limit is None or self.count(weight) <= limit
        first, end = self.plan.span(action.batch)
        before = set(self.plan.nodes[:first])
        assert action.node in self.plan.nodes[first:end]
        assert before <= self.ends.keys()
        assert not before & self.running
        if self.plan.failures is None and action.batch:
            assert not any(self.weights[name] is Weight.FAILED for name in before)
        self.running.add(action.node)
        self.begun.append(action.node)


@given(plans(), st.data())
def test_whatever_happens_the_laws_hold(plan: Plan, data: st.DataObject) -> None:
    """Limits hold when a node is begun, a batch waits for the one before, and each node ends once."""
    run = Watched(plan)
    kinds = st.sampled_from(["node"] * 20 + ["stop", "leave"])
    while not run.over:
        kind = data.draw(kinds)
        if kind == "node":
            name = data.draw(st.sampled_from(sorted(run.running)))
            run.tell(Ended(name, data.draw(st.sampled_from(Weight))))
        else:
            run.tell(Stop() if kind == "stop" else Leave())
    assert run.ends == Counter(dict.fromkeys(plan.nodes, 1))
    assert run.state.over
    assert bool(run.state.because) == (run.state.why is not EndReason.DONE)
    assert tuple(run.begun) == plan.nodes[: len(run.begun)]
    assert (run.state.why is EndReason.INTERRUPTED) == run.stopped
    assert run.state.why is not EndReason.DONE or run.begun == list(plan.nodes)


@given(plans())
def test_where_all_are_well_all_are_begun(plan: Plan) -> None:
    run = Watched(plan)
    while not run.over:
        run.tell(Ended(min(run.running), Weight.WELL))
    assert tuple(run.begun) == plan.nodes
    assert run.state.why is EndReason.DONE


@given(plans(), st.sampled_from([Weight.FAILED, Weight.UNREACHED]))
def test_no_more_go_wrong_than_the_limit_and_those_at_work(plan: Plan, weight: Weight) -> None:
    run = Watched(plan)
    while not run.over:
        run.tell(Ended(min(run.running), weight))
    limit = plan.failures if weight is Weight.FAILED else plan.unreached
    assert limit is None or run.count(weight) <= limit + plan.jobs


def test_a_node_that_is_not_running_cannot_end() -> None:
    plan = Plan(("a", "b"), (1, 2), 1)
    state, actions = begin(plan)
    assert actions == (Start("a", 0),)
    assert step(plan, state, Ended("b", Weight.WELL)) == (state, ())
    assert step(plan, state, Ended("x", Weight.WELL)) == (state, ())
    state, actions = step(plan, state, Ended("a", Weight.WELL))
    assert actions == (Start("b", 1),)
    assert step(plan, state, Ended("a", Weight.FAILED)) == (state, ())


def test_without_limits_a_batch_with_a_failure_is_the_last() -> None:
    plan = Plan(("a", "b", "c"), (2, 3), 2)
    state = _after(plan, Weight.WELL, Weight.FAILED)
    assert (state.why, state.because) == (EndReason.LIMIT, "1 of the 2 nodes that batch 1 reached failed.")


def test_a_batch_that_nobody_could_try_is_the_last() -> None:
    plan = Plan(("a", "b", "c"), (2, 3), 2)
    state = _after(plan, Weight.UNREACHED, Weight.ASIDE)
    because = "Batch 1 proves nothing: 1 node could not be reached, and 1 node has its agent."
    assert (state.why, state.because) == (EndReason.LIMIT, because)
    state = _after(plan, Weight.ASIDE, Weight.ASIDE)
    assert state.because == "Batch 1 proves nothing: 2 nodes have their agents."


def test_one_node_is_not_told_as_many() -> None:
    one = Plan(("a", "b"), (1, 2), 1)
    assert _after(one, Weight.FAILED).because == "The one node that batch 1 reached failed."
    two = Plan(("a", "b", "c"), (2, 3), 2)
    assert _after(two, Weight.FAILED, Weight.FAILED).because == "Both nodes that batch 1 reached failed."
    assert _after(replace(one, failures=0), Weight.FAILED).because == "1 node failed, the limit is 0."
    because = "1 node could not be reached, the limit is 0."
    assert _after(replace(one, unreached=0), Weight.UNREACHED).because == because


def test_what_somebody_wants_beats_what_went_wrong_and_of_that_the_first_counts() -> None:
    plan = Plan(("a", "b", "c"), (3,), 2)
    state, _ = begin(plan)
    state, _ = step(plan, state, Stop(EndReason.OUTPUT, "The disk is full."))
    assert (state.why, state.because) == (EndReason.OUTPUT, "The disk is full.")
    again, _ = step(plan, state, Stop(EndReason.FAULT, "It failed."))
    assert again == state
    wanted, _ = step(plan, state, Stop())
    assert (wanted.why, wanted.because) == (EndReason.INTERRUPTED, INTERRUPTED)


def test_in_one_batch_without_limits_everybody_has_a_turn() -> None:
    plan = Plan(("a", "b", "c"), (3,), 1)
    state = _after(plan, Weight.FAILED, Weight.UNREACHED, Weight.FAILED)
    assert (state.why, state.begun) == (EndReason.DONE, 3)


def test_limits_are_of_the_whole_run() -> None:
    plan = Plan(("a", "b", "c", "d"), (1, 2, 4), 1, failures=1)
    state = _after(plan, Weight.FAILED, Weight.FAILED)
    assert (state.why, state.because) == (EndReason.LIMIT, "2 nodes failed, the limit is 1.")
    state = _after(plan, Weight.FAILED, Weight.WELL, Weight.WELL, Weight.WELL)
    assert state.why is EndReason.DONE


def test_an_interrupted_run_waits_for_those_at_work_and_then_leaves_them() -> None:
    plan = Plan(("a", "b", "c"), (3,), 2)
    state, _ = begin(plan)
    state, actions = step(plan, state, Stop())
    assert actions == ()
    ended, actions = step(plan, state, Ended("a", Weight.WELL))
    assert actions == ()
    assert not ended.over
    assert step(plan, ended, Ended("b", Weight.WELL))[1] == (Skip(("c",)), Over())
    assert step(plan, ended, Leave())[1] == (Abandon(("b",)), Skip(("c",)), Over())


def test_sizes() -> None:
    shares = [Share(1), Share(10, percent=True), Share(50, percent=True)]
    assert batches(shares, 200) == (1, 20, 100, 200)
    assert batches(shares, 3) == (1, 2, 3)
    assert batches([], 5) == (5,)
    assert batches(shares, 0) == ()


def test_limits_as_shares_let_no_more_through_than_they_say() -> None:
    assert [allowed(Share(10, percent=True), nodes) for nodes in (5, 10, 19, 200)] == [0, 1, 1, 20]
    assert allowed(Share(0), 7) == 0
    assert allowed(Share(3), 7) == 3


def _after(plan: Plan, *weights: Weight) -> State:
    state, _ = begin(plan)
    for name, weight in zip(plan.nodes, weights, strict=False):
        state, _ = step(plan, state, Ended(name, weight))
    assert state.over
    return state
