"""One node of a fleet: what it gets, and the steps that lead there."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.nodes import Said
from gitcfg.compile.operations import NOTHING
from gitcfg.compile.trail import TrailStep
from gitcfg.model import FileEntry


class FleetNode:
    """One node of a fleet."""

    def __init__(self, name: str, kind: NodeClass, said: Said) -> None:
        self.name = name
        self.kind = kind
        self.said = said

    @property
    def params(self) -> Mapping[str, Any]:
        """Final values by parameter, in order of name; a bare parameter is None."""
        return self.kind.params

    @property
    def secrets(self) -> Mapping[str, str]:
        """The parameters whose values are secrets, in order of name, with the secrets' names."""
        return self.kind.secrets

    @property
    def features(self) -> tuple[str, ...]:
        """The feature set, in order of name."""
        return tuple(sorted(self.kind.features))

    @property
    def groups(self) -> tuple[str, ...]:
        """Explicit groups, highest first."""
        return self.kind.groups

    @property
    def entries(self) -> Mapping[str, FileEntry]:
        """The file entries that apply, by path."""
        return self.kind.files

    def trail(self, param: str) -> tuple[TrailStep, ...]:
        """The steps that bind a parameter, lowest first."""
        steps = self.kind.trail(param)
        acting = [index for index, step in enumerate(steps) if not step.overridden]
        value = self.kind.some((param,)).get(param, NOTHING)
        if not acting or value is NOTHING:
            return steps
        # Equal items of a unique list go at the very end, so the last step's result is the value.
        last = msgspec.structs.replace(steps[acting[-1]], result=value)
        return (*steps[: acting[-1]], last, *steps[acting[-1] + 1 :])

    def deciding(self, param: str) -> TrailStep | None:
        """The topmost step that counts: there one would change the value."""
        return next((step for step in reversed(self.trail(param)) if not step.overridden), None)
