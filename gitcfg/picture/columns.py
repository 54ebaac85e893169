"""Many vertices that few lines join, in columns, so that a picture is no endless strip."""

from collections.abc import Iterable, Sequence
from math import ceil, sqrt

from gitcfg.model.graph import components
from gitcfg.picture.picture import Edge

SHAPE = 7
"""How much wider than high a group with its features is."""


def columns(ids: Sequence[str], edges: Iterable[Edge]) -> tuple[tuple[str, ...], ...]:
    """The ids in columns that make about a square; what lines join stands together, and first."""
    joined: dict[str, list[str]] = {id_: [] for id_ in ids}
    for edge in edges:
        joined[edge.source].append(edge.target)
        joined[edge.target].append(edge.source)
    order = [
        id_ for members in sorted(components(joined), key=lambda each: (-len(each), each)) for id_ in members
    ]
    rows = max(1, ceil(sqrt(SHAPE * len(order))))
    return tuple(tuple(order[start : start + rows]) for start in range(0, len(order), rows))
