"""How much there is to read of what an expression is asked about."""

from collections.abc import Iterable, Iterator, Mapping, Sized
from typing import Any

import msgspec

Row = Mapping[str, Any]
GROUP = "nodes"


class Load(msgspec.Struct, frozen=True, gc=False):
    """A row of values. `items` is what has to be read for it; of that, `fresh` and `nodes` are there for the
    first time: rows about the same group of nodes share the list of these.
    """

    row: Row
    items: int
    fresh: int
    nodes: int = 1


def loads(rows: Iterable[Row]) -> Iterator[Load]:
    """The rows, weighed. What lies within items counts for nothing, but for nodes in a group."""
    groups: dict[int, int] = {}
    for row in rows:
        items = _items(row)
        group = row.get(GROUP)
        if group is None:
            yield Load(row, items, items)
        elif id(group) in groups:
            yield Load(row, items + groups[id(group)], items)
        else:
            within = groups[id(group)] = sum(1 + _items(node) for node in group)
            yield Load(row, items + within, items + within, 1 + len(group))


def batches(rows: Iterable[Row], most: int, items: int) -> Iterator[list[Load]]:
    """The rows by so many at most, and fewer where there is much to read for each."""
    batch: list[Load] = []
    weight = 0
    for load in loads(rows):
        if batch and (len(batch) >= most or weight + load.items > items):
            yield batch
            batch, weight = [], 0
        batch.append(load)
        weight += load.items
    if batch:
        yield batch


def _items(row: Row) -> int:
    return sum(
        len(value)
        for name, value in row.items()
        if name != GROUP and isinstance(value, Sized) and not isinstance(value, str)
    )
