"""The installations of a feature on a node: by itself or as what includes it, plain or as instances."""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from gitcfg.compile.instances import instance_of, known
from gitcfg.compile.layers import NOWHERE, Layers
from gitcfg.compile.ruled.brought import Attributes
from gitcfg.compile.ruled.filling import decided_for
from gitcfg.model import Binding, Use
from gitcfg.model.graph import Reach


class Unit(msgspec.Struct, frozen=True):
    """One installation: the feature that is installed, its `as` ("" without one) and its attributes."""

    feature: str
    name: str
    attributes: Mapping[str, Binding]


class Units:
    """Finds the installations of one feature, with what else includes it.

    What includes it and nothing else of its kind counts itself (a special kind of it); what includes
    several, or an instance that it names, stands for those. What another one includes counts once.
    """

    def __init__(self, layers: Layers, target: str, without: frozenset[str]) -> None:
        self._layers = layers
        self._target = target
        self._without = without

    def of(self, uses: Iterable[Use]) -> tuple[Unit, ...]:
        """Those that lists install, whose order, highest first, is kept."""
        found: dict[tuple[str, str], Unit] = {}
        for use in uses:
            for feature, holder in self._within(use, None, NOWHERE):
                unit = _unit(feature, holder)
                found.setdefault((feature, unit.name), unit)
        return tuple(unit for unit in found.values() if not self._included(unit, found.values()))

    def _within(self, use: Use, holder: Use | None, above: frozenset[str]) -> list[tuple[str, Use | None]]:
        """The features that an entry of a list installs, each with the entry that names its instance."""
        layer = self._layers.feature(use, self._without, above)
        if layer is None or self._target not in layer.features:
            return []
        holder = holder if instance_of(use) is None else use
        if use.feature == self._target:
            return [(use.feature, holder)]
        above = above | {use.feature}
        below = self._layers.as_used(use).include
        inner = [found for other in below for found in self._within(other, holder, above)]
        special = all(other is holder for _, other in inner) and len({name for name, _ in inner}) == 1
        return [(use.feature, holder)] if special else inner

    def _included(self, unit: Unit, found: Iterable[Unit]) -> bool:
        """Does another installation under the same name include this one?"""
        others = [other.feature for other in found if other.name == unit.name]
        leads = self._layers.reaches.leads
        return any(leads(other, unit.feature) and not leads(unit.feature, other) for other in others)


def _unit(feature: str, holder: Use | None) -> Unit:
    if holder is None:
        return Unit(feature, "", {})
    return Unit(feature, holder.instance or "", known(holder.attributes))


def filled_unit(unit: Unit, attributes: Attributes, reaches: Reach) -> Unit:
    """An instance with what was decided for it where its `with` does not say it."""
    found = decided_for(attributes, reaches, unit.feature, unit.name) if attributes else {}
    return msgspec.structs.replace(unit, attributes={**found, **unit.attributes}) if found else unit


def by_name(units: Iterable[Unit]) -> Iterator[Unit]:
    """The highest installation under each name."""
    seen = set[str]()
    for unit in units:
        if unit.name not in seen:
            seen.add(unit.name)
            yield unit
