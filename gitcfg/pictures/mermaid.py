"""A picture in Mermaid's language, which forges draw inside Markdown."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping

from gitcfg.model.text import safe
from gitcfg.pictures.picture import (
    LINES,
    LOOKS,
    UNUSED,
    Look,
    Picture,
    Relation,
    by_folder,
    label,
    legend,
    short,
)

MOST_EDGES, MOST_TEXT = 500, 50_000
"""What Mermaid draws unless its page sets other limits: a number of edges, and of characters of text."""

_ARROWS: Mapping[Relation, str] = {
    Relation.DEPENDS: "-.->",
    Relation.AFTER: "-.->",
    Relation.CONFLICTS: "---",
    Relation.SOME: "-.->",
    Relation.SHARES: "-.-",
    Relation.ABOVE: "==>",
}
_DASHES = {"dashed": ",stroke-dasharray:6 4", "dotted": ",stroke-dasharray:1 4"}
_PLAIN = frozenset(" .,-/()[]@+='!?…")
_BEGINNING = frozenset("\\$:")
_LIST = re.compile(r"[-+]|[0-9]+[.)]")


def mermaid(picture: Picture) -> str:
    """Return the picture as a flowchart. The same picture gives the same text."""
    return "".join(f"{line}\n" for line in _lines(picture))


def too_large(picture: Picture, text: str) -> bool:
    """Return whether Mermaid will refuse to draw it."""
    return len(picture.edges) > MOST_EDGES or len(text) > MOST_TEXT


def _lines(picture: Picture) -> Iterator[str]:
    names = _names([vertex.id for vertex in picture.vertices])
    yield "---"
    yield f"title: {json.dumps(safe(picture.title), ensure_ascii=False)}"
    yield "---"
    yield f"flowchart {'TB' if picture.stack else 'LR'}"
    yield from _vertices(picture, names)
    notes = list(legend(picture))
    if notes:
        yield f"  note[{_text(notes)}]:::note"
    for edge in picture.edges:
        words = f"|{_text([short(safe(edge.label))])}|" if edge.label else ""
        arrow = _ARROWS.get(edge.relation, "-->")
        yield f"  {names[edge.source]} {arrow}{words} {names[edge.target]}"
    yield from _styles(picture, bool(notes))


def _names(ids: Iterable[str]) -> dict[str, str]:
    """Return names of ASCII letters and digits, each once; their first words have no meaning in Mermaid."""
    names: dict[str, str] = {}
    used: set[str] = set()
    for id_ in ids:
        name = base = re.sub(r"[^A-Za-z0-9]+", "_", id_).strip("_")[:80]
        number = 1
        while name in used:
            number += 1
            name = f"{base}_{number}"
        names[id_] = name
        used.add(name)
    return names


def _vertices(picture: Picture, names: Mapping[str, str]) -> Iterator[str]:
    ids = _names(dict.fromkeys(f"folder {vertex.folder}" for vertex in picture.vertices))
    for folder, vertices in by_folder(picture):
        name = ids[f"folder {folder}"]
        if folder:
            yield f"  subgraph {name}[{_text([folder])}]"
        for vertex in vertices:
            look = "unused" if vertex.unused else vertex.kind
            yield f"  {'  ' * bool(folder)}{names[vertex.id]}[{_text(label(vertex))}]:::{look}"
        if folder:
            yield "  end"
            yield f"  style {name} fill:none,stroke:#b8bfc6"


def _styles(picture: Picture, notes: bool) -> Iterator[str]:
    kinds = {vertex.kind for vertex in picture.vertices if not vertex.unused}
    looks = {kind.value: look for kind, look in LOOKS.items() if kind in kinds}
    if any(vertex.unused for vertex in picture.vertices):
        looks["unused"] = UNUSED
    if notes:
        looks["note"] = Look("#ffffff", "#b8bfc6", "#57606a")
    for name, look in looks.items():
        dashes = ",stroke-dasharray:4 3" if look.dashed else ""
        yield f"  classDef {name} fill:{look.fill},stroke:{look.line},color:{look.text}{dashes}"
    for relation, line in LINES.items():
        numbers = [str(number) for number, edge in enumerate(picture.edges) if edge.relation is relation]
        if numbers:
            style = f"stroke:{line.color}{_DASHES.get(line.style, '')}"
            yield f"  linkStyle {','.join(numbers)} {style}"


def _text(lines: Iterable[str]) -> str:
    return f'"{"<br>".join(map(_escaped, lines))}"'


def _escaped(line: str) -> str:
    """Escape a line so that nothing in it is Mermaid's markup, HTML, or Markdown (a list, emphasis)."""
    line = safe(line)
    start = match.end() if (match := _LIST.match(line)) else 0
    escaped = []
    for at, sign in enumerate(line):
        # A colon is markup unless a blank follows.
        is_plain = sign.isalnum() or sign in _PLAIN or line[at : at + 2] == ": "
        if is_plain and at + 1 != start:
            escaped.append(sign)
        else:
            # After entities are resolved, `\n` is a new line, `$$` begins a formula and `fa:fa-` an icon: a
            # character of no width in between prevents it.
            escaped.append(f"#{ord(sign)};" + "#8203;" * (sign in _BEGINNING))
    return "".join(escaped)
