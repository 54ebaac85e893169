"""What rules that look at many nodes at once saw of each, where nothing was wrong with any of them."""

from collections.abc import Mapping, Set
from typing import TypeVar

import msgspec

from gitcfg.model import Finding

T = TypeVar("T")
PlainKey = str | int | float | bool | list[str | int | float | bool] | None
"""A key as it is kept: what `plain_key` makes of it."""


class Numbers(msgspec.Struct, frozen=True, array_like=True):
    """How often each slot counts for a rule; `among`: the groups that its numbers are about."""

    among: int
    found: dict[str, int]


class Different(msgspec.Struct, frozen=True, array_like=True):
    """The values of each slot by name, which differ within groups; None: it has none."""

    among: int
    had: dict[str, dict[str, int | str | None]]


class Ledger(msgspec.Struct, frozen=True, array_like=True):
    """By slot, what a later check must know of nodes that it does not look at again.

    `groups` have the key of each slot; rules that group alike share one. `counted` and `different` are by
    rule, as `whole`, the nodes in groups about which an invariant is asked as a whole, and `decided`, what
    allocations say.
    """

    groups: list[dict[str, PlainKey]] = []
    counted: dict[str, Numbers] = {}
    different: dict[str, Different] = {}
    whole: dict[str, list[str]] = {}
    decided: dict[str, dict[str, str]] = {}

    def matches(self, other: "Ledger") -> bool:
        """Is it about the same rules, which group alike?"""
        return self._about() == other._about()

    def _about(self) -> tuple[object, ...]:
        found = (self.counted.items(), self.different.items())
        return len(self.groups), *({rule: said.among for rule, said in each} for each in found)

    def followed(self, after: "Ledger", names: Set[str]) -> "Ledger":
        """The same with what was seen of some nodes later, by the same rules."""
        pairs = zip(self.groups, after.groups, strict=True)
        counted = {
            rule: Numbers(new.among, _followed(self.counted[rule].found, new.found, names))
            for rule, new in after.counted.items()
        }
        different = {
            rule: Different(new.among, _followed(self.different[rule].had, new.had, names))
            for rule, new in after.different.items()
        }
        return Ledger(
            [_followed(*pair, names) for pair in pairs], counted, different, self.whole, after.decided
        )


class TakenOver(msgspec.Struct, frozen=True):
    """What a check found of rules that looked at some nodes alone: nothing."""

    after: Ledger
    findings: tuple[Finding, ...] = ()

    def ledger(self) -> Ledger:
        """What the next check may take over."""
        return self.after


def _followed(before: Mapping[str, T], after: Mapping[str, T], names: Set[str]) -> dict[str, T]:
    kept = {slot: seen for slot, seen in before.items() if slot.partition("/")[0] not in names}
    return {**kept, **after}
