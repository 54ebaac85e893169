"""Layers of a commit that take over what they share with those of its neighbour."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping

import msgspec

from gitcfg.comparison.files import Side
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.layers import NOWHERE, Layers, find_includes
from gitcfg.compile.node_class import NodeClass, Recent, Stacks
from gitcfg.compile.operations import NOTHING, Step
from gitcfg.compile.partial import Cell, Partial, update_partial
from gitcfg.history.definitions import alike, said
from gitcfg.history.snapshot import Snapshot
from gitcfg.model import Feature, FileEntry, Group, Model

_Made = tuple[Feature | Group, Declarations, Partial]
"""A partial, and what its own steps were made of."""


class KeptLayers(Layers):
    """Partials are those of older layers where all that they are made of is the very same, and else made
    from them.

    What is wrong with definitions is nobody's question here: findings are not carried over.
    """

    def __init__(self, model: Model, declarations: Declarations, older: "KeptLayers | None") -> None:
        edges = find_includes(model)
        same = older is not None and older.inclusion.edges == edges
        super().__init__(model, declarations, older.inclusion if older and same else Inclusion(edges))
        self._made: dict[tuple[str, int], _Made] = older._made if older else {}
        if older is not None:
            self._take_over(older, alike(older.declarations, declarations))

    def _composed(
        self,
        label: str,
        parts: tuple[Partial, ...],
        said: Feature | Group,
        features: frozenset[str] = NOWHERE,
    ) -> Partial:
        plain = said is self.model.features.get(said.name) or isinstance(said, Group)
        key = (label, 0 if plain else id(said))  # an instance is known by its object, which is kept
        before, declared, older = self._made.get(key, (None, None, None))
        if older is None:
            result = super()._composed(label, parts, said, features)
        else:
            same = said is before and declared is self.declarations
            own = older.own if same else self.steps(said.params)
            result = update_partial(older, parts, own, said.files, features)
        self._made[key] = (said, self.declarations, result)
        return result

    def _take_over(self, older: "KeptLayers", declared: Callable[[str], bool]) -> None:
        """What stands for itself, and leads to nothing that is different."""
        theirs, ours = older.model, self.model
        names = theirs.features.keys() | ours.features.keys()
        pairs = ((name, theirs.features.get(name), ours.features.get(name)) for name in names)
        other = {name for name, before, after in pairs if not _same(before, after, declared)}
        inclusions = {id(each): each for each in (older.inclusion, self.inclusion)}.values()

        def new(name: str) -> bool:
            return name in other or any(
                each.reaches.leads(name, changed) for each in inclusions for changed in other
            )

        kept = (each for each in older._instances.items() if each[0][0] not in other)
        self._instances = dict(kept)
        anew = {name for name, *_ in older._features if new(name)}
        self._features = {key: part for key, part in older._features.items() if key[0] not in anew}
        for key, part in older._groups.items():
            group = ours.groups.get(key[0])
            same = group is not None and _same(theirs.groups[key[0]], group, declared)
            if same and not any(new(use.feature) for use in theirs.groups[key[0]].features):
                self._groups[key] = part


class KeptStacks(Stacks):
    """Stacks made from older ones."""

    def __init__(self, model: Model, layers: Layers, older: "KeptStacks | None") -> None:
        self._made: dict[Hashable, Partial] = older._made if older else {}
        super().__init__(model, layers, _Following(self._made))


class _Following(Recent):
    """Composes a class from what was `made` of nearly the same before."""

    def __init__(self, made: dict[Hashable, Partial]) -> None:
        super().__init__()
        self._made = made

    def stack(self, kind: NodeClass) -> Partial:
        key = _likeness(kind)
        older = self._made.get(key)
        found = update_partial(older, kind.parts, {}, {}) if older else Partial(None, kind.parts)
        self._made[key] = found
        return found


def _likeness(kind: NodeClass) -> Hashable:
    """Return the same for classes of which nearly the same is to be expected."""
    definition = kind.definition
    groups = tuple(ref.name for ref in definition.groups)
    without = frozenset(ref.name for ref in kind.without)
    return (
        groups,
        without,
        definition.own and definition.own.name,
        definition.nodeset and definition.nodeset.name,
    )


def _same(
    before: Feature | Group | None, after: Feature | Group | None, declared: Callable[[str], bool]
) -> bool:
    return before is after and (after is None or all(map(declared, after.params)))


# What a feature or group gives: the layer that it and all that it includes are composed to.


class Layer(msgspec.Struct, frozen=True):
    """Per parameter the operations that act, as JSON, lowest first; per path the file's entry and the
    texts it is made from; and the features inside.

    `reads`: does a file depend on more than its entry?
    """

    params: Mapping[str, bytes] = {}
    files: Mapping[str, str] = {}
    features: frozenset[str] = frozenset()
    reads: bool = False


def composed(partial: Partial, name: str, snapshot: Snapshot, side: Callable[[], Side]) -> Layer:
    """Return a partial as a layer; `side` is what to ask of templates."""
    entries = partial.files.values()
    return Layer(
        {param: _operations(cell) for param, cell in partial.cells.items()},
        {entry.path: said((entry, *_texts(entry, snapshot, side))) for entry in entries},
        partial.features - {name},
        any(entry.template or entry.source for entry in entries),
    )


def _operations(cell: Cell) -> bytes:
    return msgspec.json.encode([{"op": step.op.value, "given": _given(step)} for step in cell.steps])


def _given(step: Step) -> msgspec.Raw:
    """Return the operand as JSON in which equal maps are equal texts."""
    given = None if step.given is NOTHING else step.given
    return msgspec.Raw(msgspec.json.encode(given, order="sorted"))


def _texts(entry: FileEntry, snapshot: Snapshot, side: Callable[[], Side]) -> Iterator[bytes | None]:
    """Yield the contents, by id, of the file that an entry names, and of all that a template takes in."""
    if entry.source is not None:
        yield snapshot.others["files"].get(f"files/{entry.source.name}")
    if entry.template is not None:
        templates = snapshot.others["templates"]
        yield templates.get(f"templates/{entry.template.name}")
        yield from (templates.get(f"templates/{name}") for name in _includes(entry, side()))


def _includes(entry: FileEntry, side: Side) -> Iterable[str]:
    """Return the templates that an entry's template takes in; all there are, where only rendering tells."""
    analysis = side.analysis(entry)
    if analysis is None:
        return ()
    return sorted(side.fleet.templates) if analysis.computed else analysis.includes
