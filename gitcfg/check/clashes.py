"""GC205: parameters that belong together do not conflict."""

from collections.abc import Iterator

from gitcfg.check.fold import of
from gitcfg.check.structure import SHOWN, Edges, listed, needing, needs_of, parameter_edges
from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding, Op, Origin
from gitcfg.model.graph import Reach, reach, reverse

Places = dict[str, dict[str, Origin]]


def clashes(fleet: Fleet) -> Iterator[Finding]:
    """Conflicts among what a parameter depends on, or what a feature and all that it needs bind."""
    places = _places(fleet)
    pairs = _pairs(fleet, places)
    if not pairs:
        return
    needed = reach(reverse(_graph(fleet, needs_of(fleet.model), places)))
    for pair, origins in pairs.items():
        if len(pair) == 1:
            yield of("GC205", pair, f"{pair[0]} conflicts with itself.", origins)
            continue
        both = needed.common(pair)
        if both:
            message = f"{listed(pair)} conflict, but {needing(both)} both."
            yield of("GC205", pair, message, [*_bound(needed, both[:SHOWN], pair, places), *origins])


def _places(fleet: Fleet) -> Places:
    """Where features bind parameters: by parameter, then by feature, as `feature X`."""
    result: Places = {name: {} for name in fleet.model.parameters}
    for feature in fleet.model.features.values():
        for param, bound in feature.params.items():
            if bound.op is not Op.UNSET and "${" not in param:
                result.setdefault(param, {})[f"feature {feature.name}"] = bound.origin
    return result


def _pairs(fleet: Fleet, places: Places) -> dict[tuple[str, ...], list[Origin]]:
    """Where each pair of parameters is said to conflict; a family speaks for its members."""
    result: dict[tuple[str, ...], list[Origin]] = {}
    for name in places:
        parameter = fleet.declarations.find(name)
        for ref in parameter.conflicts if parameter is not None else ():
            if ref.name in fleet.model.parameters:
                result.setdefault(tuple(sorted({name, ref.name})), []).append(ref.origin)
    return result


def _graph(fleet: Fleet, needs: Edges, places: Places) -> dict[str, list[str]]:
    """Features lead to what they need and bind, parameters to what they depend on."""
    depends = parameter_edges(fleet.model)
    graph = {
        f"feature {name}": [f"feature {target}" for target in targets] for name, targets in needs.items()
    }
    for param, binders in places.items():
        parameter = fleet.declarations.find(param)
        graph[param] = list(depends[parameter.name]) if parameter is not None else []
        for feature in binders:
            graph[feature].append(param)
    return graph


def _bound(needed: Reach, needers: list[str], pair: tuple[str, ...], places: Places) -> list[Origin]:
    """Where the pair is bound by what those who need both have."""
    return [
        origin
        for param in pair
        for binder, origin in places[param].items()
        if any(binder == needer or needed.leads(binder, needer) for needer in needers)
    ]
