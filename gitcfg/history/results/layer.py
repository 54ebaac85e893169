"""What a feature or group gives and who has it, followed from commit to commit."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.comparison.change import Delta, Kind, came_and_went
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.nodes import Said
from gitcfg.git.history import History
from gitcfg.history.census import Census, Taker
from gitcfg.history.composed import Layer, composed
from gitcfg.history.documents import Documents
from gitcfg.history.effect import Effect, held, kind_of
from gitcfg.history.implied import Implied
from gitcfg.history.made import Made, Maker
from gitcfg.history.outline import Outline
from gitcfg.history.pool import Pool, followed
from gitcfg.history.rooted import ALONE, feature_roots, group_roots
from gitcfg.history.ruling import NOTHING
from gitcfg.history.sides import Sides
from gitcfg.history.snapshot import Key, Snapshot
from gitcfg.model import Model, Use
from gitcfg.model.folders import TEXTS

_NO_POOL = Pool()


class LayerState(msgspec.Struct, frozen=True):
    """A feature or group at one commit; no layer where it is not defined."""

    snapshot: Snapshot
    made: Made | None
    layer: Layer | None
    pool: Pool
    census: Census | None

    @property
    def nodes(self) -> Mapping[str, Any]:
        """Those that have it."""
        return self.census.answers if self.census else {}


class LayerResult:
    """A feature's or group's result: the layer that it is composed to, and the nodes that have it.

    Of a layer count the operations that act, the files with the texts that they name, and the features
    inside. A group's nodes are its members: of the default group, all.
    """

    def __init__(self, history: History, kind: str, name: str) -> None:
        documents = Documents(history.read)
        self._name = name
        self._group = kind == "group"
        roots = group_roots if self._group else feature_roots
        self._maker = Maker(documents, Implied(documents, history.read), roots(name))
        self._outlines = documents.outlined(Outline(lambda param: False).of)
        self._taker = Taker(self._member if self._group else self._has)
        self._sides = Sides(history)

    def follow(self, older: LayerState | None, snapshot: Snapshot, keys: frozenset[Key]) -> LayerState:
        """The feature or group at a neighbour that is different in `keys`."""
        made = self._maker.make(older.made if older else None, snapshot, keys)
        pool = followed(self._outlines, older.pool if older else _NO_POOL, snapshot, keys)
        ruling = made.ruling if made and not self._group else NOTHING
        census = self._taker.take(older.census if older else None, pool, ruling=ruling)
        same = older is not None and self._same(older, made, snapshot)
        layer = older.layer if older and same else self._layer(made, snapshot)
        return LayerState(snapshot, made, layer, pool, census)

    def effect(self, old: LayerState | None, new: LayerState) -> Effect | None:
        """What is not the same; None if nothing is."""
        before, after = (old.layer if old else None), new.layer
        ours, theirs = (old.nodes if old else {}), new.nodes
        if before is after and (before is None or ours is theirs):
            return None
        kind = kind_of(before is not None, after is not None)
        before, after = before or Layer(), after or Layer()
        params = dict(_deltas(before.params, after.params))
        files = tuple(sorted({path for path, _ in before.files.items() ^ after.files.items()}))
        features = came_and_went(before.features, after.features)
        came, went = (held(sorted(names)) for names in (theirs.keys() - ours, ours.keys() - theirs))
        if kind is Kind.CHANGED and not (params or files or features or came or went):
            return None
        return Effect(kind, params, files, features, added=came, removed=went)

    def close(self) -> None:
        """End the templates' child."""
        self._sides.close()

    def _same(self, older: LayerState, made: Made | None, snapshot: Snapshot) -> bool:
        if made is None or older.made is None:
            return made is older.made
        ours, theirs = older.snapshot.others, snapshot.others
        reads = older.layer is not None and older.layer.reads
        texts = not reads or all(ours[folder] is theirs[folder] for folder in TEXTS)
        return made.stacks is older.made.stacks and texts

    def _layer(self, made: Made | None, snapshot: Snapshot) -> Layer | None:
        if made is None or self._name not in (made.scope.groups if self._group else made.scope.features):
            return None
        layers = made.stacks.layers
        partial = layers.group(self._name) if self._group else layers.feature(Use(self._name, ALONE))
        if partial is None:  # it includes more than is supported
            return Layer()
        side = self._sides.side
        return composed(
            partial, self._name, snapshot, lambda: side(made.settings, made.declarations, snapshot)
        )

    def _has(self, model: Model, about: Said, compiled: Callable[[], NodeClass]) -> bool | None:
        return self._name in compiled().features or None

    def _member(self, model: Model, about: Said, compiled: Callable[[], NodeClass]) -> bool | None:
        if self._name not in model.groups:
            return None
        default = self._name == model.settings.default_group
        return default or any(ref.name == self._name for ref in about.groups) or None


def _deltas(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[tuple[str, Delta]]:
    """The parameters of which the operations differ."""
    for name in sorted({name for name, _ in old.items() ^ new.items()}):
        yield name, Delta(*(_decoded(side.get(name)) for side in (old, new)))


def _decoded(operations: bytes | None) -> Any:
    return UNSET if operations is None else msgspec.json.decode(operations)
