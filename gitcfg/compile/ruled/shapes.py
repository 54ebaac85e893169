"""What nodes list, found once for nodes that list the same: features, instances, and what is done without."""

from collections.abc import Hashable, Iterable

import msgspec

from gitcfg.compile.classes import withouts
from gitcfg.compile.layers import NOWHERE, Layers
from gitcfg.compile.nodes import Said
from gitcfg.compile.ruled.brought import Installed
from gitcfg.compile.ruled.units import Unit, Units
from gitcfg.model import Override, Use


class Shape(msgspec.Struct, frozen=True, eq=False):
    """Nodes that list the same, highest first: `above` what rules install, and `below` it."""

    said: Said
    above: tuple[Use, ...]
    below: tuple[Use, ...]
    without: frozenset[str]


class Shapes:
    """Finds shapes, and what follows from each with what rules install, once."""

    def __init__(self, layers: Layers) -> None:
        self._layers = layers
        self._shapes: dict[Hashable, Shape] = {}
        self._members: dict[int, tuple[Said, Shape]] = {}
        self._features: dict[Hashable, frozenset[str]] = {}
        self._units: dict[Hashable, tuple[Unit, ...]] = {}

    def of(self, said: Said, overrides: tuple[Override, ...] = ()) -> Shape:
        """The shape of a node of which this is said."""
        if overrides or said.own is not None:
            return self._alike(said, overrides)
        known = self._members.get(id(said))  # one for all of a set, and rules ask again and again
        if known is None:
            known = self._members[id(said)] = (said, self._alike(said, ()))
        return known[1]

    def _alike(self, said: Said, overrides: tuple[Override, ...]) -> Shape:
        groups = tuple([ref.name for ref in said.groups])
        listed = tuple([id(use) for use, _ in said.features])
        names = tuple([override.name for override in overrides])
        key = (groups, listed, tuple([ref.name for ref in said.without]), said.retired, names)
        if key not in self._shapes:
            self._shapes[key] = self._shape(said, overrides)
        return self._shapes[key]

    def _shape(self, said: Said, overrides: tuple[Override, ...]) -> Shape:
        model = self._layers.model
        without = frozenset(ref.name for ref in withouts(said, overrides))
        if said.retired:
            return Shape(said, (), (), without)
        above = [use for override in reversed(overrides) for use in override.features]
        above += [use for use, _ in said.features]
        groups = [model.groups[ref.name] for ref in said.groups if ref.name in model.groups]
        above += [use for group in groups for use in group.features]
        default = model.groups.get(model.settings.default_group)
        return Shape(said, tuple(above), default.features if default else (), without)

    def features(self, shape: Shape, installs: tuple[Installed, ...]) -> frozenset[str]:
        """The feature set of nodes with what rules install on them."""
        key = (id(shape), tuple([installed.sort for installed in installs]))
        if key not in self._features:
            layers = (self._layers.feature(use, shape.without) for use in self.uses(shape, installs))
            self._features[key] = NOWHERE.union(*(layer.features for layer in layers if layer is not None))
        return self._features[key]

    def units(self, shape: Shape, installs: tuple[Installed, ...], feature: str) -> tuple[Unit, ...]:
        """The installations of a feature on such nodes, highest first."""
        key = (id(shape), tuple([installed.key for installed in installs]), feature)
        if key not in self._units:
            found = Units(self._layers, feature, shape.without).of(self.uses(shape, installs))
            self._units[key] = found
        return self._units[key]

    def uses(self, shape: Shape, installs: Iterable[Installed]) -> list[Use]:
        """All that installs features on such nodes, highest first."""
        ruled = [use for installed in reversed(tuple(installs)) for use in installed.uses]
        return [*shape.above, *ruled, *shape.below]
