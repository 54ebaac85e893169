"""GC508, GC509: operations that do nothing, and values that undo others' work."""

from collections.abc import Iterator

from gitcfg.check.fold import of
from gitcfg.check.places import bindings
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import NOTHING, Step, apply, resets
from gitcfg.model import Finding, Op, Origin

_COMPOSING = frozenset({Op.APPEND, Op.PREPEND, Op.AND, Op.OR, Op.MERGE})


def composition(fleet: Fleet) -> Iterator[Finding]:
    """Composing steps that come to nothing on the nodes that have them."""
    if fleet.names:
        yield from _idle_removals(fleet)
        yield from _discarded(fleet)


def _idle_removals(fleet: Fleet) -> Iterator[Finding]:
    """GC508: a $remove that finds nothing to remove on any node that has it."""
    idle: dict[tuple[str, Origin], list[str]] = {}
    busy: set[tuple[str, Origin]] = set()
    names = _with(fleet, frozenset({Op.REMOVE}))
    for kind in fleet.judged:
        for name in names & kind.stack.cells.keys():
            for origin, removed in _removals(kind, name):
                if removed:
                    busy.add((name, origin))
                else:
                    idle.setdefault((name, origin), []).extend(kind.names)
    for (name, origin), nodes in idle.items():
        if (name, origin) not in busy:
            yield of("GC508", name, f"This $remove takes nothing away from {name}.", [origin], nodes)


def _with(fleet: Fleet, ops: frozenset[Op]) -> set[str]:
    """Parameters that some binding composes so."""
    return {name for name, binding in bindings(fleet) if binding.op in ops}


def _removals(kind: NodeClass, name: str) -> Iterator[tuple[Origin, bool]]:
    steps = kind.stack.cells[name].steps
    if all(step.op is not Op.REMOVE for step in steps):
        return
    facts = kind.facts(name) if name in kind.stack.pending else {}
    below: object = NOTHING
    for step in steps:
        above = apply(step, below, facts)
        if step.op is Op.REMOVE:
            yield step.origin, above != ([] if below in (NOTHING, None) else below)
        below = above


def _discarded(fleet: Fleet) -> Iterator[Finding]:
    """GC509: a plain value above steps that composed something."""
    names = _with(fleet, _COMPOSING)
    for kind in fleet.judged:
        for name in sorted(names & kind.stack.cells.keys()):
            yield from _discarding(kind, name)


def _discarding(kind: NodeClass, name: str) -> Iterator[Finding]:
    acting: list[Step] = []
    for step, _ in kind.stack.steps(name):
        composed = [lower.origin for lower in acting if lower.op in _COMPOSING]
        if step.op is Op.SET and composed:
            message = f"This plain value of {name} discards what lower layers composed."
            hint = "Compose with it, as $and, $append or $merge do, or take the lower operations away."
            yield of("GC509", name, message, [step.origin, *composed], kind.names, hint)
        acting = [step] if resets(step) else [*acting, step]
