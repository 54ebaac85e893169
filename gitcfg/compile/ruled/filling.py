"""Instances with the attributes that were decided for them, on the one node where they were."""

import msgspec

from gitcfg.compile.instances import instance_of, known
from gitcfg.compile.layers import NOWHERE, Layers
from gitcfg.compile.partial import Partial
from gitcfg.compile.places import Places
from gitcfg.compile.ruled.brought import Attributes
from gitcfg.model import Binding, Feature, Use
from gitcfg.model.graph import Reach


def decided_for(attributes: Attributes, reaches: Reach, feature: str, name: str) -> dict[str, Binding]:
    """What was decided for an instance: as one of its feature, or of one that this includes."""
    found: dict[str, Binding] = {}
    for over, instances in attributes.items():
        if name in instances and (feature == over or reaches.leads(feature, over)):
            found.update(instances[name])
    return found


def filled(use: Use, attributes: Attributes, reaches: Reach) -> Use:
    """What a list says, with what was decided for the instance that it makes."""
    if instance_of(use) is None and use.feature not in attributes:
        return use  # what merely includes it is no instance by that
    found = decided_for(attributes, reaches, use.feature, use.instance or "")
    said = {**use.attributes, **found, **known(use.attributes)}
    return msgspec.structs.replace(use, attributes=said) if found else use


class Filled(Layers):
    """The layers of one node: those without instances that were decided about are shared with all others."""

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
            lambda use: filled(use, attributes, self.reaches),
        )

    def feature(
        self, use: Use, without: frozenset[str] = NOWHERE, above: frozenset[str] = NOWHERE
    ) -> Partial | None:
        """The layer of a feature in a list."""
        if not self._within(use.feature):
            return self._shared.feature(use, without, above)
        return super().feature(filled(use, self._attributes, self.reaches), without, above)

    def group(self, name: str, without: frozenset[str] = NOWHERE) -> Partial | None:
        """The layer of a group."""
        group = self.model.groups.get(name)
        if group is None or not any(self._within(use.feature) for use in group.features):
            return self._shared.group(name, without)
        return super().group(name, without)

    def as_used(self, use: Use) -> Feature:
        """A feature as an entry of a list installs it, with what was decided for the instance."""
        return super().as_used(filled(use, self._attributes, self.reaches))

    def _within(self, feature: str) -> bool:
        """Is or has a feature instances about which something was decided?"""
        return any(feature == over or self.reaches.leads(feature, over) for over in self._attributes)
