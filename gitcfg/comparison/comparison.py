"""Two fleets compared: which nodes change in which way, and what must restart."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import unified_diff
from functools import cached_property
from typing import overload

import msgspec

import gitcfg.progress as progress
from gitcfg.comparison.change import Actions, Change, Delta, Kind, came_and_went, deltas
from gitcfg.comparison.files import Files, Pair, Side, differ
from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.operations import TrailStep
from gitcfg.compile.partial import Cell, Partial
from gitcfg.model import Subsystem
from gitcfg.model.graph import reach
from gitcfg.model.names import selects
from gitcfg.render.files import RenderedFile, find_subsystems


class Consequences:
    """Judgement of changes by the subsystems of the new fleet (semantics: Comparing two versions)."""

    def __init__(self, old: Fleet, new: Fleet) -> None:
        self.old = old
        self.new = new
        mentioned = (found.features or () for found in new.model.subsystems.values())
        self._mentioned = frozenset(ref.name for refs in mentioned for ref in refs)
        self._taken = {
            name: tuple(ref.name for ref in found.params) for name, found in new.model.subsystems.items()
        }
        self._interests: dict[str, tuple[tuple[str, ...], bool]] = {}
        self._known: dict[object, Actions] = {}

    def of(
        self, old: FleetNode | None, new: FleetNode | None, params: Iterable[str], files: Iterable[str]
    ) -> Actions:
        """Return the actions due on a node; none on one that is gone."""
        if new is None:
            return Actions()
        params, files = tuple(params), tuple(files)
        key = (self._having(old), self._having(new), params, files)
        if key not in self._known:
            self._known[key] = self._judged(old, new, params, files)
        return self._known[key]

    def _having(self, node: FleetNode | None) -> object:
        """Return the part of a node that decides which subsystems it has."""
        return node and (node.definition.retired, node.node_class.features & self._mentioned)

    def _judged(
        self, old: FleetNode | None, new: FleetNode, params: tuple[str, ...], files: tuple[str, ...]
    ) -> Actions:
        here = find_subsystems(self.new, new)
        before = find_subsystems(self.new, old) if old is not None else {}
        taking = [self._interest(name) for name in params]
        touched = {name for names, _ in taking for name in names}
        restarting = {name for names, restart in taking if restart for name in names}
        concerned = [
            name
            for name, found in here.items()
            if name in touched or any(selects(found.files, path) for path in files)
        ]
        wanting = [name for name in concerned if name in restarting]
        restart, restarted = choose_restarts(wanting, here)
        reload = [name for name in concerned if name not in restarted]
        return Actions(restart, tuple(reload), tuple(sorted(before.keys() - here.keys())))

    def _interest(self, param: str) -> tuple[tuple[str, ...], bool]:
        """Return the subsystems that read a parameter, on any node, and whether they must restart for it.

        Cached for each parameter: 8,000 nodes of 500 parameters and 20 subsystems took 10 ms each.
        """
        if param not in self._interests:
            names = tuple(name for name, taken in self._taken.items() if selects(taken, param))
            self._interests[param] = names, bool(names) and self._needs_restart(param)
        return self._interests[param]

    def _needs_restart(self, param: str) -> bool:
        """Return what the new fleet declares or, if it does not declare the parameter, the old one."""
        declared = self.new.declarations.find(param) or self.old.declarations.find(param)
        return declared is not None and declared.restart


def choose_restarts(
    wanting: Iterable[str], here: Mapping[str, Subsystem]
) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the fewest restarts that restart all of `wanting`, and everything that these restart.

    Of subsystems that cover each other the first in order of name is restarted.
    """
    wanting = sorted(wanting)
    covers = reach({name: _covered(found, here) for name, found in here.items()})
    chosen = tuple(
        name
        for name in wanting
        if not any(
            covers.leads(other, name) and (other < name or not covers.leads(name, other))
            for other in wanting
            if other != name
        )
    )
    return chosen, covers.closed(chosen)


def _covered(subsystem: Subsystem, here: Mapping[str, Subsystem]) -> list[str]:
    patterns = tuple(ref.name for ref in subsystem.covers)
    return [name for name in here if name != subsystem.name and selects(patterns, name)]


# Which parameters can differ between two classes: layers with the same content need no comparison.


class Differing:
    """Comparison of the layers of two fleets, each pair once for all classes that have it."""

    def __init__(self, old: Fleet, new: Fleet) -> None:
        self._alike = _unique(old) == _unique(new)
        self._known: dict[tuple[int, int], tuple[Partial, Partial, frozenset[str]]] = {}

    def names(self, old: NodeClass, new: NodeClass) -> Iterable[str] | None:
        """Return the parameters whose final values may differ; None: any.

        Names are known only if both classes have the same layers in the same order.
        """
        labels = [part.label for part in old.parts]
        if not self._alike or labels != [part.label for part in new.parts]:
            return None
        found: set[str] = set()
        for before, after in zip(old.parts, new.parts, strict=True):
            found |= self._between(before, after)
        collecting = any(kind.layers.collector is not None for kind in (old, new))
        if collecting or old.definition.facts != new.definition.facts:  # others may have other values
            found.update(*(part.pending for part in (*old.parts, *new.parts)))
        return found

    def _between(self, before: Partial, after: Partial) -> frozenset[str]:
        key = (id(before), id(after))
        if key not in self._known:
            names = before.cells.keys() | after.cells.keys()
            differ = (name for name in names if not _same(before.cells.get(name), after.cells.get(name)))
            self._known[key] = (before, after, frozenset(differ))
        return self._known[key][2]


def _same(before: Cell | None, after: Cell | None) -> bool:
    """Return whether two cells have the same effect on the layers below. 1, 1.0 and true differ."""
    if before is None or after is None:
        return False
    return [(step.op, repr(step.given)) for step in before.steps] == [
        (step.op, repr(step.given)) for step in after.steps
    ]


def _unique(fleet: Fleet) -> dict[str, bool]:
    """Return the declarations that affect how layers are composed."""
    return {name: parameter.unique for name, parameter in fleet.model.parameters.items() if parameter.unique}


# Every change between two fleets; equal changes of many nodes are one.


class Comparison(Sequence[Change]):
    """The changes that lead from one fleet to another, those of most nodes first.

    A setting that only moved to another layer is not a change. `names` restricts the comparison to some
    nodes.
    """

    def __init__(self, old: Side, new: Side, names: Iterable[str] | None = None) -> None:
        self.old = old
        self.new = new
        self.names = None if names is None else tuple(names)
        self.files = Files(old, new)
        self._differing = Differing(old.fleet, new.fleet)
        self._consequences = Consequences(old.fleet, new.fleet)

    @cached_property
    def pairs(self) -> dict[str, Pair]:
        """Each node on both sides, in order of name; None on a side where it does not exist."""
        old, new = self.old.nodes(self.names), self.new.nodes(self.names)
        return {name: (old.get(name), new.get(name)) for name in sorted(old.keys() | new.keys())}

    @cached_property
    def changes(self) -> tuple[Change, ...]:
        """All changes; empty if nothing differs."""
        nodes: dict[bytes, list[str]] = {}
        found: dict[bytes, Change] = {}
        for together in self.alike(self.pairs):
            progress.note("comparing what changes for", next(iter(together)))
            for change in self._of(together):
                key = msgspec.json.encode(msgspec.structs.replace(change, nodes=()), order="sorted")
                nodes.setdefault(key, []).extend(change.nodes)
                found.setdefault(key, change)
        folded = (
            msgspec.structs.replace(change, nodes=tuple(sorted(nodes[key]))) for key, change in found.items()
        )
        return tuple(sorted(folded, key=lambda change: (-len(change.nodes), change.nodes)))

    @cached_property
    def walk_in(self) -> Change | None:
        """The changes for walk-in nodes, which have no definition; None if there are none."""
        sides = (self.old.fleet.walking_in, self.new.fleet.walking_in)
        old, new = (next((FleetNode("", kind, kind.definition) for kind in kinds), None) for kinds in sides)
        return next(self._of({"": (old, new)}), None) if old or new else None

    def alike(self, names: Iterable[str]) -> Iterable[dict[str, Pair]]:
        """Return nodes grouped by their classes on both sides. Comparing one node of each group is enough."""
        groups: dict[tuple[int, int], dict[str, Pair]] = {}
        for name in names:
            old, new = self.pairs[name]
            key = (id(old.node_class) if old else 0, id(new.node_class) if new else 0)
            groups.setdefault(key, {})[name] = (old, new)
        return groups.values()

    def samples(self, names: Iterable[str]) -> tuple[str, ...]:
        """Return one node of each group of nodes that have the same classes on both sides."""
        return tuple(next(iter(together)) for together in self.alike(names))

    def trails(self, name: str, param: str) -> tuple[tuple[TrailStep, ...], tuple[TrailStep, ...]]:
        """Return a parameter's steps on a node before and after; empty on a side without the node."""
        old, new = self.pairs[name]
        return (old.trail(param) if old else (), new.trail(param) if new else ())

    def _of(self, together: dict[str, Pair]) -> Iterator[Change]:
        old, new = next(iter(together.values()))
        kind = Kind.ADDED if old is None else Kind.REMOVED if new is None else Kind.CHANGED
        params = self._deltas(old, new)
        none = frozenset[str]()
        features = came_and_went(
            old.node_class.features if old else none, new.node_class.features if new else none
        )
        groups = came_and_went(frozenset(old.groups if old else ()), frozenset(new.groups if new else ()))
        for files, names in self.files.changed(together, params):
            if kind is Kind.CHANGED and not (params or files or features or groups):
                continue
            act = self._consequences.of(old, new, params, files)
            modes = self.files.modes(files, (old, new))
            due = (act.restart, act.reload, act.stop)
            yield Change(kind, names, params, files, features, groups, *due, modes)

    def _deltas(self, old: FleetNode | None, new: FleetNode | None) -> dict[str, Delta]:
        if old is not None and new is not None:
            names = self._differing.names(old.node_class, new.node_class)
            if names is not None:
                return deltas(old.node_class.some(names), new.node_class.some(names))
        return deltas(old.params if old else {}, new.params if new else {})

    @overload
    def __getitem__(self, index: int) -> Change: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Change, ...]: ...

    def __getitem__(self, index: int | slice) -> Change | tuple[Change, ...]:
        return self.changes[index]

    def __len__(self) -> int:
        return len(self.changes)


# The steps that cause a parameter's change.


class Steps(msgspec.Struct, frozen=True):
    """The acting steps that were removed and added, each once, on all nodes of a change.

    Where no step was, because a default or a fact changed, these are the steps that decide the value.
    """

    old: tuple[TrailStep, ...]
    new: tuple[TrailStep, ...]


def steps(comparison: Comparison, samples: Iterable[str], param: str) -> Steps:
    """Return the steps that lead to the values before and after a change.

    `samples` are nodes of the change, one for all that are alike.
    """
    gone: dict[object, TrailStep] = {}
    come: dict[object, TrailStep] = {}
    for name in samples:
        before, after = map(_acting, comparison.trails(name, param))
        same = before.keys() == after.keys()
        gone.update(_topmost(before) if same else _without(before, after))
        come.update(_topmost(after) if same else _without(after, before))
    return Steps(tuple(gone.values()), tuple(come.values()))


Acting = dict[object, TrailStep]


def _acting(trail: Iterable[TrailStep]) -> Acting:
    """Return acting steps by operation, operand and path, without their lines in files."""
    return {
        (step.op, msgspec.json.encode(step.given, order="sorted"), step.path): step
        for step in trail
        if not step.overridden
    }


def _topmost(steps: Acting) -> Acting:
    return dict([*steps.items()][-1:])


def _without(steps: Acting, others: Acting) -> Acting:
    return {key: step for key, step in steps.items() if key not in others}


# Changed files with their contents: each distinct unified diff once, with all its nodes.

MISSING_END = "\\ No newline at end of file"


class FileDiff(msgspec.Struct, frozen=True):
    """A change of one file on some nodes.

    `lines` are those of a unified diff as git writes it, headers included, without line ends.
    """

    path: str
    nodes: tuple[str, ...]
    lines: tuple[str, ...]


def file_diffs(comparison: Comparison, change: Change) -> Iterator[FileDiff]:
    """Yield every distinct diff of the paths of a change, in order of path and node."""
    for path in change.files:
        nodes: dict[tuple[str, ...], list[str]] = {}
        for together in comparison.alike(change.nodes):
            for names, (old, new) in comparison.files.versions(path, together):
                if differ(old, new):
                    nodes.setdefault(tuple(_unified(path, old, new)), []).extend(names)
        for lines in sorted(nodes, key=lambda lines: min(nodes[lines])):
            yield FileDiff(path, tuple(sorted(nodes[lines])), lines)


def _unified(path: str, old: RenderedFile | None, new: RenderedFile | None) -> Iterator[str]:
    inner = path.lstrip("/")
    yield f"diff --git a/{inner} b/{inner}"
    yield from _attributes(old, new)
    names = (f"a/{inner}" if old else "/dev/null", f"b/{inner}" if new else "/dev/null")
    for line in unified_diff(_lines(old), _lines(new), *names, lineterm=""):
        yield from line.split("\n", 1)


def _attributes(old: RenderedFile | None, new: RenderedFile | None) -> Iterator[str]:
    if old is None or new is None:
        file = old or new
        if file is not None:
            yield f"{'new' if old is None else 'deleted'} file mode 10{file.mode}"
        return
    for what, before, after in (
        ("mode", f"10{old.mode}", f"10{new.mode}"),
        ("owner", old.owner, new.owner),
        ("group", old.group, new.group),
    ):
        if before != after:
            yield f"old {what} {before}"
            yield f"new {what} {after}"


def _lines(file: RenderedFile | None) -> list[str]:
    """Split a file at "\\n" only.

    A last line without it gets git's remark, so that it differs from one with it.
    """
    lines = file.content.split("\n") if file else []
    if lines and lines[-1]:
        lines[-1] += f"\n{MISSING_END}"
    return lines if lines and lines[-1] else lines[:-1]
