"""Pictures read back: from dot by Graphviz itself, from Mermaid by a small reader of what gitcfg writes."""

import html
import json
import re
import shutil
import subprocess
from collections import Counter
from typing import Any
from xml.etree import ElementTree

import pytest

from gitcfg.pictures.picture import Picture

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="Graphviz is not installed")

SVG = "{http://www.w3.org/2000/svg}"
HREF = "{http://www.w3.org/1999/xlink}"

Drawn = tuple[set[str], Counter[tuple[str, str]]]
"""The names of vertices, and the edges between them."""


def meant(picture: Picture) -> Drawn:
    """What every language has to say."""
    edges = Counter((edge.source, edge.target) for edge in picture.edges)
    return {vertex.id for vertex in picture.vertices}, edges


def graphviz(text: str, form: str) -> str:
    """What Graphviz makes of a text; it has nothing to complain of."""
    done = subprocess.run(["dot", f"-T{form}"], input=text.encode(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b""), done.stderr
    return done.stdout.decode()


def read_dot(text: str) -> Drawn:
    """The graph that Graphviz reads. It keeps two backslashes where one is meant."""
    graph: dict[str, Any] = json.loads(graphviz(text, "dot_json"))
    objects = graph.get("objects", ())
    names = {each["_gvid"]: each["name"].replace("\\\\", "\\") for each in objects}
    seen = (each for each in graph.get("edges", ()) if each.get("style") != "invis")
    edges = Counter((names[each["tail"]], names[each["head"]]) for each in seen)
    return {names[each["_gvid"]] for each in objects if "nodes" not in each}, edges


def read_svg(text: str) -> ElementTree.Element:
    """The drawing's root. Graphviz draws with these elements, and with links that lead nowhere."""
    root = ElementTree.fromstring(text)
    known = {"svg", "g", "title", "polygon", "path", "polyline", "ellipse", "text", "a"}
    for element in root.iter():
        assert element.tag.removeprefix(SVG) in known, element.tag
        assert not [key for key in element.attrib if key.startswith("on") or key.endswith("href")]
    return root


def tooltips(root: ElementTree.Element) -> set[str]:
    """Every tooltip, without the entities that dot's own text has."""
    return {element.attrib[f"{HREF}title"] for element in root.iter(f"{SVG}a")}


def shown(root: ElementTree.Element) -> list[str]:
    """Every line of text."""
    return [element.text or "" for element in root.iter(f"{SVG}text")]


_VERTEX = re.compile(r' +([A-Za-z0-9_]+)\["([^"]*)"\]:::([a-z]+)')
_EDGE = re.compile(r'  ([A-Za-z0-9_]+) (?:-->|-\.->|---|-\.-|==>)(?:\|"([^"]*)"\|)? ([A-Za-z0-9_]+)')
_OTHER = re.compile(
    r'---|title: "(?:[^"\\]|\\.)*"|flowchart (?:LR|TB)|  subgraph \w+\["[^"]*"\]|  end|  style \w+ [\w:#,-]+'
    r"|  classDef [a-z]+ [\w:#, -]+|  linkStyle [0-9,]+ [\w:#, -]+"
)


def read_mermaid(text: str) -> tuple[dict[str, list[str]], Counter[tuple[str, str]]]:
    """Each vertex' lines by its name, the note's too, and the edges. AssertionError: an unknown line."""
    labels: dict[str, list[str]] = {}
    edges = Counter[tuple[str, str]]()
    for line in text.splitlines():
        if vertex := _VERTEX.fullmatch(line):
            assert vertex[1] not in labels, vertex[1]
            labels[vertex[1]] = [_unescaped(part) for part in vertex[2].split("<br>")]
        elif edge := _EDGE.fullmatch(line):
            edges[edge[1], edge[3]] += 1
        else:
            assert _OTHER.fullmatch(line), line
    return labels, edges


def _unescaped(text: str) -> str:
    """Mermaid's entities are HTML's, with another first sign."""
    assert not set(text) & set('"<>&`{}%;') - {";"}
    assert re.fullmatch(r"(?:[^#;]|#[0-9]+;)*", text), text
    read = html.unescape(re.sub(r"#([0-9]+);", r"&#\1;", text))
    assert not re.search(r"\\n|\$\$|fa.?:fa-", read), "Mermaid would read this once more"
    return read.replace("\u200b", "")
