"""What shows of a class's layers is what composing them gives."""

from functools import cache

import pytest

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.compile.operations import NOTHING, PENDING
from gitcfg.compile.partial import Cell
from gitcfg.compile.surface import Suspects
from tests.compile.fleets import fleets

SEEDS = range(12)


@cache
def fleet_of(seed: int) -> Fleet:
    return next(fleets(range(seed, seed + 1)))


def names(fleet: Fleet, mask: int) -> set[str]:
    return set(fleet.surfaces.params.of(mask))


def ends(fleet: Fleet, kind: NodeClass) -> dict[str, object]:
    """By parameter what the layers come to, the composed way."""
    return {name: cell.value for name, cell in kind.stack.cells.items()}


@pytest.mark.parametrize("seed", SEEDS)
def test_what_is_bound(seed: int) -> None:
    fleet = fleet_of(seed)
    for kind in fleet.classes:
        surface = fleet.surfaces.of(kind)
        bound = {name for name, value in ends(fleet, kind).items() if value is not NOTHING}
        assert names(fleet, surface.bound) == bound
        assert set(fleet.surfaces.features.of(surface.features)) == kind.features


@pytest.mark.parametrize("seed", SEEDS)
def test_who_decides(seed: int) -> None:
    """One layer alone, or several together: each parameter is in exactly one of these."""
    fleet = fleet_of(seed)
    joined = 0
    for kind in fleet.classes:
        surface, left = fleet.surfaces.of(kind), set(kind.stack.cells)
        for part, top in zip(kind.parts, surface.tops, strict=True):
            for name in names(fleet, top):
                assert kind.stack.cells[name].steps == part.cells[name].steps
                left.remove(name)
        for name, cell in surface.joins.items():
            assert cell == kind.stack.cells[name] == kind.cell(name)
            left.remove(name)
        assert not left
        joined += len(surface.joins)
    assert joined


@pytest.mark.parametrize("seed", SEEDS)
def test_what_waits_for_facts(seed: int) -> None:
    fleet = fleet_of(seed)
    for kind in fleet.classes:
        waiting = {name for name, value in ends(fleet, kind).items() if value is PENDING}
        assert waiting == kind.stack.pending
        assert waiting <= names(fleet, fleet.surfaces.of(kind).pending)


@pytest.mark.parametrize("seed", SEEDS)
def test_suspects_are_the_classes_cells_that_pass(seed: int) -> None:
    """Whatever is asked of cells: here, whether they have an even number of steps or hold a 1."""
    fleet = fleet_of(seed)

    def odd(name: str, steps: int, value: object) -> bool:
        return steps % 2 == 0 or "1" in str(value) or name.endswith("7")

    suspects = Suspects(fleet.surfaces, lambda name, cell: odd(name, len(cell.steps), cell.value))
    for kind in fleet.classes:
        cells = kind.stack.cells
        wanted = sorted(name for name, cell in cells.items() if odd(name, len(cell.steps), cell.value))
        assert sorted(suspects.of(kind, fleet.surfaces.of(kind))) == wanted


def test_each_cell_is_asked_about_once() -> None:
    fleet = fleet_of(3)
    asked: list[tuple[str, int]] = []

    def test(name: str, cell: Cell) -> bool:
        asked.append((name, id(cell)))
        return False

    suspects = Suspects(fleet.surfaces, test)
    for kind in fleet.classes:
        suspects.of(kind, fleet.surfaces.of(kind))
    assert len(asked) == len(set(asked))
    assert len(asked) < sum(len(kind.stack.cells) for kind in fleet.classes)
