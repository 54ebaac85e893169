"""A picture as data: vertices and edges with their texts, before anything is drawn."""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import chain
from math import ceil, sqrt
from typing import Any

import msgspec

from gitcfg.model import Feature, Group, Model, Node, Origin, Use
from gitcfg.model.graph import components, reach
from gitcfg.model.names import NAME
from gitcfg.model.text import safe
from gitcfg.nodeset import NodeSetError, expand, fold


class Kind(StrEnum):
    """The kind of thing that a vertex shows."""

    FEATURE = "feature"
    MISSING = "missing"  # a feature or group that is mentioned, and that no file defines
    GONE = "gone"  # a feature that a node does without
    FEATURES = "features"  # a list of features, as groups install it
    GROUP = "group"
    NODES = "nodes"  # nodes with the same groups
    REST = "rest"  # nodes whose combinations of groups are too many to draw
    LAYER = "layer"


class Relation(StrEnum):
    """The relation of an edge's source to its target."""

    INCLUDES = "includes"
    DEPENDS = "depends"
    AFTER = "after"
    CONFLICTS = "conflicts"  # in both directions
    INSTALLS = "installs"
    MEMBER = "member"
    SOME = "some"  # of the nodes are in the group
    SHARES = "shares"  # nodes, in both directions
    ABOVE = "above"


MUTUAL = frozenset({Relation.CONFLICTS, Relation.SHARES})
"""Relations without a direction: one edge is for both."""


class Vertex(msgspec.Struct, frozen=True, kw_only=True):
    """One thing in a picture.

    `lines` are below its name; `about` is the text that does not fit there. `count` and `nodeset` are the
    nodes of the vertex. `unused`: no node has it. `folder` is the folder of its file.
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
    """A picture. `notes` list what it leaves out.

    `stack` are layers on each other, lowest first; `columns` are columns of vertices.
    """

    subject: str
    title: str
    vertices: tuple[Vertex, ...]
    edges: tuple[Edge, ...]
    notes: tuple[str, ...] = ()
    stack: tuple[str, ...] = ()
    columns: tuple[tuple[str, ...], ...] = ()


def around(picture: Picture, chosen: Iterable[str], title: str, note: str) -> Picture:
    """Return some vertices, all that they lead to, and their neighbors, with the edges between those."""
    ids = frozenset(chosen)
    targets: dict[str, list[str]] = {vertex.id: [] for vertex in picture.vertices}
    for edge in picture.edges:
        if edge.relation not in MUTUAL:
            targets[edge.source].append(edge.target)
    drawn = set(reach(targets).closed(ids))
    drawn |= {edge.source for edge in picture.edges if edge.target in ids}
    drawn |= {edge.target for edge in picture.edges if edge.source in ids}
    return msgspec.structs.replace(
        picture,
        title=title,
        vertices=tuple(vertex for vertex in picture.vertices if vertex.id in drawn),
        edges=tuple(edge for edge in picture.edges if edge.source in drawn and edge.target in drawn),
        notes=(*picture.notes, note),
    )


def by_folder(picture: Picture) -> list[tuple[str, list[Vertex]]]:
    """Return the vertices by folder, in order of folder."""
    folders = defaultdict[str, list[Vertex]](list)
    for vertex in picture.vertices:
        folders[vertex.folder].append(vertex)
    return sorted(folders.items())


# The appearance of all pictures: dark text on light fills, lines that are visible on white and black.


class Look(msgspec.Struct, frozen=True):
    """A vertex: colors of its inside, border and text.

    Dashed borders are for what is missing or has no effect.
    """

    fill: str
    line: str
    text: str = "#1b1f24"
    dashed: bool = False


class Line(msgspec.Struct, frozen=True):
    """An edge, and the words that explain it."""

    color: str
    style: str
    words: str


LOOKS: Mapping[Kind, Look] = {
    Kind.FEATURE: Look("#e7f0fa", "#39699c"),
    Kind.FEATURES: Look("#e7f0fa", "#39699c"),
    Kind.GROUP: Look("#e6f4ea", "#2f7d4f"),
    Kind.NODES: Look("#fff6dc", "#94690a"),
    Kind.REST: Look("#fff6dc", "#94690a", dashed=True),
    Kind.LAYER: Look("#e6f4ea", "#2f7d4f"),
    Kind.MISSING: Look("#ffffff", "#c62828", "#a31d1d", dashed=True),
    Kind.GONE: Look("#f6f6f6", "#8a8a8a", "#666666", dashed=True),
}
_ORDER = re.compile(r"[0-9]+\.")
UNUSED = Look("#f2f2f2", "#a5a5a5", "#666666")

LINES: Mapping[Relation, Line] = {
    Relation.INCLUDES: Line("#66727e", "solid", "solid: includes"),
    Relation.DEPENDS: Line("#2a78c8", "dashed", "dashed: depends on"),
    Relation.AFTER: Line("#66727e", "dotted", "dotted: becomes active after"),
    Relation.CONFLICTS: Line("#d93a3a", "solid", "red: conflicts with"),
    Relation.INSTALLS: Line("#4a7fb5", "solid", ""),
    Relation.MEMBER: Line("#94690a", "solid", ""),
    Relation.SOME: Line("#94690a", "dashed", "dashed: number of these nodes"),
    Relation.SHARES: Line("#94690a", "dashed", "dashed: number of nodes in both groups"),
    Relation.ABOVE: Line("#2f7d4f", "bold", ""),
}


def look(vertex: Vertex) -> Look:
    """Return how a vertex looks."""
    return UNUSED if vertex.unused else LOOKS[vertex.kind]


def legend(picture: Picture) -> Iterator[str]:
    """Yield what a reader has to know: the meaning of the lines that occur, and what is not drawn."""
    drawn = {edge.relation for edge in picture.edges} if not picture.stack else set()
    words = [line.words for relation, line in LINES.items() if relation in drawn and line.words]
    if any(vertex.unused for vertex in picture.vertices):
        words.append("grey: no node has it")
    if any(_ORDER.match(edge.label) for edge in picture.edges):
        words.append("1. is the highest priority")
    if words:
        yield ", ".join(words)
    yield from picture.notes


# The texts in pictures: ids, lists of features, numbers, and shortened sets of nodes.

MOST = 60


def ident(kind: str, name: str) -> str:
    """Return a vertex's id. Names that are not legal, which only a mention can have, are quoted."""
    return f"{kind} {quoted(name)}"


def quoted(name: str) -> str:
    """Return a legal name as it is, and any other quoted so that it is unambiguous."""
    return name if NAME.fullmatch(name) else json.dumps(name)


def short(text: str, most: int = MOST) -> str:
    """Shorten a text so that it fits into a picture, with an ellipsis for what is cut off."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def short_set(nodeset: str, most: int = MOST) -> str:
    """Return a folded set of nodes, cut after a comma if it is too long."""
    if len(nodeset) <= most:
        return nodeset
    at = nodeset.rfind(",", 0, most - 1)
    return f"{nodeset[: at + 1]}…" if at > 0 else short(nodeset, most)


def described(definition: Feature | Group | Node) -> str:
    """Return what does not fit into a label: the description, and the definition's file."""
    return "\n".join(filter(None, (definition.description.strip(), definition.origin.file)))


def listed(names: Iterable[str]) -> str:
    """Join names for a title."""
    return short(", ".join(names), 100)


def by_feature(uses: Iterable[Use]) -> Mapping[str, list[Use]]:
    """Return the uses in a list by feature, in the order in which these are first named."""
    found = defaultdict[str, list[Use]](list)
    for use in uses:
        found[use.feature].append(use)
    return found


def instances(uses: Iterable[Use]) -> str:
    """Format the instances of one feature as `as STARTD_[1-90]`; "" if it has none."""
    names = [use.instance for use in uses if use.instance is not None]
    if not names:
        return ""
    folded = fold(names)
    try:
        is_same = set(expand(folded, len(names))) == set(names)
    except NodeSetError:
        is_same = False
    return f"as {folded if is_same else ', '.join(names)}"


def label(vertex: Vertex) -> list[str]:
    """Return the lines of a vertex's label."""
    return [short(safe(line)) for line in (vertex.name, *vertex.lines)]


def about(vertex: Vertex) -> str:
    """Return the long text of a vertex: the lines of its label that were cut off, and `about`."""
    cut = (line for line in (vertex.name, *vertex.lines) if len(safe(line)) > MOST)
    return "\n".join(filter(None, (*cut, vertex.about)))


# Pictures as records for programs: `gitcfg.graph/1`.

Record = dict[str, Any]


def picture_record(commit: str | None, picture: Picture) -> Record:
    """Return a picture, each vertex with the edges that leave it. A mutual edge leaves one of its two."""
    leaving = defaultdict[str, list[Edge]](list)
    for edge in picture.edges:
        leaving[edge.source].append(edge)
    return {
        "schema": "gitcfg.graph/1",
        "commit": commit,
        "subject": picture.subject,
        "title": picture.title,
        "notes": list(picture.notes),
        "stack": list(picture.stack),
        "vertices": [_vertex(vertex, leaving[vertex.id]) for vertex in picture.vertices],
    }


def _vertex(vertex: Vertex, edges: list[Edge]) -> Record:
    record: Record = {
        "id": vertex.id,
        "kind": vertex.kind.value,
        "name": vertex.name,
        "lines": list(vertex.lines),
        "about": vertex.about,
        "unused": vertex.unused,
        "folder": vertex.folder,
        "edges": [{"kind": e.relation.value, "to": e.target, "label": e.label} for e in edges],
    }
    if vertex.count is not None:
        record["count"] = vertex.count
    if vertex.nodeset is not None:
        record["nodeset"] = vertex.nodeset
    return record


# Vertices with few lines between them, in columns, so that the picture is not a long strip.

SHAPE = 7
"""The ratio of width to height of a group with its features."""


def columns(ids: Sequence[str], edges: Iterable[Edge]) -> tuple[tuple[str, ...], ...]:
    """Return the ids in columns that are about a square; vertices that lines join are together, and first."""
    joined: dict[str, list[str]] = {id_: [] for id_ in ids}
    for edge in edges:
        joined[edge.source].append(edge.target)
        joined[edge.target].append(edge.source)
    parts = sorted(components(joined), key=lambda each: (-len(each), each))
    order = list(chain.from_iterable(parts))
    rows = max(1, ceil(sqrt(SHAPE * len(order))))
    return tuple(tuple(order[start : start + rows]) for start in range(0, len(order), rows))


# Names that something mentions but no file defines.


def missing_features(model: Model) -> Mapping[str, list[Origin]]:
    """Return the features that no file defines, in order of name, with the places that mention them."""
    found: dict[str, list[Origin]] = {}
    for ref in model.mentioned_features():
        if ref.name not in model.features:
            found.setdefault(ref.name, []).append(ref.origin)
    return dict(sorted(found.items()))


def missing_groups(model: Model) -> Mapping[str, list[Origin]]:
    """Return the groups that no file defines, in order of name, with the places that mention them."""
    found: dict[str, list[Origin]] = {}
    for node in model.hosts():
        for ref in node.groups.items:
            if ref.name not in model.groups and ref.name != model.settings.default_group:
                found.setdefault(ref.name, []).append(ref.origin)
    return dict(sorted(found.items()))


def feature_names(model: Model) -> frozenset[str]:
    """Return every feature that is defined or mentioned."""
    return frozenset((*model.features, *missing_features(model)))


def group_names(model: Model) -> frozenset[str]:
    """Return every group that is defined or mentioned, and the default group, which needs no definition."""
    return frozenset((model.settings.default_group, *model.groups, *missing_groups(model)))


def list_origins(origins: list[Origin]) -> str:
    """Return the text for something that is drawn although it is not defined."""
    return f"Not defined. Used at {', '.join(dict.fromkeys(map(str, origins)))}."
