"""Layers of a commit that reuse what they share with those of a neighbouring commit."""

from collections.abc import Callable, Hashable, Iterator, Mapping

import msgspec

from gitcfg.comparison.files import Side
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.layers import NOWHERE, Layers, find_includes
from gitcfg.compile.node_class import NodeClass, Recent, Stacks
from gitcfg.compile.operations import NOTHING
from gitcfg.compile.partial import Cell, Partial, update_partial
from gitcfg.history.definitions import alike, meaning_text
from gitcfg.history.snapshot import Snapshot
from gitcfg.model import Feature, FileEntry, Group, Model

_Composed = tuple[Feature | Group, Declarations, Partial]
"""A partial, and the definition and declarations of its own steps."""


class ReusedLayers(Layers):
    """Layers with the older partials where nothing differs, and otherwise partials updated from those.

    Findings of definitions are not kept.
    """

    def __init__(self, model: Model, declarations: Declarations, older: "ReusedLayers | None") -> None:
        edges = find_includes(model)
        same = older is not None and older.inclusion.edges == edges
        super().__init__(model, declarations, older.inclusion if older and same else Inclusion(edges))
        self._composed_of: dict[tuple[str, int], _Composed] = older._composed_of if older else {}
        if older is not None:
            self._take_over(older, alike(older.declarations, declarations))

    def _composed(
        self,
        label: str,
        parts: tuple[Partial, ...],
        definition: Feature | Group,
        features: frozenset[str] = NOWHERE,
    ) -> Partial:
        plain = definition is self.model.features.get(definition.name) or isinstance(definition, Group)
        key = (label, 0 if plain else id(definition))  # an instance's object is kept, so its id is unique
        before, declared, older = self._composed_of.get(key, (None, None, None))
        if older is None:
            result = super()._composed(label, parts, definition, features)
        else:
            same = definition is before and declared is self.declarations
            own = older.own if same else self.steps(definition.params)
            result = update_partial(older, parts, own, definition.files, features)
        self._composed_of[key] = (definition, self.declarations, result)
        return result

    def _take_over(self, older: "ReusedLayers", declared: Callable[[str], bool]) -> None:
        """Reuse the partials of unchanged definitions that lead to no changed ones."""
        theirs, ours = older.model, self.model
        names = theirs.features.keys() | ours.features.keys()
        pairs = ((name, theirs.features.get(name), ours.features.get(name)) for name in names)
        changed = {name for name, before, after in pairs if not _is_same(before, after, declared)}
        inclusions = {id(each): each for each in (older.inclusion, self.inclusion)}.values()

        def is_affected(name: str) -> bool:
            return name in changed or any(
                each.reaches.leads(name, other) for each in inclusions for other in changed
            )

        self._instances = {key: part for key, part in older._instances.items() if key[0] not in changed}
        affected = {name for name, *_ in older._features if is_affected(name)}
        self._features = {key: part for key, part in older._features.items() if key[0] not in affected}
        for key, part in older._groups.items():
            group = ours.groups.get(key[0])
            same = group is not None and _is_same(theirs.groups[key[0]], group, declared)
            if same and not any(is_affected(use.feature) for use in theirs.groups[key[0]].features):
                self._groups[key] = part


class ReusedStacks(Stacks):
    """Stacks made from older ones."""

    def __init__(self, model: Model, layers: Layers, older: "ReusedStacks | None") -> None:
        self._composed: dict[Hashable, Partial] = older._composed if older else {}
        super().__init__(model, layers, _SimilarStacks(self._composed))


class _SimilarStacks(Recent):
    """Composes a class by updating the stack of a similar one in `composed`."""

    def __init__(self, composed: dict[Hashable, Partial]) -> None:
        super().__init__()
        self._composed = composed

    def stack(self, node_class: NodeClass) -> Partial:
        definition = node_class.definition
        key = (
            tuple(ref.name for ref in definition.groups),
            frozenset(ref.name for ref in node_class.without),
            definition.own and definition.own.name,
            definition.nodeset and definition.nodeset.name,
        )
        older = self._composed.get(key)
        found = update_partial(older, node_class.parts, {}, {}) if older else Partial(None, node_class.parts)
        self._composed[key] = found
        return found


def _is_same(
    before: Feature | Group | None, after: Feature | Group | None, declared: Callable[[str], bool]
) -> bool:
    return before is after and (after is None or all(map(declared, after.params)))


# What a feature or group provides: the layer that it composes to with all that it includes.


class Layer(msgspec.Struct, frozen=True):
    """A composed feature or group.

    By parameter the effective operations as JSON, lowest first; by path the file's entry and the texts of the
    file; and the included features. `reads`: whether a file depends on more than its entry.
    """

    params: Mapping[str, bytes] = {}
    files: Mapping[str, str] = {}
    features: frozenset[str] = frozenset()
    reads: bool = False


def composed(partial: Partial, name: str, snapshot: Snapshot, side: Callable[[], Side]) -> Layer:
    """Return a partial as a layer; `side` returns what reads templates."""
    entries = partial.files.values()
    return Layer(
        {param: _operations(cell) for param, cell in partial.cells.items()},
        {entry.path: meaning_text((entry, *_texts(entry, snapshot, side))) for entry in entries},
        partial.features - {name},
        any(entry.template or entry.source for entry in entries),
    )


def _operations(cell: Cell) -> bytes:
    """Return the operations as JSON, with operands such that equal maps are equal texts."""
    found = []
    for step in cell.steps:
        operand = msgspec.json.encode(None if step.given is NOTHING else step.given, order="sorted")
        found.append({"op": step.op.value, "given": msgspec.Raw(operand)})
    return msgspec.json.encode(found)


def _texts(entry: FileEntry, snapshot: Snapshot, side: Callable[[], Side]) -> Iterator[bytes | None]:
    """Yield the contents, by id, of the file that an entry names, and of all templates that it includes."""
    if entry.source is not None:
        yield snapshot.others["files"].get(f"files/{entry.source.name}")
    if entry.template is not None:
        templates = snapshot.others["templates"]
        yield templates.get(f"templates/{entry.template.name}")
        analysis = side().analysis(entry)
        if analysis is not None:
            # All existing templates, if only rendering shows which are included.
            names = sorted(side().fleet.templates) if analysis.computed else analysis.includes
            yield from (templates.get(f"templates/{name}") for name in names)
