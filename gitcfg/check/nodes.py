"""GC301 to GC305: features and parameters of a node that are missing, conflict, or must be changed."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from typing import Any

import msgspec
from msgspec.structs import replace

from gitcfg.cel import NODE_VARIABLES, CelProblem, CelStopped, Condition, compile_condition, find_members
from gitcfg.check.findings import Tally, of
from gitcfg.check.structure import Demands, listed
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.nodes import NodeDefinition
from gitcfg.compile.operations import NOTHING, PENDING
from gitcfg.compile.partial import Cell
from gitcfg.compile.selection import NodeView, Selection, Stopped, evaluate_condition
from gitcfg.compile.surface import Surface, Surfaces, Suspects
from gitcfg.git.tree import Tree
from gitcfg.load.document import find_in_scalar
from gitcfg.model import Finding, Model, Origin, Ref
from gitcfg.model.names import shown


class Relations:
    """The checks of what nodes lack, and of what conflicts on them."""

    def __init__(self, fleet: Fleet, surfaces: Surfaces) -> None:
        self.fleet = fleet
        self.model: Model = fleet.model
        self.surfaces = surfaces
        self.tally = Tally()
        features = self.model.features.values()
        self.depending = frozenset(feature.name for feature in features if feature.depends)
        self.conflicting = frozenset(feature.name for feature in features if feature.conflicts)
        self.features = Demands(surfaces.features, self.model.features.get, self.model.features)
        self.params = Demands(surfaces.params, fleet.declarations.find, self.model.parameters)
        self.marked = surfaces.params.among(
            name for feature in features for name in feature.params if "${" in name
        )
        find = fleet.declarations.find
        wanted = (name for name in surfaces.params.names if (one := find(name)) and one.must_change)
        self.unchanged = Suspects(surfaces, lambda name, cell: _blank(cell.value), frozenset(wanted))

    def see(self, node_class: NodeClass, surface: Surface) -> Iterator[Finding]:
        if self.features.missing(surface.features):
            yield from self._missing_features(node_class)
        if self.features.clashing(surface.features):
            yield from self._clashing_features(node_class)
        for name in sorted(self.surfaces.params.of(surface.bound & self.marked)):
            message = (
                f"{shown(name)!r} is only valid in an instance, but the feature is installed without one."
            )
            hint = "Install it with `as:` or `with:`."
            yield of("GC103", name, message, self._bound_at(node_class, name), hint=hint)
        for name, needers in self.params.missing(surface.bound):
            yield self._unbound(node_class, name, needers)
        for pair, refs in self.params.clashing(surface.bound):
            yield self._conflict(node_class, pair, refs)
        yield from self._unchanged(node_class, surface)

    def end(self) -> Iterable[Finding]:
        return self.tally.findings()

    def _missing_features(self, node_class: NodeClass) -> Iterator[Finding]:
        """Yield GC301."""
        for name, needers in self._missing(node_class.features).items():
            sources = listed(sorted({needer for needer, _ in needers}))
            verb = "depends" if len({needer for needer, _ in needers}) == 1 else "depend"
            message = f"The feature {name} is missing: {sources} {verb} on it."
            hint = f"Add {name} to the nodes or to one of their groups."
            places = [o for needer, _ in needers for o in installed(node_class, self.model, needer)]
            lists = Counter(place.file for place in places)  # people edit lists more often
            places.sort(key=lambda place: -lists[place.file])
            yield of("GC301", name, message, [*places, *(o for _, o in needers)], node_class.names, hint)

    def _clashing_features(self, node_class: NodeClass) -> Iterator[Finding]:
        """Yield GC302."""
        for pair, origins in self._clashes(node_class.features).items():
            places = [o for name in pair for o in installed(node_class, self.model, name)]
            message = f"The features {listed(pair)} conflict."
            hint = "Remove one of them from its list, or add it to `without:` of the nodes or their set."
            yield of("GC302", pair, message, [*places, *origins], node_class.names, hint)

    def _missing(self, have: frozenset[str]) -> Mapping[str, list[tuple[str, Origin]]]:
        """Return the missing features by name, with the features that depend on them and the places."""
        result: dict[str, list[tuple[str, Origin]]] = {}
        todo = sorted(have & self.depending)
        while todo:
            needer = todo.pop(0)
            for ref in self.model.features[needer].depends:
                if ref.name in have or ref.name not in self.model.features:
                    continue
                if ref.name not in result:
                    todo.append(ref.name)
                result.setdefault(ref.name, []).append((needer, ref.origin))
        return result

    def _clashes(self, have: frozenset[str]) -> Mapping[tuple[str, str], list[Origin]]:
        result: dict[tuple[str, str], list[Origin]] = {}
        for name in sorted(have & self.conflicting):
            for ref in self.model.features[name].conflicts:
                if ref.name in have and ref.name != name:
                    pair = (min(name, ref.name), max(name, ref.name))
                    result.setdefault(pair, []).append(ref.origin)
        return result

    def _unchanged(self, node_class: NodeClass, surface: Surface) -> Iterator[Finding]:
        """Yield GC305."""
        for name in self.unchanged.of(node_class, surface):
            cell = self.surfaces.cell(node_class, name)
            self.tally.add(name, cell, node_class.names, partial(self._unchanged_findings, name, cell))
        for name in self.surfaces.params.of(surface.pending):
            parameter, cell = self.fleet.declarations.find(name), self.surfaces.cell(node_class, name)
            waits = parameter is not None and parameter.must_change and cell.value is PENDING
            if waits and _blank(
                node_class.composed(name, cell)
            ):  # a missing value is reported where it is collected
                yield from (
                    replace(finding, nodes=tuple(node_class.names))
                    for finding in self._unchanged_findings(name, cell)
                )

    def _unchanged_findings(self, name: str, cell: Cell) -> Iterator[Finding]:
        parameter = self.fleet.declarations.find(name)
        assert parameter is not None
        message = f"{name} needs a value, because it has `must_change`."
        yield of("GC305", name, message, [*cell.origins, parameter.origin], hint=parameter.description)

    def _conflict(
        self, node_class: NodeClass, pair: tuple[str, ...], said: Iterable[tuple[str, Origin]]
    ) -> Finding:
        """Return GC304."""
        origins = []
        for name, origin in said:
            other = pair[1] if name == pair[0] else pair[0]
            origins += [*self._bound_at(node_class, name), *self._bound_at(node_class, other), origin]
        hint = "Remove one of them where it is set, or unset it in a higher layer with {$unset: true}."
        return of("GC304", pair, f"The parameters {listed(pair)} conflict.", origins, node_class.names, hint)

    def _unbound(self, node_class: NodeClass, name: str, needers: list[tuple[str, Origin]]) -> Finding:
        """Return GC303."""
        sources = listed(sorted({needer for needer, _ in needers}))
        verb = "depends" if len({needer for needer, _ in needers}) == 1 else "depend"
        message = f"The parameter {name} is not set: {sources} {verb} on it."
        origins = [o for needer, _ in needers for o in self._bound_at(node_class, needer)]
        origins += [o for _, o in needers]
        return of(
            "GC303", name, message, origins, node_class.names, f"Set {name}, or bind it to its default: null."
        )

    def _bound_at(self, node_class: NodeClass, name: str) -> list[Origin]:
        return self.surfaces.cell(node_class, name).origins


def _blank(value: Any) -> bool:
    return value is None or (value in ("", [], {}) and value is not NOTHING)


def installed(node_class: NodeClass, model: Model, feature: str) -> Iterable[Origin]:
    """Return the places where lists of a class name a feature, or one that includes it."""
    said, reaches = node_class.definition, node_class.layers.reaches
    groups = (*(ref.name for ref in said.groups), model.settings.default_group)
    uses = [use for name in groups if name in model.groups for use in model.groups[name].features]
    uses += [use for use, _ in said.features]
    uses += [use for override in node_class.overrides for use in override.features]
    uses += [use for by_rule in node_class.effects.installs for use in by_rule.uses]
    return [use.origin for use in uses if use.feature == feature or reaches.leads(use.feature, feature)]


# The nodes of some classes that a condition selects: evaluated once for all nodes that are alike to it.

_OWN = ("node.name", "node.labels", "node.facts")
"""What may differ between nodes of one class."""


def chosen(fleet: Fleet, where: Ref, kinds: Iterable[NodeClass]) -> Selection:
    """Return the nodes of some classes that a condition selects.

    It is evaluated once for classes that are alike to it, unless it reads what nodes of a class differ in.
    """
    scope = _compiled(where.name)
    if isinstance(scope, CelProblem):
        return Selection(problem=scope)
    if not scope.condition.names.isdisjoint(_OWN):
        every = [
            scope.view(name, fleet.roster.definition(name), node_class)
            for node_class in kinds
            for name in node_class.names
        ]
        return _select(scope.condition, every)
    alike: dict[object, list[NodeClass]] = {}
    for node_class in kinds:
        alike.setdefault(scope.key(node_class), []).append(node_class)
    firsts = {same[0].names[0]: same for same in alike.values()}
    found = _select(
        scope.condition, [scope.view(name, same[0].definition, same[0]) for name, same in firsts.items()]
    )
    names = frozenset(
        other for name in found.names for node_class in firsts[name] for other in node_class.names
    )
    failed = {
        other: problem
        for name, problem in found.failed.items()
        for node_class in firsts[name]
        for other in node_class.names
    }
    return Selection(names, failed)


def _select(condition: Condition, nodes: Sequence[NodeView]) -> Selection:
    """Return the selected nodes. A condition that is stopped selects none, and fails on all."""
    try:
        return evaluate_condition(condition, nodes)
    except CelStopped as problem:
        return Selection(failed=dict.fromkeys([node.name for node in nodes], CelProblem(*problem.args)))


class _ConditionScope(msgspec.Struct, frozen=True):
    """A condition, with the features and groups that it looks for; None: it may read all of them.

    Nearly every `for` is `"NAME" in node.features`. 6,878 classes are then alike to it, while each class
    alone, with all its features, takes 40 us and 8 KiB.
    """

    condition: Condition
    features: frozenset[str] | None
    groups: frozenset[str] | None

    def key(self, node_class: NodeClass) -> object:
        """Return a key that is equal for classes on which the condition has the same result."""
        if "node.params" in self.condition.names:
            return id(node_class)
        groups = (ref.name for ref in node_class.definition.groups)
        some = self.groups
        return self.had(node_class), tuple(
            groups if some is None else [name for name in groups if name in some]
        )

    def had(self, node_class: NodeClass) -> Collection[str]:
        """Return those features of a class that it looks for."""
        if self.features is None:
            return node_class.features
        return tuple(
            [name for name in self.features if any(name in part.features for part in node_class.parts)]
        )

    def view(self, name: str, definition: NodeDefinition, node_class: NodeClass) -> NodeView:
        """Return the view of a node for the condition."""
        return NodeView(name, definition, lambda: self.had(node_class), lambda: node_class.params)


@lru_cache(maxsize=256)  # many secrets are for the same nodes
def _compiled(text: str) -> _ConditionScope | CelProblem:
    try:
        condition = compile_condition(text, NODE_VARIABLES)
    except CelProblem as problem:
        return CelProblem(*problem.args)  # without its traceback's frames
    features, groups = (find_members(condition, name) for name in ("node.features", "node.groups"))
    return _ConditionScope(condition, features, groups)


# Errors of conditions: those that cannot be read (GC102), and nodes on which one fails (GC408).


def unreadable(tree: Tree, where: Ref, problem: CelProblem) -> Finding:
    """Return the finding for a condition that cannot be read."""
    message = f"The condition cannot be read: {problem.message}"
    place = find_in_scalar(tree, where, problem.line, problem.column)
    return of("GC102", where.origin.file, message, [place], hint=problem.hint)


def stopped(tree: Tree, found: Stopped) -> Finding:
    """Return the finding for an expression that did not finish, so that it is not known where it is true."""
    message = f"{found.what} fails: {found.problem.message}"
    places = (
        [] if found.at is None else [find_in_scalar(tree, found.at, found.problem.line, found.problem.column)]
    )
    return of("GC408", found.owner, message, places, hint=found.problem.hint)


def failing(tree: Tree, owner: str, where: Ref, selection: Selection) -> Iterator[Finding]:
    """Yield the nodes on which the condition of an override or a hold cannot be evaluated."""
    alike: dict[tuple[Any, ...], list[str]] = {}  # the search for places is slow
    for name, problem in selection.failed.items():
        alike.setdefault(problem.args, []).append(name)
    for (said, line, column, hint), names in alike.items():
        place = find_in_scalar(tree, where, line, column)
        yield of("GC408", owner, f"The condition of {owner} fails: {said}", [place], names, hint)
