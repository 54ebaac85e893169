"""Small fleets for pictures."""

from collections.abc import Mapping
from datetime import date

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.git.tree import DictTree
from gitcfg.pictures.picture import Picture, Vertex

TODAY = date(2026, 1, 1)


def fleet(files: Mapping[str, str]) -> Fleet:
    """The fleet of files, with settings if there are none among them."""
    return compile_tree(DictTree({"gitcfg.yaml": "format: 1\nundeclared: allow\n", **files}), TODAY)


def features(**bodies: str) -> dict[str, str]:
    """The files of features."""
    return {f"features/{name}.yaml": body + "\n" for name, body in bodies.items()}


def edges(picture: Picture) -> set[tuple[str, str, str, str]]:
    """Every edge: what it says, from and to, and its label."""
    return {(edge.relation.value, edge.source, edge.target, edge.label) for edge in picture.edges}


def vertex(picture: Picture, id_: str) -> Vertex:
    """A vertex by its id."""
    return next(vertex for vertex in picture.vertices if vertex.id == id_)
