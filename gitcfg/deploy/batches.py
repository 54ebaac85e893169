"""The order of a deploy: batches, the number of nodes at once, and the limits; a pure state machine."""

from collections.abc import Sequence

import msgspec
from msgspec.structs import replace

from gitcfg.deploy.outcomes import EndReason, Weight
from gitcfg.model import Share
from gitcfg.model.text import counted

INTERRUPTED = "The deploy was interrupted."
FAULT = "gitcfg itself failed at {}."


class Plan(msgspec.Struct, frozen=True):
    """The nodes in order; `sizes` are the total numbers of nodes that have begun after each batch.

    At most `jobs` nodes run at once. `failures` is how many may fail and `unreached` how many may be
    unreachable, in the whole run. None means no limit, but then the next batch begins only after a batch that
    succeeded.
    """

    nodes: tuple[str, ...]
    sizes: tuple[int, ...]
    jobs: int
    failures: int | None = None
    unreached: int | None = None

    def span(self, batch: int) -> tuple[int, int]:
        """Return where a batch begins and ends."""
        return self.sizes[batch - 1] if batch else 0, self.sizes[batch]


class Counts(msgspec.Struct, frozen=True):
    """The numbers of finished nodes, by their weight."""

    well: int = 0
    failed: int = 0
    unreached: int = 0
    aside: int = 0

    def plus(self, weight: Weight) -> "Counts":
        """Return the counts with one more node."""
        return replace(self, **{weight.value: getattr(self, weight.value) + 1})


class State(msgspec.Struct, frozen=True):
    """The progress of a run: `begun` nodes of the order, the running ones, and the counts of the others.

    `why` other than done means that no other node begins; `because` is the reason as a sentence.
    """

    batch: int = 0
    begun: int = 0
    running: frozenset[str] = frozenset()
    whole: Counts = Counts()
    here: Counts = Counts()
    why: EndReason = EndReason.DONE
    because: str = ""
    over: bool = False


class Ended(msgspec.Struct, frozen=True):
    """A node has finished."""

    node: str
    weight: Weight


class Stop(msgspec.Struct, frozen=True):
    """Begin no other node; those that run may finish. `because` is the reason as a sentence."""

    why: EndReason = EndReason.INTERRUPTED
    because: str = INTERRUPTED


class Leave(msgspec.Struct, frozen=True):
    """Do not wait for the running nodes either."""


class Start(msgspec.Struct, frozen=True):
    """Begin with a node."""

    node: str
    batch: int


class Skip(msgspec.Struct, frozen=True):
    """Do not begin these nodes."""

    nodes: tuple[str, ...]


class Abandon(msgspec.Struct, frozen=True):
    """Abandon these nodes while they run."""

    nodes: tuple[str, ...]


class Over(msgspec.Struct, frozen=True):
    """All nodes have finished."""


Event = Ended | Stop | Leave
Action = Start | Skip | Abandon | Over


def batches(shares: Sequence[Share], nodes: int) -> tuple[int, ...]:
    """Return the cumulative sizes of batches: each adds nodes, and the last one has all."""
    sizes: list[int] = []
    for size in (*(share.of(nodes) for share in shares), nodes):
        if size > (sizes[-1] if sizes else 0):
            sizes.append(size)
    return tuple(sizes)


def allowed(limit: Share, nodes: int) -> int:
    """Return how many nodes a limit allows; a fraction is rounded down."""
    return int(nodes * limit.number / 100) if limit.percent else int(limit.number)


def begin(plan: Plan) -> tuple[State, tuple[Action, ...]]:
    """Return the state before the first event, and the first actions."""
    return _onward(plan, State())


def step(plan: Plan, state: State, event: Event) -> tuple[State, tuple[Action, ...]]:
    """Return the state after an event, and the actions. Ignore the end of a node that is not running."""
    if state.over or (isinstance(event, Ended) and event.node not in state.running):
        return state, ()
    if isinstance(event, Leave):
        left = tuple(sorted(state.running))
        after, actions = _onward(plan, _halt(replace(state, running=frozenset()), Stop()))
        return after, (Abandon(left), *actions) if left else actions
    if isinstance(event, Stop):
        return _onward(plan, _halt(state, event))
    whole, here = state.whole.plus(event.weight), state.here.plus(event.weight)
    after = replace(state, running=state.running - {event.node}, whole=whole, here=here)
    return _onward(plan, _limit(after, _describe_excess(plan, whole)))


def _halt(state: State, stop: Stop) -> State:
    """Halt the run. An interrupt replaces an earlier reason; otherwise the first reason stays."""
    if state.why is not EndReason.DONE and stop.why is not EndReason.INTERRUPTED:
        return state
    return replace(state, why=stop.why, because=stop.because)


def _limit(state: State, because: str) -> State:
    is_reason = because and state.why is EndReason.DONE
    return replace(state, why=EndReason.LIMIT, because=because) if is_reason else state


def _describe_excess(plan: Plan, whole: Counts) -> str:
    if plan.failures is not None and whole.failed > plan.failures:
        return f"{counted(whole.failed, 'node')} failed, the limit is {plan.failures}."
    if plan.unreached is not None and whole.unreached > plan.unreached:
        nodes = counted(whole.unreached, "node")
        return f"{nodes} could not be reached, the limit is {plan.unreached}."
    return ""


def _onward(plan: Plan, state: State) -> tuple[State, tuple[Action, ...]]:
    """Start as many nodes as allowed; end the run if nothing is left to start or to wait for."""
    actions: list[Action] = []
    while state.why is EndReason.DONE and not state.over:
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
        because = _describe_failed_batch(plan, state.here, state.batch + 1)
        state = _limit(state, because) if because else replace(state, batch=state.batch + 1, here=Counts())
    if state.running:
        return state, tuple(actions)
    rest = plan.nodes[state.begun :]
    return replace(state, over=True), (*actions, *((Skip(rest),) if rest else ()), Over())


def _describe_failed_batch(plan: Plan, here: Counts, number: int) -> str:
    if plan.failures is None and here.failed:
        reached = here.well + here.failed
        nodes = f"{here.failed} of the {reached} nodes"
        if here.failed == reached:
            nodes = {1: "The one node", 2: "Both nodes"}.get(reached, f"All {reached} nodes")
        return f"{nodes} that batch {number} reached failed."
    if not here.well and (plan.unreached is None or not here.unreached) and not here.failed:
        return f"Batch {number} proves nothing: {_describe_untried(here)}."
    return ""


def _describe_untried(here: Counts) -> str:
    parts = [f"{counted(here.unreached, 'node')} could not be reached"] if here.unreached else []
    if here.aside:
        which = "has its agent" if here.aside == 1 else "have their agents"
        parts.append(f"{counted(here.aside, 'node')} {which}")
    return ", and ".join(parts)
