"""A picture as data: vertices, edges and what is said of both, before anything is drawn."""

from collections.abc import Iterable
from enum import StrEnum

import msgspec

from gitcfg.model.graph import reach


class Kind(StrEnum):
    """What a vertex stands for."""

    FEATURE = "feature"
    MISSING = "missing"  # a feature or group that is mentioned, and that no file defines
    GONE = "gone"  # a feature that a node does without
    FEATURES = "features"  # a list of features, as groups install it
    GROUP = "group"
    NODES = "nodes"  # nodes with the same groups
    REST = "rest"  # nodes whose combinations of groups are too many to draw
    LAYER = "layer"


class Relation(StrEnum):
    """What an edge says of its source, with the target for an object."""

    INCLUDES = "includes"
    DEPENDS = "depends"
    AFTER = "after"
    CONFLICTS = "conflicts"  # of both alike
    INSTALLS = "installs"
    MEMBER = "member"
    SOME = "some"  # of the nodes are in the group
    SHARES = "shares"  # nodes, and both alike
    ABOVE = "above"


MUTUAL = frozenset({Relation.CONFLICTS, Relation.SHARES})
"""Relations without a direction: one edge says it of both."""


class Vertex(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in a picture.

    `lines` stand below its name; `about` is what there is no room for. `count` and `nodeset` are the
    nodes that it stands for. `unused`: no node has it. `folder` is where its file lies.
    """

    id: str
    kind: Kind
    name: str
    lines: tuple[str, ...] = ()
    about: str = ""
    count: int | None = None
    nodeset: str | None = None
    unused: bool = False
    folder: str = ""


class Edge(msgspec.Struct, frozen=True):
    """One line of a picture, between the ids of two vertices."""

    relation: Relation
    source: str
    target: str
    label: str = ""


class Picture(msgspec.Struct, frozen=True):
    """A picture. `notes` say what it leaves out.

    `stack` are layers that lie on each other, lowest first; `columns` are how many vertices can stand.
    """

    subject: str
    title: str
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    notes: tuple[str, ...] = ()
    stack: tuple[str, ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()


def around(picture: Picture, chosen: Iterable[str], title: str, note: str) -> Picture:
    """Some vertices, all that they lead to, and their neighbours, with the edges between those."""
    ids = frozenset(chosen)
    onward: dict[str, list[str]] = {vertex.id: [] for vertex in picture.vertices}
    for edge in picture.edges:
        if edge.relation not in MUTUAL:
            onward[edge.source].append(edge.target)
    kept = reach(onward).closed(ids)
    near = {end for edge in picture.edges for end in _across(edge, ids)}
    return msgspec.structs.replace(_only(picture, kept | near), title=title, notes=(*picture.notes, note))


def _across(edge: Edge, ids: frozenset[str]) -> Iterable[str]:
    """The other ends of an edge at one of some vertices."""
    return [edge.source] * (edge.target in ids) + [edge.target] * (edge.source in ids)


def _only(picture: Picture, ids: frozenset[str]) -> Picture:
    return msgspec.structs.replace(
        picture,
        vertices=tuple(vertex for vertex in picture.vertices if vertex.id in ids),
        edges=tuple(edge for edge in picture.edges if edge.source in ids and edge.target in ids),
    )
