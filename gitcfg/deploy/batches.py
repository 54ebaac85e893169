"""Who is begun when: batches, how many at once, and when nobody else is; a pure state machine."""

from collections.abc import Sequence

from msgspec.structs import replace

from gitcfg.deploy.turns import (
    Abandon,
    Action,
    Counts,
    Ended,
    Event,
    Leave,
    Over,
    Plan,
    Skip,
    Start,
    State,
    Stop,
    Why,
)
from gitcfg.model import Share
from gitcfg.model.text import counted


def batches(shares: Sequence[Share], nodes: int) -> tuple[int, ...]:
    """The sizes of batches, counted from the first on; such as add nobody are left out, the last has all."""
    found: list[int] = []
    for size in (*(share.of(nodes) for share in shares), nodes):
        if size > (found[-1] if found else 0):
            found.append(size)
    return tuple(found)


def allowed(limit: Share, nodes: int) -> int:
    """How many a limit lets through. A share that is no whole number lets no more through than it says."""
    return int(nodes * limit.number / 100) if limit.percent else int(limit.number)


def begin(plan: Plan) -> tuple[State, tuple[Action, ...]]:
    """A run before anything has happened, and what to do first."""
    return _onward(plan, State())


def step(plan: Plan, state: State, event: Event) -> tuple[State, tuple[Action, ...]]:
    """What an event makes of a run, and what to do. A node that is not running cannot end."""
    if state.over or (isinstance(event, Ended) and event.node not in state.running):
        return state, ()
    if isinstance(event, Leave):
        left = tuple(sorted(state.running))
        after, actions = _onward(plan, _halted(replace(state, running=frozenset()), Stop()))
        return after, (Abandon(left), *actions) if left else actions
    return _onward(plan, _halted(state, event) if isinstance(event, Stop) else _ended(plan, state, event))


def _halted(state: State, stop: Stop) -> State:
    """What somebody wants beats what went wrong, and of that the first counts."""
    if state.why is not Why.DONE and stop.why is not Why.INTERRUPTED:
        return state
    return replace(state, why=stop.why, because=stop.because)


def _ended(plan: Plan, state: State, event: Ended) -> State:
    whole, here = state.whole.plus(event.weight), state.here.plus(event.weight)
    after = replace(state, running=state.running - {event.node}, whole=whole, here=here)
    return _judged(after, _too_many(plan, whole))


def _judged(state: State, because: str) -> State:
    if not because or state.why is not Why.DONE:
        return state
    return replace(state, why=Why.LIMIT, because=because)


def _too_many(plan: Plan, whole: Counts) -> str:
    if plan.failures is not None and whole.failed > plan.failures:
        return f"{counted(whole.failed, 'node')} failed, and {_at_most(plan.failures)} may."
    if plan.unreached is not None and whole.unreached > plan.unreached:
        said = counted(whole.unreached, "node")
        return f"{said} could not be reached, and that may happen to {_at_most(plan.unreached)}."
    return ""


def _at_most(number: int) -> str:
    return f"at most {number}" if number else "none"


def _onward(plan: Plan, state: State) -> tuple[State, tuple[Action, ...]]:
    """Start as many as may be; where nothing is left to start or to wait for, it is over."""
    actions: list[Action] = []
    while state.why is Why.DONE and not state.over:
        _, end = plan.span(state.batch) if plan.sizes else (0, 0)
        room = min(plan.jobs - len(state.running), end - state.begun)
        if room > 0:
            names = plan.nodes[state.begun : state.begun + room]
            actions += (Start(name, state.batch) for name in names)
            state = replace(state, begun=state.begun + room, running=state.running | set(names))
        if state.running or state.begun < end:
            return state, tuple(actions)
        if end == len(plan.nodes):
            return replace(state, over=True), (*actions, Over())
        state = _next(plan, state)
    if state.running:
        return state, tuple(actions)
    rest = plan.nodes[state.begun :]
    return replace(state, over=True), (*actions, *((Skip(rest),) if rest else ()), Over())


def _next(plan: Plan, state: State) -> State:
    """The batch after one that is over, if that one was well."""
    because = _unwell(plan, state.here, state.batch + 1)
    after = replace(state, batch=state.batch + 1, here=Counts())
    return _judged(state, because) if because else after


def _unwell(plan: Plan, here: Counts, number: int) -> str:
    if plan.failures is None and here.failed:
        return f"{_of(here.failed, here.well + here.failed)} that batch {number} reached failed."
    if not here.well and (plan.unreached is None or not here.unreached) and not here.failed:
        return f"Batch {number} shows nothing: {_untried(here)}."
    return ""


def _of(some: int, all: int) -> str:
    if some == all:
        return {1: "The one node", 2: "Both nodes"}.get(all, f"All {all} nodes")
    return f"{some} of the {all} nodes"


def _untried(here: Counts) -> str:
    said = [f"{counted(here.unreached, 'node')} could not be reached"] if here.unreached else []
    if here.aside:
        which = "has its agent" if here.aside == 1 else "have their agents"
        said.append(f"{counted(here.aside, 'node')} {which}")
    return ", and ".join(said)
