"""Pictures as records for programs: `gitcfg.model.graph/1`."""

from typing import Any

from gitcfg.picture.picture import Edge, Picture, Vertex

Record = dict[str, Any]


def picture_record(commit: str | None, picture: Picture) -> Record:
    """A picture, its vertices each with the edges that leave it. Mutual ones leave one of their two."""
    leaving: dict[str, list[Edge]] = {}
    for edge in picture.edges:
        leaving.setdefault(edge.source, []).append(edge)
    return {
        "schema": "gitcfg.model.graph/1",
        "commit": commit,
        "subject": picture.subject,
        "title": picture.title,
        "notes": list(picture.notes),
        "stack": list(picture.stack),
        "vertices": [_vertex(vertex, leaving.get(vertex.id, [])) for vertex in picture.vertices],
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
