"""Which parameters can differ between two classes: layers that say the same need not be looked into."""

from collections.abc import Iterable

from gitcfg.compile.cell import Cell
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.partial import Partial


class Differing:
    """Compares layers of two fleets, each pair of them once for all classes that have it."""

    def __init__(self, old: Fleet, new: Fleet) -> None:
        self._alike = _unique(old) == _unique(new)
        self._known: dict[tuple[int, int], tuple[Partial, Partial, frozenset[str]]] = {}

    def names(self, old: NodeClass, new: NodeClass) -> Iterable[str] | None:
        """The parameters whose final values may differ; None: any. Layers must be there in the same order."""
        labels = [part.label for part in old.parts]
        if not self._alike or labels != [part.label for part in new.parts]:
            return None
        found: set[str] = set()
        for before, after in zip(old.parts, new.parts, strict=True):
            found |= self._between(before, after)
        collecting = any(kind.layers.collecting is not None for kind in (old, new))
        if collecting or old.said.facts != new.said.facts:  # others may give other values
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
    """Do two cells do the same to what lies below, wherever that is written? 1, 1.0 and true differ."""
    if before is None or after is None:
        return False
    return [(step.op, repr(step.given)) for step in before.steps] == [
        (step.op, repr(step.given)) for step in after.steps
    ]


def _unique(fleet: Fleet) -> dict[str, bool]:
    """The declarations that change what layers come to."""
    return {name: parameter.unique for name, parameter in fleet.model.parameters.items() if parameter.unique}
