"""Layers of features and groups as partials, each built once for all nodes that have it."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Protocol

import msgspec

import gitcfg.progress as progress
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.inclusion import MAX_CIRCLE, MAX_DEPTH, GivingRules, Inclusion, Places
from gitcfg.compile.instances import Instance, instance_of, instantiate, known_attributes
from gitcfg.compile.nodes import Attributes, NodeDefinition
from gitcfg.compile.operations import Collected, Step
from gitcfg.compile.partial import Partial
from gitcfg.compile.values import Misfit, is_presentable
from gitcfg.model import Binding, Feature, Finding, Group, Model, Op, Origin, Use
from gitcfg.model.graph import Reach

NOWHERE = frozenset[str]()


class Collector(Protocol):
    """Finds the values that nodes collect from each other."""

    def collect(
        self, definition: NodeDefinition, name: str, steps: Iterable[Step]
    ) -> Mapping[Hashable, Collected]:
        """Return what steps of a parameter collect on a node with this definition, by `Collect`."""


class Layers:
    """Builds and stores partials.

    `findings` are those made while building, `misfits` the places of bindings that do not fit their types.
    `without` are the features to leave out; `reaches` is what each feature includes, directly or not.
    `collector` finds what nodes collect from each other, if they do. `lacking` has the findings about missing
    attributes, by feature and key of the instance, which a rule may give on some nodes.
    """

    def __init__(
        self,
        model: Model,
        declarations: Declarations,
        inclusion: Inclusion | None = None,
        collector: Collector | None = None,
    ) -> None:
        """`inclusion` is that of this model's features, if it is known already."""
        self.model = model
        self.declarations = declarations
        self.findings: list[Finding] = []
        self.misfits: set[Origin] = set()
        self.inclusion = inclusion or Inclusion(find_includes(model))
        self.reaches = self.inclusion.reaches
        self.places = Places(model.features, self.inclusion, model.settings.max_places)
        for name in self.inclusion.deepest:  # one finding covers those above it
            self._unsupported(name, f"{name} includes features through more than {MAX_DEPTH} levels.")
        self._features: dict[tuple[str, str, frozenset[str], frozenset[str]], Partial | None] = {}
        self._groups: dict[tuple[str, frozenset[str]], Partial] = {}
        self._instances: dict[tuple[str, str], Feature] = {}
        self.lacking: dict[tuple[str, str], list[Finding]] = {}
        self.giving = GivingRules(model.features, model.rules, self.inclusion)
        self.collector = collector

    def _unsupported(self, name: str, message: str, hint: str = "", at: Origin | None = None) -> None:
        origin = at or self.model.features[name].origin
        finding = Finding("GC105", (name,), message, (origin,), hint=hint)
        if finding not in self.findings:
            self.findings.append(finding)

    def steps(self, params: Mapping[str, Binding]) -> dict[str, Step]:
        """Return bindings as typed steps.

        Of those that do not fit, only plain values are steps, as far as they may be shown.
        """
        result = {}
        for name, binding in params.items():
            try:
                result[name] = self.declarations.step(name, binding)
            except Misfit:
                self.misfits.add(binding.origin)
                if binding.op is Op.SET and is_presentable(binding.given):
                    seen = self.declarations.seen(name, binding.given)
                    result[name] = Step(binding.op, seen, binding.origin, decided=binding.decided)
        return result

    def expanded(self, features: Iterable[str]) -> frozenset[str]:
        """Return features with all that they include."""
        found = set(features) & self.model.features.keys()
        return self.reaches.closed(found)

    def feature(
        self, use: Use, without: frozenset[str] = NOWHERE, above: frozenset[str] = NOWHERE
    ) -> Partial | None:
        """Return the layer of a feature in a list; None if it is missing, left out, or closes a cycle."""
        name = use.feature
        feature = self.model.features.get(name)
        if feature is None or name in without or name in above or name in self.inclusion.deep:
            return None
        whole = self.inclusion.circles.get(name, NOWHERE)
        circle = above & whole
        if circle and len(whole) > MAX_CIRCLE:
            return None
        if self.places.of(use) > self.places.most:
            self._tell_crowded(use)
            return None
        instance = self.instance_of(use)
        apart = frozenset(gone for gone in without if self.reaches.leads(name, gone))
        key = (name, instance.key if instance else "", apart, circle)
        if key not in self._features:
            self._features[key] = self._build(feature, instance, apart, circle)
        return self._features[key]

    def _build(
        self, feature: Feature, instance: Instance | None, without: frozenset[str], above: frozenset[str]
    ) -> Partial | None:
        progress.note("composing the feature", feature.name)
        if instance is not None:
            feature = self.instance(feature, instance)
        above = above | {feature.name}
        parts = self.uses(feature.include, without, above)
        return self._composed(f"feature {feature.name}", parts, feature, frozenset({feature.name}))

    def _composed(
        self,
        label: str,
        parts: tuple[Partial, ...],
        definition: Feature | Group,
        features: frozenset[str] = NOWHERE,
    ) -> Partial:
        """Return a definition's own layer over its parts."""
        return Partial(label, parts, self.steps(definition.params), definition.files, features)

    def instance(self, feature: Feature, instance: Instance) -> Feature:
        """Return a feature with an instance's marks replaced."""
        key = (feature.name, instance.key)
        if key not in self._instances:
            self._instances[key], findings = instantiate(feature, instance)
            for found in findings:
                if found.code == "GC201" and any(self.giving.rules(feature.name, found.subjects[0])):
                    self.lacking.setdefault(key, []).append(found)
                else:
                    self.findings.append(found)
        return self._instances[key]

    def instance_of(self, use: Use) -> Instance | None:
        """Return the instance of an entry, or None.

        A plain entry has one too if rules may give it attributes.
        """
        if use.instance is None and not use.attributes:
            return Instance(None, {}) if use.feature in self.giving.asking else None
        return instance_of(use)

    def as_used(self, use: Use) -> Feature:
        """Return a feature as an entry of a list installs it."""
        feature, instance = self.model.features[use.feature], instance_of(use)
        return feature if instance is None else self.instance(feature, instance)

    @property
    def instances(self) -> Iterable[Feature]:
        """Every instance that was built, as a feature."""
        return self._instances.values()

    def uses(
        self, uses: Iterable[Use], without: frozenset[str] = NOWHERE, above: frozenset[str] = NOWHERE
    ) -> tuple[Partial, ...]:
        """Return the layers of a list of features, lowest first; the list has the highest first."""
        found = (self.feature(use, without, above) for use in uses)
        return tuple(part for part in found if part is not None)[::-1]

    def group(self, name: str, without: frozenset[str] = NOWHERE) -> Partial | None:
        """Return the layer of a group: its features, then its own bindings; None if there is no such one."""
        group = self.model.groups.get(name)
        if group is None:
            return None
        without = without & self.expanded(use.feature for use in group.features) if without else NOWHERE
        key = (name, without)
        if key not in self._groups:
            parts = self.uses(group.features, without)
            self._groups[key] = self._composed(f"group {name}", parts, group)
        return self._groups[key]

    def judge_places(self, name: str) -> None:
        """Report a feature with too many places, whether it is in a list or not."""
        include = self.places.crowded(name)
        if include is not None:
            self._crowded(name, include.origin)

    def _tell_crowded(self, use: Use) -> None:
        # What does not depend on the instance is reported by `judge_places`, once for all lists.
        if self.places.of_unused(use.feature) <= self.places.most:
            self._crowded(use.feature, use.origin)

    def _crowded(self, name: str, at: Origin) -> None:
        message = f"{name} includes features at more than {self.places.most:,} places."
        hint = (
            "Each include multiplies the places of what it includes, and so does each instance. Include "
            "features once, use fewer instances, or raise `max_places` in gitcfg.yaml."
        )
        self._unsupported(name, message, hint, at)


def find_includes(model: Model) -> dict[str, list[str]]:
    """Return the existing features that each feature includes."""
    known = model.features
    return {
        name: [use.feature for use in feature.include if use.feature in known]
        for name, feature in known.items()
    }


# Instances with attributes of allocations, on the one node of their slot.


def find_decided(attributes: Attributes, reaches: Reach, feature: str, name: str) -> dict[str, Binding]:
    """Return the decided attributes of an instance of a feature, or of a feature that it includes."""
    found: dict[str, Binding] = {}
    for over, instances in attributes.items():
        if name in instances and (feature == over or reaches.leads(feature, over)):
            found.update(instances[name])
    return found


def fill_use(use: Use, attributes: Attributes, reaches: Reach) -> Use:
    """Return an entry of a list with the decided attributes of its instance."""
    if instance_of(use) is None and use.feature not in attributes:
        return use  # a plain entry that includes such a feature is not an instance
    found = find_decided(attributes, reaches, use.feature, use.instance or "")
    if not found:
        return use
    given = {**use.attributes, **found, **known_attributes(use.attributes)}
    return msgspec.structs.replace(use, attributes=given)


class FilledLayers(Layers):
    """The layers of one node with decided attributes; layers without these are shared with other nodes."""

    def __init__(self, layers: Layers, attributes: Attributes) -> None:
        super().__init__(layers.model, layers.declarations, layers.inclusion, layers.collector)
        self.findings, self.misfits, self.lacking = layers.findings, layers.misfits, layers.lacking
        self._instances, self.giving = layers._instances, layers.giving
        self._shared = layers
        self._attributes = attributes
        self.places = Places(
            self.model.features,
            self.inclusion,
            self.model.settings.max_places,
            lambda use: fill_use(use, attributes, self.reaches),
        )

    def feature(
        self, use: Use, without: frozenset[str] = NOWHERE, above: frozenset[str] = NOWHERE
    ) -> Partial | None:
        """Return the layer of a feature in a list."""
        if not self._within(use.feature):
            return self._shared.feature(use, without, above)
        return super().feature(fill_use(use, self._attributes, self.reaches), without, above)

    def group(self, name: str, without: frozenset[str] = NOWHERE) -> Partial | None:
        """Return the layer of a group."""
        group = self.model.groups.get(name)
        if group is None or not any(self._within(use.feature) for use in group.features):
            return self._shared.group(name, without)
        return super().group(name, without)

    def as_used(self, use: Use) -> Feature:
        """Return a feature as an entry of a list installs it, with the decided attributes of its instance."""
        return super().as_used(fill_use(use, self._attributes, self.reaches))

    def _within(self, feature: str) -> bool:
        """Return whether a feature is, or includes, one whose instances have decided attributes."""
        return any(feature == over or self.reaches.leads(feature, over) for over in self._attributes)
