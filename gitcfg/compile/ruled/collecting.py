"""What nodes collect from each other: each `$collect` once for all of them, and none that needs itself."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.instances import marked
from gitcfg.compile.nodes import Roster
from gitcfg.compile.operations import Step
from gitcfg.compile.ruled.collect import NAME, Collect, Collected, collect_of
from gitcfg.compile.ruled.index import Index
from gitcfg.compile.values import Misfit
from gitcfg.graph import components
from gitcfg.model import Binding, Op, Origin

Bindings = tuple[tuple[str, Binding], ...]
_NOTHING = Collected(None)


class Round(msgspec.Struct, frozen=True):
    """What is collected in a circle, and where all of it is said; it is collected as nothing."""

    params: tuple[str, ...]
    origins: tuple[Origin, ...]


class Lacking(msgspec.Struct, frozen=True):
    """A parameter for which exactly one value is wanted where there are none, or several on these nodes."""

    param: str
    origin: Origin
    nodes: tuple[str, ...]
    found: tuple[str, ...]


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
        self._params = {name for name, _ in self._said}
        self._indexes: dict[Collect, Index] = {}
        self._fit: dict[tuple[str, int], tuple[Collected, Collected]] = {}

    @property
    def facts(self) -> frozenset[str]:
        """The facts by which nodes collect: those that differ in them may get different values."""
        wanted = (_understood(bound) for _, bound in self._said)
        return frozenset(name for collect in wanted if collect is not None for name in collect.same)

    def given(
        self, kind: NodeClass, name: str, steps: Iterable[Step] | None = None
    ) -> Mapping[Hashable, Collected]:
        """What the steps of a parameter collect on the nodes of a class; some of them, or all."""
        if name not in self._params and not self._marked:
            return {}
        all_steps = (step for step, _ in kind.steps(name)) if steps is None else steps
        wanted = {step.given for step in all_steps if step.op is Op.COLLECT}
        return {collect: self._fitted(name, self._collected(collect, kind)) for collect in wanted}

    def _collected(self, collect: Collect, kind: NodeClass) -> Collected:
        if collect in self._circular:
            return _NOTHING
        return self.index(collect).of(kind.said)

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
        """All that is found for a `$collect`."""
        if collect not in self._indexes:
            for each in self._leading(collect):
                if each not in self._indexes:
                    kinds = (kind for kind in self._classes() if not kind.said.retired)
                    self._indexes[each] = Index(each, kinds, self._roster)
        return self._indexes[collect]

    def _leading(self, collect: Collect) -> list[Collect]:
        """A `$collect` after all that it needs: one finds another ready, however many need each other."""
        found, todo = set[Collect](), [collect]
        while todo:
            each = todo.pop()
            if each not in found:
                found.add(each)
                todo += self._needs.get(each, ())
        return sorted(found, key=lambda each: self._order.get(each, 0))

    @cached_property
    def _places(self) -> dict[Collect, list[Origin]]:
        """Everything that is collected, with where that is said."""
        found: dict[Collect, list[Origin]] = {}
        for _, bound in self._said:
            for collect in _all(bound):
                found.setdefault(collect, []).append(bound.origin)
        return found

    @cached_property
    def _needs(self) -> dict[Collect, set[Collect]]:
        """For each `$collect` those on which the values depend that it may find, whatever facts say."""
        needs: dict[Collect, set[Collect]] = {collect: set() for collect in self._places}
        todo = list(needs)
        for collect in todo:
            for other in self._beneath(collect):
                if other not in needs:
                    needs[other] = set()
                    todo.append(other)
                needs[collect].add(other)
        return needs

    def _beneath(self, collect: Collect) -> Iterator[Collect]:
        if collect.param == NAME or (collect.param not in self._params and not self._marked):
            return
        for kind in self._classes():
            cell = kind.cell(collect.param) if collect.feature in kind.features else None
            yield from (step.given for step in cell.steps if step.op is Op.COLLECT) if cell else ()

    @cached_property
    def _components(self) -> list[tuple[Collect, ...]]:
        """All that is collected, what needs each other together, after what it needs."""
        # As numbers: what is collected has no order, as parts of it may be absent.
        listed = list(self._needs)
        places = {collect: f"{place:09}" for place, collect in enumerate(listed)}
        edges = {places[one]: [places[other] for other in self._needs[one]] for one in listed}
        return [tuple(listed[int(place)] for place in members) for members in components(edges)]

    @cached_property
    def _order(self) -> Mapping[Collect, int]:
        return {collect: place for place, members in enumerate(self._components) for collect in members}

    @cached_property
    def _circles(self) -> tuple[tuple[Collect, ...], ...]:
        return tuple(some for some in self._components if len(some) > 1 or some[0] in self._needs[some[0]])

    @cached_property
    def _circular(self) -> frozenset[Collect]:
        return frozenset(collect for members in self._circles for collect in members)

    def rounds(self) -> Iterator[Round]:
        """What is collected in circles."""
        for members in self._circles:
            params = {collect.param for collect in members}
            said = [(name, bound) for name, bound in self._said if name in params or "${" in name]
            within = [(name, bound.origin) for name, bound in said if _understood(bound) in members]
            names = tuple(sorted({name for name, _ in within}))
            yield Round(names, tuple(sorted(origin for _, origin in within)))

    def indexes(self) -> Iterator[tuple[Index, tuple[Origin, ...]]]:
        """All that is collected, with where that is said: conditions of some may have failed."""
        for collect, origins in self._places.items():
            yield self.index(collect), tuple(origins)

    def lacking(self) -> Iterator[Lacking]:
        """Where not exactly one value was found where one is wanted."""
        for kind in self._classes():
            names = kind.stack.cells.keys() if self._marked else self._params & kind.stack.cells.keys()
            for name in sorted(names):
                for step in kind.stack.cells[name].steps:
                    if step.op is Op.COLLECT and step.given.one and step.given not in self._circular:
                        found = self.index(step.given).of(kind.said)
                        if found.value is None:
                            yield Lacking(name, step.origin, tuple(kind.names), found.nodes)


def _understood(bound: Binding) -> Collect | None:
    return next(_all(bound), None)


def _all(bound: Binding) -> Iterator[Collect]:
    """What a binding collects; nothing where that is not understood."""
    try:
        yield collect_of(bound.given)
    except Misfit:
        return
