"""What nodes collect from each other: each `$collect` once for all of them, and none that needs itself."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from gitcfg.cel import CelStopped
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.instances import marked
from gitcfg.compile.nodes import Roster, Said
from gitcfg.compile.operations import Step
from gitcfg.compile.ruled.collect import NAME, Collect, Collected, Lack, Why, collect_of
from gitcfg.compile.ruled.index import Index
from gitcfg.compile.ruled.needing import Link, Needing
from gitcfg.compile.stopped import Stopped
from gitcfg.compile.values import Misfit
from gitcfg.model import Binding, Op, Origin, Ref
from gitcfg.model.names import shown

Bindings = tuple[tuple[str, Binding], ...]


class Asking(msgspec.Struct, frozen=True):
    """A parameter that some nodes collect, and why they have it not if so.

    `own`: it is this that cannot be collected, and not merely what it is made of.
    """

    param: str
    origin: Origin
    collect: Collect
    nodes: tuple[str, ...]
    lack: Lack | None = None
    own: bool = False


class Collecting:
    """Finds what nodes collect. `classes` are all there are, asked for only when something is collected."""

    def __init__(
        self,
        bindings: Bindings,
        classes: Callable[[], tuple[NodeClass, ...]],
        roster: Roster,
        declarations: Declarations,
    ) -> None:
        self._said = [(name, bound) for name, bound in bindings if bound.op is Op.COLLECT]
        self._classes = classes
        self._roster = roster
        self._declarations = declarations
        self._marked = any(marked(name) for name, _ in self._said)
        self._made = any(marked(bound.given) for _, bound in self._said)
        self._params = {name for name, _ in self._said}
        self._indexes: dict[Collect, Index] = {}
        self._fit: dict[tuple[str, int], tuple[Collected, Collected]] = {}

    @property
    def facts(self) -> frozenset[str]:
        """The facts by which nodes collect: those that differ in them may get different values."""
        return frozenset(name for collect in self.places for name in collect.same)

    @property
    def params(self) -> frozenset[str] | None:
        """The parameters whose values are collected; None: it may be any, as instances say it."""
        return None if self._made else frozenset(collect.param for collect in self.places)

    @cached_property
    def places(self) -> Mapping[Collect, tuple[tuple[str, Origin], ...]]:
        """Everything that is collected, with the names that are bound to it, and where."""
        found: dict[Collect, list[tuple[str, Origin]]] = {}
        for name, bound in self._said:
            collect = _understood(bound)
            if collect is not None:
                found.setdefault(collect, []).append((name, bound.origin))
        return {collect: tuple(places) for collect, places in found.items()}

    def collect(self, said: Said, name: str, steps: Iterable[Step]) -> Mapping[Hashable, Collected]:
        """Return what steps of a parameter collect on a node of which this is said, by what that is."""
        if name not in self._params and not self._marked:
            return {}
        wanted = {step.given for step in steps if step.op is Op.COLLECT}
        return {collect: self._fitted(name, self._collected(collect, said)) for collect in wanted}

    def _collected(self, collect: Collect, said: Said) -> Collected:
        first = self._needing.circles.get(collect)
        return self._circling[first] if first is not None else self.index(collect).of(said)

    @cached_property
    def _circling(self) -> Mapping[Collect, Collected]:
        firsts = set(self._needing.circles.values())
        return {first: Collected(None, lack=Lack(Why.CIRCLE, first)) for first in firsts}

    def _fitted(self, name: str, found: Collected) -> Collected:
        """As a value of the parameter's type, made once for all that collect it; what does not fit stays."""
        key = (name, id(found))
        if key not in self._fit:
            # With what it was made of: as long as that is held its id is no other's.
            self._fit[key] = (found, self._as_value(name, found))
        return self._fit[key][1]

    def _as_value(self, name: str, found: Collected) -> Collected:
        if found.value is None:
            return found
        try:
            value = self._declarations.value(name, found.value)
        except Misfit:
            return found
        return Collected(value, found.nodes)

    def index(self, collect: Collect) -> Index:
        """All that is found for a `$collect` that lies on no circle. Stopped: that cannot be found."""
        if collect not in self._indexes:
            for each in self._needing.leading(collect):
                if each not in self._indexes and each not in self._needing.circles:
                    kinds = (kind for kind in self._classes() if not kind.said.retired)
                    self._indexes[each] = self._index(each, kinds)
        return self._indexes[collect]

    def _index(self, collect: Collect, kinds: Iterable[NodeClass]) -> Index:
        try:
            return Index(collect, kinds, self._roster, self._lack)
        except CelStopped as problem:
            what = f"The `where` of what is collected of {shown(collect.param)}"
            at = Ref(collect.where or "", self._place(collect))
            raise Stopped(what, problem, collect.param, at) from None

    def _place(self, collect: Collect) -> Origin:
        """Where something is collected first."""
        if collect in self.places:
            return self.places[collect][0][1]
        return next(step.origin for _, _, step in self._asked() if step.given == collect)

    def indexes(self) -> Iterator[Index]:
        """All that can be found, also what no node has. Stopped: some of it cannot be found."""
        for collect in dict.fromkeys((*self.written(), *self._as_made)):
            if not self.circular(collect):
                yield self.index(collect)

    def _lack(self, kind: NodeClass, name: str) -> Lack | None:
        """Why a class has no value of a parameter although it collects one."""
        step = self._step(kind, name)
        return self.collect(kind.said, name, (step,))[step.given].lack if step is not None else None

    @cached_property
    def _needing(self) -> Needing:
        """Of what is collected as it is written, and as instances say it."""
        return Needing([*self.places, *self._as_made], self._links)

    @cached_property
    def _as_made(self) -> Mapping[Collect, None]:
        """What is collected as instances say it."""
        return dict.fromkeys(step.given for _, _, step in self._asked()) if self._made else {}

    def _asked(self) -> Iterator[tuple[NodeClass, str, Step]]:
        """The steps that collect and count, class by class."""
        for kind in self._classes():
            for name in sorted({name for part in kind.parts for name in part.pending}):
                step = self._step(kind, name)
                if step is not None:
                    yield kind, name, step

    def _links(self, collect: Collect) -> Iterator[Link]:
        if collect.param == NAME or (collect.param not in self._params and not self._marked):
            return
        for kind in self._classes():
            step = self._step(kind, collect.param) if collect.feature in kind.features else None
            if step is not None:
                yield Link(kind.names[0], collect.param, step.origin, step.given)

    def _step(self, kind: NodeClass, name: str) -> Step | None:
        """The step that collects what a class has of a parameter: it resets, so that no other one counts."""
        cell = kind.cell(name)
        return next((step for step in cell.steps if step.op is Op.COLLECT), None) if cell else None

    def around(self, lack: Lack) -> list[Link]:
        """The shortest circle for which something cannot be collected, with a node for each step."""
        return self._needing.around(lack.collect)

    def asking(self) -> Iterator[Asking]:
        """All that nodes collect, class by class."""
        circles = self._needing.circles
        for kind, name, step in self._asked():
            lack = self._lack(kind, name)
            own = lack is not None and circles.get(step.given, step.given) == lack.collect
            yield Asking(name, step.origin, step.given, tuple(kind.names), lack, own)

    def circular(self, collect: Collect) -> bool:
        """Is something collected, however far, from itself?"""
        return collect in self._needing.circles

    def written(self) -> Mapping[Collect, tuple[tuple[str, Origin], ...]]:
        """What is collected as it is written, not as an instance says it; with names and places."""
        return {collect: places for collect, places in self.places.items() if not marked(collect.written())}


def _understood(bound: Binding) -> Collect | None:
    """What a binding collects; None where that is not understood."""
    try:
        return collect_of(bound.given)
    except Misfit:
        return None
