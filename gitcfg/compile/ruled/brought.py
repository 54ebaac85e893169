"""What rules bring to a node, as data: equal for nodes that get the same."""

import msgspec

from gitcfg.model import Use


class Installed(msgspec.Struct, frozen=True):
    """What one rule installs: a feature, or its instances, highest first."""

    rule: str
    uses: tuple[Use, ...]

    @property
    def key(self) -> tuple[str, ...]:
        """Equal where the same rule installs the same on nodes that are alike without it."""
        return (self.rule, *(use.instance or "" for use in self.uses))


class Brought(msgspec.Struct, frozen=True):
    """All that rules bring to a node: what they install and set, lowest first."""

    installs: tuple[Installed, ...] = ()
    sets: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[tuple[tuple[str, ...], ...], tuple[str, ...]]:
        """Equal for nodes that share a class if they are alike otherwise."""
        return tuple([installed.key for installed in self.installs]), self.sets

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules that bring something."""
        return (*(installed.rule for installed in self.installs), *self.sets)


NOTHING_BROUGHT = Brought()
