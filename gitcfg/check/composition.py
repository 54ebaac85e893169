"""GC509: values that undo others' work."""

from collections.abc import Iterable, Iterator

import msgspec

from gitcfg.check.fold import of
from gitcfg.check.places import bindings
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import Step, resets
from gitcfg.compile.partial import Partial
from gitcfg.compile.surface import Surface, Surfaces
from gitcfg.model import Finding, Op, Origin

_COMPOSING = frozenset({Op.APPEND, Op.PREPEND, Op.AND, Op.OR, Op.MERGE})


def _with(fleet: Fleet, ops: frozenset[Op]) -> set[str]:
    """Parameters that some binding composes so."""
    return {name for name, binding in bindings(fleet) if binding.op in ops}


class _Head(msgspec.Struct, frozen=True):
    """What a layer does to what lies below it, of the parameters in which composing steps occur.

    `sets`: where the first step that resets is a plain value; `closed` and `composing` are masks: where
    some step resets, and where one that acts at the end composes. `inside`: plain values in the layer that
    discard what the layer itself composed, each with where that is.
    """

    sets: dict[str, Origin]
    setting: int
    closed: int
    composing: int
    inside: tuple[tuple[str, Origin, tuple[Origin, ...]], ...]


class Discards:
    """GC509: a plain value above steps that composed something."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces) -> None:
        self._surfaces = surfaces
        self._names = _with(fleet, _COMPOSING)
        self._heads: dict[int, tuple[Partial, _Head]] = {}
        self._told: dict[tuple[str, Origin, tuple[Origin, ...]], list[str]] = {}

    def see(self, kind: NodeClass, surface: Surface) -> Iterable[Finding]:
        if not self._names:
            return ()
        below = 0
        for place, part in enumerate(kind.parts):
            head = self._head(part)
            for name in self._surfaces.params.of(below & head.setting):
                composed = self._composed(kind.parts[:place], name)
                self._told.setdefault((name, head.sets[name], composed), []).extend(kind.names)
            for event in head.inside:
                self._told.setdefault(event, []).extend(kind.names)
            below = below & ~head.closed | head.composing
        return ()

    def end(self) -> Iterator[Finding]:
        hint = "Compose with it, as $and, $append or $merge do, or take the lower operations away."
        for (name, origin, composed), nodes in self._told.items():
            message = f"This plain value of {name} discards what lower layers composed."
            yield of("GC509", name, message, [origin, *composed], nodes, hint)

    def _composed(self, parts: tuple[Partial, ...], name: str) -> tuple[Origin, ...]:
        """Where the steps are that act on a parameter in these layers and compose."""
        acting: list[Step] = []
        for cell in (part.cells[name] for part in parts if name in part.cells):
            acting = [*cell.steps] if cell.closed else [*acting, *cell.steps]
        return _composing(acting)

    def _head(self, part: Partial) -> _Head:
        known = self._heads.get(id(part))
        if known is None:
            known = self._heads[id(part)] = (part, self._found(part))
        return known[1]

    def _found(self, part: Partial) -> _Head:
        sets: dict[str, Origin] = {}
        inside: list[tuple[str, Origin, tuple[Origin, ...]]] = []
        names = [name for name in part.cells if name in self._names]
        for name in names:
            steps = [step for step, _ in part.steps(name)]
            first = next(filter(resets, steps), None)
            if first is not None and first.op is Op.SET:
                sets[name] = first.origin
            inside += ((name, *event) for event in _discarding(steps))
        mask = self._surfaces.params.mask
        return _Head(
            sets,
            mask(sets),
            mask(name for name in names if part.cells[name].closed),
            mask(name for name in names if _composing(part.cells[name].steps)),
            tuple(inside),
        )


def _composing(steps: Iterable[Step]) -> tuple[Origin, ...]:
    return tuple(step.origin for step in steps if step.op in _COMPOSING)


def _discarding(steps: Iterable[Step]) -> Iterator[tuple[Origin, tuple[Origin, ...]]]:
    """The plain values among steps that find something composed below, and where."""
    acting: list[Step] = []
    for step in steps:
        composed = _composing(acting)
        if step.op is Op.SET and composed:
            yield step.origin, composed
        acting = [step] if resets(step) else [*acting, step]
