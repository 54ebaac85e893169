"""Partial configurations: what layers say together, composed once and shared by reference."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.compile.operations import NOTHING, PENDING, Step, apply, fold, resets
from gitcfg.model import FileEntry, Op, Origin

MAX_WEIGHT = 4_000_000


class Cell(msgspec.Struct, frozen=True):
    """What a partial says of one parameter.

    `steps` are those that act, lowest first: since the last one that resets. `closed`: the first
    of them does, so nothing below matters. `value` is their result on nothing.
    """

    steps: tuple[Step, ...]
    closed: bool
    value: Any
    weight: int

    @property
    def origins(self) -> list[Origin]:
        """Where the acting steps stand, the topmost first: there one would change the value."""
        return [step.origin for step in reversed(self.steps)]

    def counting(self, facts: Mapping[str, Any] | None = None) -> Iterator[Step]:
        """The steps that count: all but a `$default` that finds a value. `facts` are the nodes'."""
        below: Any = NOTHING
        for step in self.steps:
            idle = step.op is Op.DEFAULT and below is not NOTHING and below is not None
            below = apply(step, below, facts)
            if not idle:
                yield step


class Partial:
    """A composed layer: its parts by reference, lowest first, then its own steps above them.

    `label` is the layer's element in the path of every step inside it. `cells` and `files` answer for
    values, `parts`, `own` and `brought` for where they come from; `open` are the parameters whose cells
    are not closed, `pending` those whose values want facts, `places` counts the features' layers inside.
    """

    label: str | None
    parts: tuple["Partial", ...]
    own: Mapping[str, Step]
    brought: Mapping[str, FileEntry]
    cells: Mapping[str, Cell]
    open: frozenset[str]
    pending: frozenset[str]
    files: Mapping[str, FileEntry]
    features: frozenset[str]
    places: int

    __slots__ = (
        "brought",
        "cells",
        "features",
        "files",
        "label",
        "open",
        "own",
        "parts",
        "pending",
        "places",
    )

    def __init__(
        self,
        label: str | None,
        parts: tuple["Partial", ...] = (),
        own: Mapping[str, Step] | None = None,
        files: Mapping[str, FileEntry] | None = None,
        features: frozenset[str] = frozenset(),
    ) -> None:
        self.label = label
        self.parts = parts
        self.own = own or {}
        self.brought = files or {}
        layers = [(part.cells, part.open) for part in parts if part.cells]
        if own:
            cells = {name: cell(step) for name, step in own.items()}
            layers.append((cells, frozenset(name for name in cells if not cells[name].closed)))
        self.cells = compose(layers)
        opened = frozenset[str]().union(*(names for _, names in layers))
        self.open = frozenset(name for name in opened if not self.cells[name].closed)
        asked = self.own.keys() | frozenset[str]().union(*(part.pending for part in parts))
        self.pending = frozenset(name for name in asked if self.cells[name].value is PENDING)
        self.files = stack_files([*(part.files for part in parts), self.brought])
        self.features = features.union(*(part.features for part in parts))
        self.places = 1 + sum(part.places for part in parts)

    def steps(self, name: str) -> Iterator[tuple[Step, tuple[str, ...]]]:
        """Every step that binds a parameter, lowest first, with its path, innermost first."""
        for layer, path in self._layers(lambda part: name in part.cells):
            if name in layer.own:
                yield layer.own[name], path

    def entries(self, path: str) -> Iterator[tuple[FileEntry, tuple[str, ...]]]:
        """Every entry for a file, lowest first, with the path of the layer that brings it."""
        for layer, where in self._layers(lambda part: path in part.files):
            if path in layer.brought:
                yield layer.brought[path], where

    def standing(self, feature: str) -> Iterator[tuple[str, ...]]:
        """The path of each layer that a feature has here, lowest first: itself, then who installs it."""
        label = f"feature {feature}"
        for layer, path in self._layers(lambda part: feature in part.features):
            if layer.label == label:
                yield path

    def _layers(self, holds: Callable[["Partial"], bool]) -> Iterator[tuple["Partial", tuple[str, ...]]]:
        """The layers in here, lowest first, that hold something or whose parts do, each with its path."""
        above = () if self.label is None else (self.label,)
        for part in self.parts:
            if holds(part):
                for layer, path in part._layers(holds):
                    yield layer, path + above
        yield self, above


def cell(step: Step) -> Cell:
    """One step as a cell."""
    return Cell((step,), resets(step), fold((step,), NOTHING), step.weight)


def join(below: Cell, above: Cell) -> Cell:
    """What two cells say together. Associative; beyond MAX_WEIGHT nothing more is added."""
    if above.closed:
        return above
    weight = below.weight + above.weight
    if weight > MAX_WEIGHT:
        return Cell(below.steps, below.closed, below.value, MAX_WEIGHT + 1)
    return Cell(below.steps + above.steps, below.closed, fold(above.steps, below.value), weight)


def compose(layers: Sequence[tuple[Mapping[str, Cell], frozenset[str]]]) -> Mapping[str, Cell]:
    """The cells of layers, lowest first, each with the names of its open cells.

    Closed cells replace what lies below in one dictionary update; only open ones cost a step each.
    """
    if len(layers) == 1:
        return layers[0][0]
    result: dict[str, Cell] = {}
    for cells, opened in layers:
        joined = {name: join(result[name], cells[name]) for name in opened if name in result}
        result.update(cells)
        result.update(joined)
    return result


def stack_files(layers: list[Mapping[str, FileEntry]]) -> Mapping[str, FileEntry]:
    """File entries by path, a higher layer's over a lower one's."""
    said = [layer for layer in layers if layer]
    if len(said) == 1:
        return said[0]
    result: dict[str, FileEntry] = {}
    for layer in said:
        result.update(layer)
    return result
