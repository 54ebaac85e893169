"""Values that nodes collect from each other: each `$collect` once for all nodes; cycles are found first."""

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from functools import cached_property
from typing import Any

import msgspec

from gitcfg.cel import OTHER_VARIABLES, Budget, CelProblem, CelStopped, compile_condition
from gitcfg.compile.declarations import Declarations, weigh
from gitcfg.compile.instances import has_marks
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import NodeDefinition, Roster
from gitcfg.compile.operations import (
    NAME,
    Collect,
    Collected,
    Lack,
    Step,
    Why,
    as_items,
    identity,
    parse_collect,
)
from gitcfg.compile.partial import MAX_WEIGHT
from gitcfg.compile.rules.evaluate import Candidate, Where, ask_condition, strip_frames
from gitcfg.compile.selection import Stopped
from gitcfg.compile.values import Misfit, is_presentable
from gitcfg.model import Binding, Op, Origin, Ref
from gitcfg.model.graph import components
from gitcfg.model.names import shown
from gitcfg.model.secrets import is_secret


class Link(msgspec.Struct, frozen=True):
    """A parameter of a node whose value is collected itself, with the place of that binding."""

    node: str
    param: str
    origin: Origin
    collect: Collect


class Needing:
    """The dependencies between `$collect`s: whose values another one may find, for any facts.

    `links` yields the further `$collect`s that the values of one come from.
    """

    def __init__(self, collects: Iterable[Collect], links: Callable[[Collect], Iterator[Link]]) -> None:
        self._links: dict[Collect, dict[Collect, Link]] = {collect: {} for collect in collects}
        todo = list(self._links)
        for collect in todo:
            for link in links(collect):
                if link.collect not in self._links:
                    self._links[link.collect] = {}
                    todo.append(link.collect)
                self._links[collect].setdefault(link.collect, link)

    def leading(self, collect: Collect) -> list[Collect]:
        """Return a `$collect` after all that it depends on, so that no deep recursion is necessary."""
        found, todo = set[Collect](), [collect]
        while todo:
            each = todo.pop()
            if each not in found:
                found.add(each)
                todo += self._links.get(each, ())
        return sorted(found, key=lambda each: self._order.get(each, 0))

    @cached_property
    def _components(self) -> list[tuple[Collect, ...]]:
        """All `$collect`s in components that depend on each other, each after those that it depends on."""
        # By numbers, since `Collect`s with absent fields cannot be sorted.
        listed = list(self._links)
        places = {collect: f"{place:09}" for place, collect in enumerate(listed)}
        edges = {places[one]: [places[other] for other in self._links[one]] for one in listed}
        return [tuple(listed[int(place)] for place in members) for members in components(edges)]

    @cached_property
    def _order(self) -> Mapping[Collect, int]:
        return {collect: place for place, members in enumerate(self._components) for collect in members}

    @cached_property
    def circles(self) -> Mapping[Collect, Collect]:
        """Each `$collect` on a cycle, with the one that represents its cycle."""
        return {
            collect: members[0]
            for members in self._components
            for collect in members
            if len(members) > 1 or collect in self._links[collect]
        }

    def around(self, first: Collect) -> list[Link]:
        """Return a shortest path from one `$collect` back to itself: each finds what the next collects."""
        came: dict[Collect, Link] = {}
        before: dict[Collect, Collect] = {}
        todo = deque([first])
        while first not in came:
            one = todo.popleft()
            for other, link in self._links[one].items():
                if other not in came:
                    came[other], before[other] = link, one
                    todo.append(other)
        way, at = [came[first]], before[first]
        while at != first:
            way.append(came[at])
            at = before[at]
        return way[::-1]


# The values that one `$collect` finds, by the facts that nodes must share: found once for all nodes.

KNOWN = {name: kind for name, kind in OTHER_VARIABLES.items() if name != "other.params"}
"""Conditions cannot read parameters of other nodes, which may be collected themselves."""
_A_NODE = 1_000
"""What each node may add on average, beyond the limit of one value.

It is needed because values collected from collected values grow with every step.
"""


class _Given(msgspec.Struct, frozen=True):
    """The values that nodes of a class give, and why some are missing, if so."""

    items: list[Any]
    weight: int = 0
    lack: Lack | None = None


class Index:
    """What is collected, by key.

    `problem` is why nothing can be collected, `failed` why not from some nodes, by name. If one node gives
    nothing because of `failed`, or because it could not collect itself (`lacking`), nothing is collected from
    nodes with its key: a part could be taken for the whole.
    """

    def __init__(
        self,
        collect: Collect,
        classes: Iterable[NodeClass],
        roster: Roster,
        lacking: Callable[[NodeClass, str], Lack | None],
    ) -> None:
        self.collect = collect
        self.failed: Mapping[str, CelProblem] = {}
        self.problem: CelProblem | None = None
        self._whole: Lack | None = None
        self._parts: dict[Hashable, Lack] = {}
        self._found: dict[Hashable, list[tuple[str, Any]]] = {}
        self._made: dict[Hashable, Collected] = {}
        having = [node_class for node_class in classes if collect.feature in node_class.features]
        nodes = {
            name: (node_class, roster.definition(name)) for node_class in having for name in node_class.names
        }
        chosen = self._chosen(nodes)
        for name in self.failed:
            self._lacks(find_key(collect, nodes[name][1]), Lack(Why.FAILED, collect))
        values = having if collect.param != NAME else ()
        self._fill(
            sorted(chosen),
            nodes,
            {id(node_class): _values(collect, node_class, lacking) for node_class in values},
        )

    def _fill(
        self,
        chosen: list[str],
        nodes: Mapping[str, tuple[NodeClass, NodeDefinition]],
        values: Mapping[int, _Given],
    ) -> None:
        left = MAX_WEIGHT + _A_NODE * len(nodes)
        for name in chosen:
            kind, definition = nodes[name]
            key = find_key(self.collect, definition)
            given = values.get(id(kind)) or _Given([name])
            if key is None:
                continue
            self._lacks(key, given.lack)
            left -= given.weight
            if left < 0:
                self._whole = Lack(Why.TOO_MUCH, self.collect)
                return
            self._found.setdefault(key, []).extend((name, item) for item in given.items)

    def _lacks(self, key: Hashable | None, lack: Lack | None) -> None:
        if key is not None and lack is not None:
            self._parts.setdefault(key, lack)

    def _chosen(self, nodes: Mapping[str, tuple[NodeClass, NodeDefinition]]) -> Iterable[str]:
        """Return the nodes for which the condition holds."""
        if self.collect.where is None:
            return nodes
        try:
            where = Where(compile_condition(self.collect.where, KNOWN), None)
        except CelProblem as problem:
            self.problem = strip_frames(problem)
            self._whole = Lack(Why.UNREADABLE, self.collect)
            return ()
        seen = [Candidate(name, definition, kind.features) for name, (kind, definition) in nodes.items()]
        answers = ask_condition(where, seen, Budget())
        self.failed = answers.failed
        return [one.name for one in answers.holding]

    def of(self, definition: NodeDefinition) -> Collected:
        """Return what a node collects; nothing if it lacks one of the facts."""
        key = find_key(self.collect, definition)
        if key not in self._made:
            lack = self._whole or self._parts.get(key)
            found = self._found.get(key, [])
            self._made[key] = self._collected(found) if lack is None else Collected(None, lack=lack)
        return self._made[key]

    def _collected(self, found: list[tuple[str, Any]]) -> Collected:
        if self.collect.sort != NAME:
            found = sorted(found, key=lambda item: (_text(item[1]), item[0]))
        nodes, items = tuple(dict.fromkeys(name for name, _ in found)), [item for _, item in found]
        if self.collect.one:
            lack = Lack(Why.NOT_ONE, self.collect, nodes, len(items))
            return Collected(items[0], nodes) if len(items) == 1 else Collected(None, nodes, lack)
        join = self.collect.join
        return Collected(items if join is None else join.join(map(_text, items)), nodes)


def find_key(collect: Collect, definition: NodeDefinition) -> Hashable | None:
    """Return the facts that nodes must share as a key; None if the node lacks one."""
    facts = [definition.facts[name].value for name in collect.same if name in definition.facts]
    known = len(facts) == len(collect.same) and None not in facts
    return tuple(map(identity, facts)) if known else None


def _values(
    collect: Collect, node_class: NodeClass, lacking: Callable[[NodeClass, str], Lack | None]
) -> _Given:
    """Return what nodes of a class give: the items of a list; nothing if it is unbound or a secret."""
    value = node_class.some((collect.param,)).get(collect.param)
    if is_secret(value):
        return _Given([], lack=Lack(Why.SECRET, collect))
    items = [item for item in ([] if value is None else as_items(value)) if is_presentable(item)]
    return _Given(items, weigh(items), lacking(node_class, collect.param))


def _text(value: Any) -> str:
    return value if isinstance(value, str) else msgspec.json.encode(value).decode()


# All that nodes collect from each other.


class Asking(msgspec.Struct, frozen=True):
    """A parameter that some nodes collect, and why they lack it, if so.

    `own`: the reason is in this `$collect` itself, not in one that it depends on.
    """

    param: str
    origin: Origin
    collect: Collect
    nodes: tuple[str, ...]
    lack: Lack | None = None
    own: bool = False


class Collecting:
    """Finds what nodes collect.

    `classes` returns all of the fleet; it is called only if something is collected.
    """

    def __init__(
        self,
        bindings: Iterable[tuple[str, Binding]],
        classes: Callable[[], tuple[NodeClass, ...]],
        roster: Roster,
        declarations: Declarations,
    ) -> None:
        self._said = list(bindings)
        self._classes = classes
        self._roster = roster
        self._declarations = declarations
        self._marked = any(has_marks(name) for name, _ in self._said)
        self._made = any(has_marks(bound.given) for _, bound in self._said)
        self._params = {name for name, _ in self._said}
        self._indexes: dict[Collect, Index] = {}
        self._fit: dict[tuple[str, int], tuple[Collected, Collected]] = {}

    @property
    def facts(self) -> frozenset[str]:
        """The facts by which nodes collect: nodes that differ in them may get different values."""
        return frozenset(name for collect in self.places for name in collect.same)

    @property
    def params(self) -> frozenset[str] | None:
        """The parameters whose values are collected; None: any may be, since instances complete the names."""
        return None if self._made else frozenset(collect.param for collect in self.places)

    @cached_property
    def places(self) -> Mapping[Collect, tuple[tuple[str, Origin], ...]]:
        """Every `$collect` as written, with the names that are bound to it and the places."""
        found: dict[Collect, list[tuple[str, Origin]]] = {}
        for name, bound in self._said:
            collect = _understood(bound)
            if collect is not None:
                found.setdefault(collect, []).append((name, bound.origin))
        return {collect: tuple(places) for collect, places in found.items()}

    def collect(
        self, definition: NodeDefinition, name: str, steps: Iterable[Step]
    ) -> Mapping[Hashable, Collected]:
        """Return what steps of a parameter collect on a node with this definition, by `Collect`."""
        if name not in self._params and not self._marked:
            return {}
        wanted = {step.given for step in steps if step.op is Op.COLLECT}
        return {collect: self._fitted(name, self._collected(collect, definition)) for collect in wanted}

    def _collected(self, collect: Collect, definition: NodeDefinition) -> Collected:
        first = self._needing.circles.get(collect)
        return self._circling[first] if first is not None else self.index(collect).of(definition)

    @cached_property
    def _circling(self) -> Mapping[Collect, Collected]:
        firsts = set(self._needing.circles.values())
        return {first: Collected(None, lack=Lack(Why.CIRCLE, first)) for first in firsts}

    def _fitted(self, name: str, found: Collected) -> Collected:
        """Return it as a value of the parameter's type, cached for all nodes; a misfit stays unchanged."""
        key = (name, id(found))
        if key not in self._fit:
            # The original is kept too, so that no other object gets its id.
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
        """Return the index of a `$collect` that is not on a cycle. Raise Stopped if it cannot be found."""
        if collect not in self._indexes:
            for each in self._needing.leading(collect):
                if each not in self._indexes and each not in self._needing.circles:
                    kinds = (
                        node_class for node_class in self._classes() if not node_class.definition.retired
                    )
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
        """Return the first place where something is collected."""
        if collect in self.places:
            return self.places[collect][0][1]
        return next(step.origin for _, _, step in self._find_steps() if step.given == collect)

    def indexes(self) -> Iterator[Index]:
        """Yield all indexes, even those that no node uses. Raise Stopped if one of them cannot be found."""
        for collect in dict.fromkeys((*self.written(), *self._of_instances)):
            if not self.circular(collect):
                yield self.index(collect)

    def _lack(self, node_class: NodeClass, name: str) -> Lack | None:
        """Return why a class lacks a parameter that it collects, or None."""
        step = self._step(node_class, name)
        return (
            self.collect(node_class.definition, name, (step,))[step.given].lack if step is not None else None
        )

    @cached_property
    def _needing(self) -> Needing:
        """The dependencies of all `$collect`s, as written and with instances' marks replaced."""
        return Needing([*self.places, *self._of_instances], self._links)

    @cached_property
    def _of_instances(self) -> Mapping[Collect, None]:
        """Every `$collect` after instances' marks are replaced."""
        return dict.fromkeys(step.given for _, _, step in self._find_steps()) if self._made else {}

    def _find_steps(self) -> Iterator[tuple[NodeClass, str, Step]]:
        """Yield the steps that collect and count, class by class."""
        for node_class in self._classes():
            for name in sorted({name for part in node_class.parts for name in part.pending}):
                step = self._step(node_class, name)
                if step is not None:
                    yield node_class, name, step

    def _links(self, collect: Collect) -> Iterator[Link]:
        if collect.param == NAME or (collect.param not in self._params and not self._marked):
            return
        for node_class in self._classes():
            step = self._step(node_class, collect.param) if collect.feature in node_class.features else None
            if step is not None:
                yield Link(node_class.names[0], collect.param, step.origin, step.given)

    def _step(self, node_class: NodeClass, name: str) -> Step | None:
        """Return the `$collect` of a parameter of a class, if any; it resets, so no other step counts."""
        cell = node_class.cell(name)
        return next((step for step in cell.steps if step.op is Op.COLLECT), None) if cell else None

    def around(self, lack: Lack) -> list[Link]:
        """Return the shortest cycle that prevents collecting, with a node for each step."""
        return self._needing.around(lack.collect)

    def asking(self) -> Iterator[Asking]:
        """Yield all that nodes collect, class by class."""
        circles = self._needing.circles
        for kind, name, step in self._find_steps():
            lack = self._lack(kind, name)
            own = lack is not None and circles.get(step.given, step.given) == lack.collect
            yield Asking(name, step.origin, step.given, tuple(kind.names), lack, own)

    def circular(self, collect: Collect) -> bool:
        """Return whether something is collected from itself, directly or not."""
        return collect in self._needing.circles

    def written(self) -> Mapping[Collect, tuple[tuple[str, Origin], ...]]:
        """Return every `$collect` as written, without those with instances' marks; with names and places."""
        return {
            collect: places for collect, places in self.places.items() if not has_marks(collect.written())
        }


def _understood(bound: Binding) -> Collect | None:
    """Return what a binding collects; None if it is not valid."""
    try:
        return parse_collect(bound.given)
    except Misfit:
        return None
