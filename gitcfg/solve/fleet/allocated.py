"""Allocations as data, made of what was decided."""

from collections.abc import Mapping, Sequence

from gitcfg.domain import Value
from gitcfg.model import Binding, Op, Origin, Ref
from gitcfg.model.rules import Allocation
from gitcfg.solve.fleet.natural import natural

Given = Mapping[str, Mapping[str, Value]]
"""Values by slot and parameter (or attribute)."""


def placed(rule: str, slots: Sequence[str]) -> Allocation:
    """Where a rule's feature goes."""
    origin = _origin(rule)
    return Allocation(rule, origin, install=tuple(Ref(slot, origin) for slot in sorted(slots, key=natural)))


def given(rule: str, values: Given) -> Allocation:
    """Who gets which values of a rule's domains."""
    origin = _origin(rule)
    return Allocation(
        rule,
        origin,
        values={
            slot: {
                name: Binding(Op.SET, values[slot][name], None, origin, origin)
                for name in sorted(values[slot])
            }
            for slot in sorted(values, key=natural)
        },
    )


def _origin(rule: str) -> Origin:
    return Origin(f"allocations/{rule}.yaml")
