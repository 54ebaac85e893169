"""GC202 to GC205: no circles among features and parameters, and no conflicts built into them."""

from collections.abc import Iterable, Iterator, Mapping

from gitcfg.check.fold import of
from gitcfg.compile.fleet import Fleet
from gitcfg.graph import components, reach
from gitcfg.model import Feature, Finding, Model, Op, Origin, Parameter, Ref

Edges = Mapping[str, Mapping[str, Origin]]


def structure(fleet: Fleet) -> Iterator[Finding]:
    """What is wrong with features and parameters among themselves, whoever has them."""
    model = fleet.model
    include = _edges(model, {f.name: [Ref(u.feature, u.origin) for u in f.include] for f in _features(model)})
    depends = _edges(model, {f.name: f.depends for f in _features(model)})
    after = _edges(model, {f.name: f.after for f in _features(model)})
    needs = {name: {**include[name], **depends[name]} for name in include}
    yield from _circles("GC202", include, "{} includes itself.", "{} include each other in a circle.")
    words = ("{} depends on itself.", "{} depend on each other in a circle.")
    yield from (f for f in _circles("GC203", needs, *words) if _among(f, depends))
    yield from _circles("GC203", after, "{} comes after itself.", "{} come after each other in a circle.")
    yield from _parameter_circles(model)
    yield from _feature_conflicts(model, needs)
    yield from _parameter_conflicts(fleet, needs)


def _features(model: Model) -> Iterable[Feature]:
    return model.features.values()


def _edges(model: Model, refs: Mapping[str, Iterable[Ref]]) -> dict[str, dict[str, Origin]]:
    return {
        name: {ref.name: ref.origin for ref in targets if ref.name in model.features}
        for name, targets in refs.items()
    }


def _circles(code: str, edges: Edges, alone: str, together: str) -> Iterator[Finding]:
    for members in components(edges):
        inside = set(members)
        origins = [o for name in members for target, o in edges.get(name, {}).items() if target in inside]
        if origins:
            words = alone if len(members) == 1 else together
            yield of(code, members, words.format(listed(members)), sorted(origins))


def _among(finding: Finding, depends: Edges) -> bool:
    """Is a dependence one of the circle's edges?"""
    inside = set(finding.subjects)
    return any(target in inside for name in inside for target in depends[name])


def listed(names: Iterable[str]) -> str:
    """Names in a sentence."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def _parameter_edges(model: Model) -> dict[str, dict[str, Origin]]:
    return {
        name: {ref.name: ref.origin for ref in parameter.depends if ref.name in model.parameters}
        for name, parameter in model.parameters.items()
    }


def _parameter_circles(model: Model) -> Iterator[Finding]:
    words = ("{} depends on itself.", "{} depend on each other in a circle.")
    return _circles("GC203", _parameter_edges(model), *words)


def _conflicts(items: Mapping[str, Feature] | Mapping[str, Parameter]) -> dict[tuple[str, ...], list[Origin]]:
    """Where each pair of names (or one name with itself) is said to conflict."""
    result: dict[tuple[str, ...], list[Origin]] = {}
    for name, item in items.items():
        for ref in item.conflicts:
            if ref.name in items:
                result.setdefault(tuple(sorted({name, ref.name})), []).append(ref.origin)
    return result


def _feature_conflicts(model: Model, needs: Edges) -> Iterator[Finding]:
    pairs = _conflicts(model.features)
    closures = {name: below | {name} for name, below in reach(needs).items()} if pairs else {}
    for pair, origins in pairs.items():
        if len(pair) == 1:
            yield of("GC204", pair, f"{pair[0]} conflicts with itself.", origins)
            continue
        both = sorted(name for name, closure in closures.items() if closure.issuperset(pair))
        if both:
            message = f"{listed(pair)} conflict, but {_needs(both)} both."
            places = [origin for name in both for origin in _ways(needs[name], pair, closures)]
            yield of("GC204", pair, message, [*origins, *places])


def _needs(names: list[str]) -> str:
    return f"{names[0]} needs" if len(names) == 1 else f"{listed(names)} need"


def _ways(
    edges: Mapping[str, Origin], pair: Iterable[str], closures: Mapping[str, frozenset[str]]
) -> list[Origin]:
    """The mentions through which a feature comes to need one of a pair."""
    return [origin for target, origin in edges.items() if not closures[target].isdisjoint(pair)]


def _parameter_conflicts(fleet: Fleet, needs: Edges) -> Iterator[Finding]:
    model = fleet.model
    if not any(parameter.conflicts for parameter in model.parameters.values()):
        return
    below = reach(_parameter_edges(model))
    found: dict[tuple[str, ...], tuple[list[Origin], list[str]]] = {}
    for needer, places in (*_by_parameter(model), *_by_feature(model, needs)):
        for pair, origin in _conflicting(fleet, _with_needed(fleet, set(places), below)):
            origins, needers = found.setdefault(pair, ([], []))
            origins += [*(place for name in pair for place in places.get(name, ())), origin]
            needers.append(needer)
    for pair, (origins, needers) in found.items():
        if len(pair) == 1:
            yield of("GC205", pair, f"{pair[0]} conflicts with itself.", origins)
        else:
            yield of(
                "GC205", pair, f"{listed(pair)} conflict, but {_needs(sorted(set(needers)))} both.", origins
            )


def _by_parameter(model: Model) -> Iterator[tuple[str, dict[str, list[Origin]]]]:
    return ((name, {name: []}) for name in model.parameters)


def _by_feature(model: Model, needs: Edges) -> Iterator[tuple[str, dict[str, list[Origin]]]]:
    """What a feature and all that it includes or depends on bind, and where."""
    closures = reach(needs)
    for name in model.features:
        places: dict[str, list[Origin]] = {}
        for member in sorted(closures[name] | {name}):
            for param, bound in model.features[member].params.items():
                if bound.op is not Op.UNSET and "${" not in param:
                    places.setdefault(param, []).append(bound.origin)
        yield f"feature {name}", places


def _with_needed(fleet: Fleet, names: set[str], below: Mapping[str, frozenset[str]]) -> set[str]:
    declared = (fleet.declarations.find(name) for name in names)
    return names.union(*(below[parameter.name] for parameter in declared if parameter is not None))


def _conflicting(fleet: Fleet, names: set[str]) -> Iterator[tuple[tuple[str, ...], Origin]]:
    for name in sorted(names):
        parameter = fleet.declarations.find(name)
        for ref in parameter.conflicts if parameter is not None else ():
            if ref.name in names and ref.name in fleet.model.parameters:
                yield tuple(sorted({name, ref.name})), ref.origin
