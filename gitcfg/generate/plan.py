"""What a whole random repository shall hold, decided before the first file is written."""

from collections.abc import Iterable
from random import Random

import msgspec

from gitcfg.generate import features, groups, parameters
from gitcfg.generate.chance import sample
from gitcfg.generate.features import Features
from gitcfg.generate.groups import PlannedGroup
from gitcfg.generate.options import Options
from gitcfg.generate.parameters import Parameters, PlannedParameter
from gitcfg.generate.values import draw_binding


class Plan(msgspec.Struct, frozen=True):
    """The options with the parameters, features and groups that were drawn from them."""

    options: Options
    parameters: Parameters
    features: Features
    groups: tuple[PlannedGroup, ...]

    def bindings(self, rng: Random, count: int) -> dict[str, object]:
        """What one layer says: so many parameters, and those that they depend on."""
        chosen = sample(rng, tuple(self.parameters.ordinary), count)
        return self.bind(rng, (self.parameters.ordinary[name] for name in self.parameters.closed(chosen)))

    def bind(self, rng: Random, chosen: Iterable[PlannedParameter]) -> dict[str, object]:
        """Something of each of these parameters."""
        return {one.name: draw_binding(rng, one, self.options.operations) for one in chosen}

    def any_features(self, rng: Random, count: int) -> list[str]:
        """So many features, with what they depend on."""
        return self.features.closed(sample(rng, tuple(self.features.ordinary), count))

    def spare(self, members: Iterable[PlannedGroup]) -> tuple[str, ...]:
        """Features that a member of these groups has and can do without."""
        reached = self.features.reached(name for group in members for name in group.features)
        return tuple(name for name in reached if name in self.features.spare)


def plan_repository(options: Options) -> Plan:
    """Draw the parameters, features and groups."""
    declared = parameters.plan_parameters(options)
    known = features.plan_features(options)
    return Plan(options, declared, known, groups.plan_groups(options, known, declared))
