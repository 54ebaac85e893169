"""Lists of features as groups install them, each list once however many groups have it."""

from collections.abc import Iterable, Iterator
from typing import Any

from gitcfg.model import Group, Model, Use
from gitcfg.picture.picture import Edge, Kind, Relation, Vertex
from gitcfg.picture.words import by_feature, ident, instances, quoted


def installed(model: Model, groups: Iterable[Group]) -> tuple[list[Vertex], list[Edge]]:
    """A vertex for each list of features, and an edge to it from each group that has it."""
    vertices: dict[Any, Vertex] = {}
    edges: list[Edge] = []
    for group in groups:
        if group.features:
            key = tuple(map(_key, group.features))
            vertex = vertices.setdefault(key, _vertex(model, group))
            edges.append(Edge(Relation.INSTALLS, ident("group", group.name), vertex.id))
    return list(vertices.values()), edges


def _key(use: Use) -> Any:
    """Equal for uses that say the same, wherever they are written."""
    attributes = {name: (given.given, given.text) for name, given in sorted(use.attributes.items())}
    return use.feature, use.instance, repr(attributes)


def _vertex(model: Model, group: Group) -> Vertex:
    """The list as it is written: the topmost feature first."""
    lines = tuple(_lines(model, group.features))
    return Vertex(
        id=f"features of {quoted(group.name)}",
        kind=Kind.FEATURES,
        name=lines[0],
        lines=lines[1:],
        about="Highest priority first.",
    )


def _lines(model: Model, uses: Iterable[Use]) -> Iterator[str]:
    for number, (name, of_name) in enumerate(by_feature(uses).items(), 1):
        missing = "" if name in model.features else "(missing)"
        yield " ".join(filter(None, (f"{number}.", name, instances(of_name), missing)))
