"""All bindings and file entries of a model, and the relations between features and between parameters.

GC202 to GC205: no cycles among features and parameters, and no conflicts built into them.
"""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from gitcfg.check.findings import of
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.instances import has_marks
from gitcfg.compile.surface import Bits
from gitcfg.model import Binding, Feature, FileEntry, Finding, Model, Op, Origin, Ref
from gitcfg.model.graph import Reach, components, reach, reverse

Edges = Mapping[str, Mapping[str, Origin]]
SHOWN = 5  # of the features that need two conflicting ones, which may be all


def bindings(fleet: Fleet) -> Iterator[tuple[str, Binding]]:
    """Yield every binding as nodes may get it; where names have marks, those of the instances."""
    yield from fleet.bindings.named
    for feature in fleet.layers.instances:
        yield from feature.params.items()


def composed(fleet: Fleet, *ops: Op) -> Iterator[tuple[str, Binding]]:
    """Yield the bindings with these operations; where they have marks, those of the instances."""
    for pair in fleet.bindings.of(*ops):
        if not has_marks([pair[0], pair[1].given]):
            yield pair
    for feature in fleet.layers.instances:
        yield from ((name, bound) for name, bound in feature.params.items() if bound.op in ops)


def files(model: Model) -> Iterator[FileEntry]:
    """Yield every file entry that writes a file."""
    for layer in model.layers():
        yield from (entry for entry in layer.files.values() if not entry.removed)


def structure(fleet: Fleet) -> Iterator[Finding]:
    """Yield what is wrong between features and between parameters, independent of nodes."""
    model = fleet.model
    include, depends = inclusion(model), dependence(model)
    after = _edges(model, {f.name: f.after for f in model.features.values()})
    needs = needs_of(model)
    yield from _circles("GC202", include, "{} includes itself.", "{} include each other in a cycle.")
    words = ("{} depends on itself.", "{} depend on each other in a cycle.")
    yield from (f for f in _circles("GC203", needs, *words) if _among(f, depends))
    yield from _circles("GC203", after, "{} comes after itself.", "{} come after each other in a cycle.")
    yield from _circles("GC203", parameter_edges(model), *words)
    yield from _feature_conflicts(model, needs)


def inclusion(model: Model) -> Edges:
    """Return what each feature includes, with places."""
    return _edges(
        model, {f.name: [Ref(u.feature, u.origin) for u in f.include] for f in model.features.values()}
    )


def dependence(model: Model) -> Edges:
    """Return what each feature depends on, with places."""
    return _edges(model, {f.name: f.depends for f in model.features.values()})


def needs_of(model: Model) -> Edges:
    """Return what each feature includes or depends on."""
    depends = dependence(model)
    return {name: {**targets, **depends[name]} for name, targets in inclusion(model).items()}


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
    """Return whether a dependency is an edge of the cycle."""
    inside = set(finding.subjects)
    return any(target in inside for name in inside for target in depends[name])


def listed(names: Iterable[str]) -> str:
    """Return names joined for a sentence."""
    *most, last = names
    return f"{', '.join(most)} and {last}" if most else last


def some(names: Sequence[str]) -> str:
    """Return names joined for a sentence; of many only the first."""
    if len(names) <= SHOWN:
        return listed(names)
    return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN:,} more"


def parameter_edges(model: Model) -> dict[str, dict[str, Origin]]:
    return {
        name: {ref.name: ref.origin for ref in parameter.depends if ref.name in model.parameters}
        for name, parameter in model.parameters.items()
    }


def _conflicts(items: Mapping[str, Feature]) -> dict[tuple[str, ...], list[Origin]]:
    """Return the places where each pair of names (or one name with itself) is declared to conflict."""
    result: dict[tuple[str, ...], list[Origin]] = {}
    known = set(items)  # for a part of a model: only the names in it
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
    """Return whether a feature is one of a pair, or depends on one."""
    return any(target == name or needed.leads(name, target) for name in pair)


def needing(names: list[str]) -> str:
    """Return the first names and the number of the others, with the verb."""
    if len(names) > SHOWN:
        return f"{', '.join(names[:SHOWN])} and {len(names) - SHOWN} more need"
    return f"{names[0]} needs" if len(names) == 1 else f"{listed(names)} need"


# GC205: parameters that belong together do not conflict.

Places = dict[str, dict[str, Origin]]


def clashes(fleet: Fleet) -> Iterator[Finding]:
    """Yield conflicts among what a parameter depends on, or a feature and all that it needs bind."""
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
    """Return where features bind parameters: by parameter, then by feature (`feature X`)."""
    result: Places = {name: {} for name in fleet.model.parameters}
    for feature in fleet.model.features.values():
        for param, bound in feature.params.items():
            if bound.op is not Op.UNSET and "${" not in param:
                result.setdefault(param, {})[f"feature {feature.name}"] = bound.origin
    return result


def _pairs(fleet: Fleet, places: Places) -> dict[tuple[str, ...], list[Origin]]:
    """Return the places where each pair of parameters is declared to conflict.

    The declaration of a family applies to all its members.
    """
    result: dict[tuple[str, ...], list[Origin]] = {}
    for name in places:
        parameter = fleet.declarations.find(name)
        for ref in parameter.conflicts if parameter is not None else ():
            if ref.name in fleet.model.parameters:
                result.setdefault(tuple(sorted({name, ref.name})), []).append(ref.origin)
    return result


def _graph(fleet: Fleet, needs: Edges, places: Places) -> dict[str, list[str]]:
    """Return as edges what features need and bind, and what parameters depend on."""
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
    """Return where the pair is bound by features that all the needers have."""
    return [
        origin
        for param in pair
        for binder, origin in places[param].items()
        if any(binder == needer or needed.leads(binder, needer) for needer in needers)
    ]


# Requirements and conflicts of names, tested for many sets of names.


class Dependent(Protocol):
    """A definition that depends on others, or conflicts with them."""

    @property
    def depends(self) -> tuple[Ref, ...]: ...

    @property
    def conflicts(self) -> tuple[Ref, ...]: ...


class Demands:
    """The requirements and conflicts of all names; sets of names are bits.

    `define` returns the definition of a name. `known` are the names that exist; others are reported
    elsewhere.
    """

    def __init__(self, bits: Bits, define: Callable[[str], Dependent | None], known: Container[str]) -> None:
        self._bits = bits
        self._needers: dict[str, list[tuple[str, Origin]]] = {}
        self._pairs: dict[tuple[str, ...], list[tuple[str, Origin]]] = {}
        for name in sorted(bits.names):
            self._add(name, define(name), known)
        self._required = [
            (bits.mask(needer for needer, _ in needers), bits.among([name]), name)
            for name, needers in self._needers.items()
        ]
        self._conflicting = [(bits.mask(pair), pair) for pair in self._pairs]

    def _add(self, name: str, dependent: Dependent | None, known: Container[str]) -> None:
        for ref in dependent.depends if dependent is not None else ():
            if ref.name in known:
                self._needers.setdefault(ref.name, []).append((name, ref.origin))
        for ref in dependent.conflicts if dependent is not None else ():
            if ref.name in known and ref.name != name and ref.name in self._bits.places:
                pair = (min(name, ref.name), max(name, ref.name))
                self._pairs.setdefault(pair, []).append((name, ref.origin))

    def missing(self, have: int) -> list[tuple[str, list[tuple[str, Origin]]]]:
        """Return what is required but missing, each with the names that require it, and their places."""
        return [
            (name, [need for need in self._needers[name] if have & self._bits.bit(need[0])])
            for needers, itself, name in self._required
            if have & needers and not have & itself
        ]

    def clashing(self, have: int) -> list[tuple[tuple[str, ...], list[tuple[str, Origin]]]]:
        """Return the conflicting pairs that are present, each with the names that declare it and places."""
        return [(pair, self._pairs[pair]) for mask, pair in self._conflicting if have & mask == mask]
