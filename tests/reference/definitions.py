"""GC202 to GC205 and GC207: what is wrong with definitions, whoever has them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import combinations

from tests.reference.instances import uses
from tests.reference.operations import operation
from tests.reference.references import Fact
from tests.reference.repository import Document, Repository

Edges = Mapping[str, set[str]]


def wrong(repository: Repository) -> Iterator[Fact]:
    """One fact a circle, conflict or useless default."""
    features, parameters = repository.features, repository.parameters
    includes = _edges(features, lambda body: [use.feature for use in uses(body.get("include", []))])
    depends, after = _lists(features, "depends"), _lists(features, "after")
    wanted = _lists(parameters, "depends")
    both = {name: includes[name] | depends[name] for name in features}
    yield from (("GC202", names, None) for names in _circles(includes, includes))
    for edges, closing in ((both, depends), (after, after), (wanted, wanted)):
        yield from (("GC203", names, None) for names in _circles(edges, closing))
    for name in features:
        reached = {name, *_reached(both, [name])} & {*features}
        yield from (("GC204", names, None) for names in _conflicts(features, reached))
        bound = {param for feature in reached for param in _bound(features[feature])}
        needed = {*bound, *_reached(wanted, bound)} & {*parameters}
        yield from (("GC205", names, None) for names in _conflicts(parameters, needed))
    for name, said in parameters.items():
        reached = {name, *_reached(wanted, [name])} & {*parameters}
        yield from (("GC205", names, None) for names in _conflicts(parameters, reached))
        if "default" in said and "must_change" in said and said["must_change"].value:
            yield "GC207", (name,), None


def _bound(body: Document) -> list[str]:
    """What a feature binds: what it takes away it does not bind."""
    return [name for name, raw in body.get("params", {}).items() if operation(raw)[0] != "unset"]


def _lists(definitions: Mapping[str, Document], key: str) -> Edges:
    return _edges(definitions, lambda body: body.get(key, []))


def _edges(definitions: Mapping[str, Document], names: Callable[[Document], Iterable[str]]) -> Edges:
    return {
        name: {other for other in names(body) if other in definitions} for name, body in definitions.items()
    }


def _reached(edges: Edges, names: Iterable[str]) -> set[str]:
    """Everything that one of these leads to."""
    found: set[str] = set()
    ahead = list(names)
    for name in ahead:
        new = edges.get(name, set()) - found
        found |= new
        ahead += sorted(new)
    return found


def _circles(edges: Edges, closing: Edges) -> set[tuple[str, ...]]:
    """Names that all lead to one another, if an edge between two of them is one of those that close."""
    reached = {name: _reached(edges, [name]) for name in edges}
    together = {
        tuple(sorted(other for other in others if name in reached[other]))
        for name, others in reached.items()
        if name in others
    }
    return {names for names in together if any(closing[name] & {*names} for name in names)}


def _conflicts(definitions: Mapping[str, Document], names: set[str]) -> Iterator[tuple[str, ...]]:
    against = {name: {*definitions[name].get("conflicts", [])} for name in names}
    yield from ((name,) for name in names if name in against[name])
    for left, right in combinations(sorted(names), 2):
        if right in against[left] or left in against[right]:
            yield left, right
