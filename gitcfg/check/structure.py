"""GC202 to GC205: no circles among features and parameters, and no conflicts built into them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from gitcfg.check.fold import of
from gitcfg.compile.fleet import Fleet
from gitcfg.model import Feature, Finding, Model, Origin, Ref
from gitcfg.model.graph import Reach, components, reach, reverse

Edges = Mapping[str, Mapping[str, Origin]]
SHOWN = 5  # who needs a pair that conflicts may be everybody


def structure(fleet: Fleet) -> Iterator[Finding]:
    """What is wrong with features and parameters among themselves, whoever has them."""
    model = fleet.model
    include, depends = inclusion(model), dependence(model)
    after = _edges(model, {f.name: f.after for f in _features(model)})
    needs = needs_of(model)
    yield from _circles("GC202", include, "{} includes itself.", "{} include each other in a circle.")
    words = ("{} depends on itself.", "{} depend on each other in a circle.")
    yield from (f for f in _circles("GC203", needs, *words) if _among(f, depends))
    yield from _circles("GC203", after, "{} comes after itself.", "{} come after each other in a circle.")
    yield from _parameter_circles(model)
    yield from _feature_conflicts(model, needs)


def inclusion(model: Model) -> Edges:
    """What each feature includes, and where that is said."""
    return _edges(model, {f.name: [Ref(u.feature, u.origin) for u in f.include] for f in _features(model)})


def dependence(model: Model) -> Edges:
    """What each feature depends on, and where that is said."""
    return _edges(model, {f.name: f.depends for f in _features(model)})


def needs_of(model: Model) -> Edges:
    """What each feature includes or depends on."""
    depends = dependence(model)
    return {name: {**targets, **depends[name]} for name, targets in inclusion(model).items()}


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


def some(names: Sequence[str]) -> str:
    """Names in a sentence, but of many only the first."""
    if len(names) <= SHOWN:
        return listed(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN:,} more"


def parameter_edges(model: Model) -> dict[str, dict[str, Origin]]:
    return {
        name: {ref.name: ref.origin for ref in parameter.depends if ref.name in model.parameters}
        for name, parameter in model.parameters.items()
    }


def _parameter_circles(model: Model) -> Iterator[Finding]:
    words = ("{} depends on itself.", "{} depend on each other in a circle.")
    return _circles("GC203", parameter_edges(model), *words)


def _conflicts(items: Mapping[str, Feature]) -> dict[tuple[str, ...], list[Origin]]:
    """Where each pair of names (or one name with itself) is said to conflict."""
    result: dict[tuple[str, ...], list[Origin]] = {}
    known = set(items)  # of a part of a model no more than that
    for name, item in items.items():
        for ref in item.conflicts:
            if ref.name in known:
                result.setdefault(tuple(sorted({name, ref.name})), []).append(ref.origin)
    return result


def _feature_conflicts(model: Model, needs: Edges) -> Iterator[Finding]:
    pairs = _conflicts(model.features)
    needed = reach(reverse(needs)) if pairs else None
    for pair, origins in pairs.items():
        if needed is None or len(pair) == 1:
            yield of("GC204", pair, f"{pair[0]} conflicts with itself.", origins)
            continue
        both = needed.common(pair)
        if both:
            message = f"{listed(pair)} conflict, but {needing(both)} both."
            places = [o for name in both[:SHOWN] for t, o in needs[name].items() if _of(needed, t, pair)]
            yield of("GC204", pair, message, [*origins, *places])


def _of(needed: Reach, target: str, pair: tuple[str, ...]) -> bool:
    """Is a feature one of a pair, or does it need one?"""
    return any(target == name or needed.leads(name, target) for name in pair)


def needing(names: list[str]) -> str:
    """Who needs something: a few by name, and how many more."""
    if len(names) > SHOWN:
        return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more need"
    return f"{names[0]} needs" if len(names) == 1 else f"{listed(names)} need"
