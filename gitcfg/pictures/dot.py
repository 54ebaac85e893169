"""A picture in Graphviz's language."""

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise

from gitcfg.model.text import safe
from gitcfg.pictures.picture import (
    LINES,
    MUTUAL,
    Edge,
    Kind,
    Picture,
    Relation,
    Vertex,
    about,
    by_folder,
    label,
    legend,
    look,
    short,
)

PIECE = 3_000
"""Characters of a string between quotes: older versions of dot take at most 16,384 bytes."""

_PIECES = re.compile(rf"(?:\\.|[^\\]){{1,{PIECE}}}", re.DOTALL)


def dot(picture: Picture) -> str:
    """Return the picture as a digraph. The same picture gives the same text."""
    return "".join(f"{line}\n" for line in _lines(picture))


def _lines(picture: Picture) -> Iterator[str]:
    yield f"digraph {_id(safe(picture.title))} {{"
    yield f"  graph [{_attributes(_layout(picture))}]"
    yield '  node [shape=box, style="filled,rounded", fontname="sans-serif", fontsize=11, margin="0.12,0.06"]'
    yield '  edge [fontname="sans-serif", fontsize=9, arrowsize=0.7]'
    yield from _vertices(picture)
    for column in (picture.stack, *picture.columns):
        if column:
            yield f"  {{ rank=same; {'; '.join(map(_id, column))} }}"
    for left, right in pairwise(picture.columns):
        yield f"  {_id(left[0])} -> {_id(right[0])} [style=invis, minlen=2]"
    for edge in picture.edges:
        yield f"  {_edge(edge)}"
    yield "}"


def _layout(picture: Picture) -> dict[str, str]:
    """Return attributes of the whole picture.

    The background is white, because a page may be dark. Many lines need more space.
    """
    lines = 0 if picture.stack else sum(edge.relation is not Relation.INSTALLS for edge in picture.edges)
    attributes = {
        "rankdir": "LR",
        "bgcolor": "white",
        "fontname": '"sans-serif"',
        "fontsize": "11",
        "nodesep": "0.2",
        "ranksep": f"{min(6.0, 0.6 + lines / 150):.2f}",
        "labelloc": "t",
        "labeljust": "l",
        "label": _text([picture.title, *legend(picture)], "l"),
    }
    if picture.stack:
        attributes["ordering"] = "out"  # the highest priority first, as in the lists
    return attributes


def _vertices(picture: Picture) -> Iterator[str]:
    for folder, vertices in by_folder(picture):
        if folder:
            yield f"  subgraph {_id(safe(f'cluster {folder}'))} {{"
            yield f'    label={_text([folder], "l")}; color="#b8bfc6"; fontcolor="#57606a"; style=rounded'
        for vertex in vertices:
            yield f"{'    ' if folder else '  '}{_vertex(vertex)}"
        if folder:
            yield "  }"


def _vertex(vertex: Vertex) -> str:
    style = look(vertex)
    # All versions of dot resolve escapes of a tooltip twice.
    tooltip = "\\n".join(_escaped(safe(line), 2) for line in about(vertex).split("\n"))
    attributes = {
        "label": _text(label(vertex), "l" if vertex.kind is Kind.FEATURES else "n"),
        "tooltip": _quoted(tooltip),
        "fillcolor": _quoted(style.fill),
        "color": _quoted(style.line),
        "fontcolor": _quoted(style.text),
    }
    if style.dashed:
        attributes["style"] = '"filled,rounded,dashed"'
    return f"{_id(vertex.id)} [{_attributes(attributes)}]"


def _edge(edge: Edge) -> str:
    line = LINES[edge.relation]
    attributes = {"color": _quoted(line.color)}
    if line.style != "solid":
        attributes["style"] = line.style
    if line.style == "dotted":
        attributes["penwidth"] = "1.7"  # thinner lines are hardly visible
    if edge.relation in MUTUAL:
        attributes["dir"] = "none"
    if edge.relation is Relation.SHARES:
        attributes["constraint"] = "false"
    if edge.label:
        attributes["label"] = _text([short(safe(edge.label))], "n")
    return f"{_id(edge.source)} -> {_id(edge.target)} [{_attributes(attributes)}]"


def _attributes(attributes: dict[str, str]) -> str:
    return ", ".join(f"{key}={value}" for key, value in attributes.items())


def _text(lines: Iterable[str], align: str) -> str:
    """Return the lines of a label. dot reads entities even here, so an ampersand is written as one."""
    return _quoted("".join(f"{_escaped(safe(line), 1)}\\{align}" for line in lines))


def _escaped(text: str, times: int) -> str:
    return text.replace("\\", "\\" * 2**times).replace('"', '\\"').replace("&", "&amp;")


def _id(text: str) -> str:
    """Return a name, escaped. dot keeps both backslashes, which is harmless: all names are written alike."""
    return _quoted(text.replace("\\", "\\\\").replace('"', '\\"'))


def _quoted(escaped: str) -> str:
    """Return a text between quotes; one that is too long for a string as a sum of several."""
    return " + ".join(f'"{piece}"' for piece in _PIECES.findall(escaped) or [""])
