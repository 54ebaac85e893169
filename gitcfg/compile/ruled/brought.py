"""What rules bring to a node, as data: equal for nodes that get the same."""

from collections.abc import Hashable, Mapping

import msgspec

from gitcfg.model import Binding, Decision, Use

Values = tuple[tuple[str, Mapping[str, Binding]], ...]
"""What was decided for parameters, by rule."""
Attributes = Mapping[str, Mapping[str, Mapping[str, Binding]]]
"""What was decided for instances: by the feature that rules go over and the name of the instance."""


class Installed(msgspec.Struct, frozen=True):
    """What one rule installs: a feature, or its instances, highest first.

    `node` is the only one that gets it so, where that was decided: it says in its own line where. `decided`
    is that for each of `uses`, where the rule counts out its places.
    """

    rule: str
    uses: tuple[Use, ...]
    node: str = ""
    decided: tuple[Decision, ...] = ()

    @property
    def sort(self) -> tuple[str | None, ...]:
        """Equal where the same rule installs the same feature, or instances of the same names."""
        return (self.rule, *[use.instance for use in self.uses])

    @property
    def key(self) -> tuple[str | None, ...]:
        """Equal where the same rule installs the same on nodes that are alike without it."""
        return (self.node, *self.sort)


class Brought(msgspec.Struct, frozen=True):
    """All that rules bring to a node: what they install and set, lowest first, and what was decided for it.

    `node` is named where `values` or `attributes` were decided for it; `decided` are the rules for which
    anything was.
    """

    installs: tuple[Installed, ...] = ()
    sets: tuple[str, ...] = ()
    values: Values = ()
    attributes: Attributes = {}
    node: str = ""
    decided: tuple[str, ...] = ()

    @property
    def key(self) -> Hashable:
        """Equal for nodes that share a class if they are alike otherwise."""
        return tuple([installed.key for installed in self.installs]), self.sets, self.node, self.decided

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that bring something."""
        return tuple(dict.fromkeys((*(each.rule for each in self.installs), *self.sets, *self.decided)))


NOTHING_BROUGHT = Brought()
