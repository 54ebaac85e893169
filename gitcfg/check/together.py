"""GC301 to GC305: what a node has and binds goes together and is complete."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from gitcfg.check.fold import of
from gitcfg.check.structure import listed
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding, Model, Origin, Parameter
from gitcfg.model.names import shown


def together(fleet: Fleet) -> Iterator[Finding]:
    """What is missing from nodes, or clashes on them."""
    judge = _Judge(fleet)
    for kind in fleet.judged:
        yield from judge.features(kind)
        yield from judge.params(kind)


class _Judge:
    """Which features and parameters have something to ask for, found once for all classes."""

    def __init__(self, fleet: Fleet) -> None:
        self.fleet = fleet
        self.model: Model = fleet.model
        features = self.model.features.values()
        self.depending = frozenset(feature.name for feature in features if feature.depends)
        self.conflicting = frozenset(feature.name for feature in features if feature.conflicts)
        self.marked = frozenset(name for feature in features for name in feature.params if "${" in name)
        self.asking: dict[str, Parameter | None] = {}

    def features(self, kind: NodeClass) -> Iterator[Finding]:
        """GC301, GC302."""
        for name, needers in self._missing(kind.features).items():
            sources = listed(sorted({needer for needer, _ in needers}))
            verb = "depends" if len({needer for needer, _ in needers}) == 1 else "depend"
            message = f"The feature {name} is missing: {sources} {verb} on it."
            hint = f"Add {name} to the nodes or a group of theirs."
            places = [o for needer, _ in needers for o in installed(kind, self.model, needer)]
            yield of("GC301", name, message, [*(o for _, o in needers), *places], kind.names, hint)
        for pair, origins in self._clashes(kind.features).items():
            places = [o for name in pair for o in installed(kind, self.model, name)]
            yield of("GC302", pair, f"The features {listed(pair)} conflict.", [*origins, *places], kind.names)

    def _missing(self, have: frozenset[str]) -> Mapping[str, list[tuple[str, Origin]]]:
        """What is missing by name, with who needs it and where that is said."""
        result: dict[str, list[tuple[str, Origin]]] = {}
        todo = sorted(have & self.depending)
        while todo:
            needer = todo.pop(0)
            for ref in self.model.features[needer].depends:
                if ref.name in have or ref.name not in self.model.features:
                    continue
                if ref.name not in result:
                    todo.append(ref.name)
                result.setdefault(ref.name, []).append((needer, ref.origin))
        return result

    def _clashes(self, have: frozenset[str]) -> Mapping[tuple[str, str], list[Origin]]:
        result: dict[tuple[str, str], list[Origin]] = {}
        for name in sorted(have & self.conflicting):
            for ref in self.model.features[name].conflicts:
                if ref.name in have and ref.name != name:
                    pair = (min(name, ref.name), max(name, ref.name))
                    result.setdefault(pair, []).append(ref.origin)
        return result

    def params(self, kind: NodeClass) -> Iterator[Finding]:
        """GC303, GC304, GC305; and GC103 for an instance's name that has no instance."""
        for name in sorted(self.marked & kind.params.keys()):
            message = f"{shown(name)!r} is a name only in an instance, but the feature is installed plainly."
            hint = "Install it with `as:` or `with:`."
            yield of("GC103", name, message, self._bound_at(kind, name), hint=hint)
        missing: dict[str, list[tuple[str, Origin]]] = {}
        for name, parameter in self._asking(kind.params):
            for ref in parameter.depends:
                if ref.name not in kind.params and ref.name in self.model.parameters:
                    missing.setdefault(ref.name, []).append((name, ref.origin))
            yield from self._conflicts(kind, name, parameter)
            if parameter.must_change and kind.params[name] in (None, "", [], {}):
                yield self._unchanged(kind, name, parameter)
        for name, needers in missing.items():
            yield self._unbound(kind, name, needers)

    def _asking(self, params: Mapping[str, Any]) -> Iterator[tuple[str, Parameter]]:
        for name in params:
            if name not in self.asking:
                parameter = self.fleet.declarations.find(name)
                asks = parameter and (parameter.depends or parameter.conflicts or parameter.must_change)
                self.asking[name] = parameter if asks else None
            found = self.asking[name]
            if found is not None:
                yield name, found

    def _conflicts(self, kind: NodeClass, name: str, parameter: Parameter) -> Iterator[Finding]:
        for ref in parameter.conflicts:
            if ref.name != name and ref.name in kind.params and ref.name in self.model.parameters:
                pair = (min(name, ref.name), max(name, ref.name))
                origins = [*self._bound_at(kind, name), *self._bound_at(kind, ref.name), ref.origin]
                yield of("GC304", pair, f"The parameters {listed(pair)} conflict.", origins, kind.names)

    def _unchanged(self, kind: NodeClass, name: str, parameter: Parameter) -> Finding:
        message = f"{name} must be given a value of your own."
        origins = [*self._bound_at(kind, name), parameter.origin]
        return of("GC305", name, message, origins, kind.names, parameter.description)

    def _unbound(self, kind: NodeClass, name: str, needers: list[tuple[str, Origin]]) -> Finding:
        sources = listed(sorted({needer for needer, _ in needers}))
        verb = "depends" if len({needer for needer, _ in needers}) == 1 else "depend"
        message = f"The parameter {name} is not set: {sources} {verb} on it."
        origins = [o for needer, _ in needers for o in self._bound_at(kind, needer)]
        origins += [o for _, o in needers]
        return of(
            "GC303", name, message, origins, kind.names, f"Set {name}, or bind it to its default: null."
        )

    def _bound_at(self, kind: NodeClass, name: str) -> list[Origin]:
        return kind.stack.cells[name].origins


def installed(kind: NodeClass, model: Model, feature: str) -> Iterable[Origin]:
    """Where lists of a class name a feature, or one that includes it."""
    said, reaches = kind.said, kind.layers.reaches
    groups = (*(ref.name for ref in said.groups), model.settings.default_group)
    uses = [use for name in groups if name in model.groups for use in model.groups[name].features]
    uses += [use for use, _ in said.features]
    uses += [use for override in kind.overrides for use in override.features]
    return [use.origin for use in uses if use.feature == feature or reaches.leads(use.feature, feature)]
