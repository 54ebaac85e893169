"""How things look in all pictures: dark text on light fills, lines that show on white and black."""

import re
from collections.abc import Iterator, Mapping

import msgspec

from gitcfg.picture.picture import Kind, Picture, Relation, Vertex


class Look(msgspec.Struct, frozen=True):
    """A vertex: colours of its inside, border and text; dashed borders are of what is not really there."""

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
    Relation.SOME: Line("#94690a", "dashed", "dashed: so many of the nodes"),
    Relation.SHARES: Line("#94690a", "dashed", "dashed: so many nodes in both groups"),
    Relation.ABOVE: Line("#2f7d4f", "bold", ""),
}


def look(vertex: Vertex) -> Look:
    """How a vertex looks."""
    return UNUSED if vertex.unused else LOOKS[vertex.kind]


def legend(picture: Picture) -> Iterator[str]:
    """What a reader has to know: what lines mean, as far as they occur, and what is not drawn."""
    drawn = {edge.relation for edge in picture.edges} if not picture.stack else set()
    words = [line.words for relation, line in LINES.items() if relation in drawn and line.words]
    if any(vertex.unused for vertex in picture.vertices):
        words.append("grey: no node has it")
    if any(_ORDER.match(edge.label) for edge in picture.edges):
        words.append("1. is the highest priority")
    if words:
        yield ", ".join(words)
    yield from picture.notes
