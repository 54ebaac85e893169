"""What the installed HTCondor knows, asked in a guarded child: defaults, knobs, how it reads a text."""

from collections.abc import Mapping, Sequence
from typing import Any, Self

import msgspec

from gitcfg.model import GitcfgError
from gitcfg.sandbox import Closing, Guard, GuardError, Limits

_CHILD = "gitcfg.convert.condor.child"
_LIMITS = Limits(cpu_seconds=1.0, wall_seconds=20.0, file=32 << 20, answer=32 << 20)


class KnownName(msgspec.Struct, frozen=True):
    """A name that HTCondor knows: what it is by itself (None: nothing), its type, and words about it."""

    name: str
    value: str | None
    kind: str
    description: str


class HTCondor(Closing):
    """The installed bindings; close at the end. `version` is empty where there are none."""

    def __init__(self) -> None:
        self._guard = Guard(_CHILD, _LIMITS)
        self._knobs: dict[tuple[str, str], str | None] = {}
        self.version = ""
        self.defaults: Mapping[str, KnownName] = {}

    def begin(self) -> Self:
        """Ask what it knows."""
        try:
            self.version, found = self._guard.request({"defaults": True})
        except GuardError as error:
            raise GitcfgError(f"HTCondor's bindings {error.reason}.") from error
        self.defaults = {name.lower(): KnownName(name, *rest) for name, *rest in found}
        return self

    def knob(self, category: str, name: str) -> str | None:
        """The lines that `use CATEGORY : NAME` stands for."""
        key = category.lower(), name.lower()
        if key not in self._knobs:
            self._knobs[key] = self._ask({"knob": [category, name]}) if self.version else None
        return self._knobs[key]

    def read(self, texts: Sequence[str]) -> Mapping[str, str] | str:
        """The raw values of files read one after the other, or why there are none."""
        try:
            answer: Mapping[str, str] = self._guard.request({"read": list(texts)})
        except GuardError as error:
            return error.reason
        return answer

    def _ask(self, request: Any) -> Any:
        try:
            return self._guard.request(request)
        except GuardError:
            return None

    def close(self) -> None:
        """End the child."""
        self._guard.close()
