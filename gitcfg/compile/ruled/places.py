"""Where rules count, and in which groups: what is found once for all rules that ask the same."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from gitcfg.cel import Budget, CelProblem, CelStopped, Key, KeyExpression
from gitcfg.compile.ruled.asking import Seen, keyed
from gitcfg.compile.ruled.reading import bare

Groups = Mapping[Key | None, tuple[Seen, ...]]
"""Slots by key; without `per` all under None."""


class Places:
    """Slots in order of their nodes' names, and by slot why it cannot be said of others."""

    def __init__(self, slots: tuple[Seen, ...], failed: Mapping[str, CelProblem]) -> None:
        self.slots = slots
        self.failed = failed

    @cached_property
    def by_slot(self) -> Mapping[str, Seen]:
        """The slots as allocations name them."""
        return {seen.slot: seen for seen in self.slots}


class Grouped:
    """Slots by key, and by slot why others have none."""

    def __init__(self, groups: Groups, failed: Mapping[str, CelProblem]) -> None:
        self.groups = groups
        self.failed = failed

    @cached_property
    def by_node(self) -> Mapping[str, Sequence[tuple[Key | None, Seen]]]:
        """The slots on each node, each with its key."""
        found: dict[str, list[tuple[Key | None, Seen]]] = {}
        for key, slots in self.groups.items():
            for seen in slots:
                found.setdefault(seen.name, []).append((key, seen))
        return found


def grouped(per: KeyExpression | None, slots: tuple[Seen, ...], budget: Budget) -> Grouped:
    """Slots in groups; without a key all are one."""
    if per is None:
        return Grouped({None: slots}, {})
    try:
        keys, problems = keyed(per, slots, budget)
    except CelStopped as problem:
        return Grouped({}, of_all(slots, problem))
    found: dict[Key | None, list[Seen]] = {}
    for row, (seen, key) in enumerate(zip(slots, keys, strict=True)):
        if row not in problems:
            found.setdefault(key, []).append(seen)
    failed = {slots[row].slot: problem for row, problem in problems.items()}
    return Grouped({key: tuple(members) for key, members in found.items()}, failed)


def of_all(slots: Iterable[Seen], problem: CelProblem) -> Mapping[str, CelProblem]:
    """Nothing is known of any of them."""
    return dict.fromkeys([seen.slot for seen in slots], bare(problem))
