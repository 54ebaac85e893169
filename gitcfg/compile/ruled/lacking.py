"""The instances on nodes that lack an attribute which some rule may give, as their lists say them."""

from collections.abc import Iterable, Iterator

from gitcfg.compile.instances import Instance
from gitcfg.compile.layers import NOWHERE, Layers
from gitcfg.compile.ruled.brought import Attributes
from gitcfg.compile.ruled.filling import filled
from gitcfg.model import Use


class Lacking:
    """Goes through lists as layers do, where they lead to what lacks something."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._features = {feature for feature, _ in layers.lacking}

    def of(
        self, uses: Iterable[Use], without: frozenset[str], attributes: Attributes
    ) -> Iterator[tuple[str, Instance]]:
        """Features with instances, where nodes install such uses and were given such attributes."""
        for use in uses:
            yield from self._within(use, without, attributes, NOWHERE)

    def _within(
        self, use: Use, without: frozenset[str], attributes: Attributes, above: frozenset[str]
    ) -> Iterator[tuple[str, Instance]]:
        feature = self._layers.model.features.get(use.feature)
        if feature is None or use.feature in without or use.feature in above or not self._near(use.feature):
            return
        use = filled(use, attributes, self._layers.reaches) if attributes else use
        instance = self._layers.instance_of(use)
        if instance is not None:
            if (use.feature, instance.key) in self._layers.lacking:
                yield use.feature, instance
            feature = self._layers.instance(feature, instance)
        for inner in feature.include:
            yield from self._within(inner, without, attributes, above | {use.feature})

    def _near(self, feature: str) -> bool:
        leads = self._layers.reaches.leads
        return feature in self._features or any(leads(feature, other) for other in self._features)
