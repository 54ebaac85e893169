"""What rules ask of a whole fleet: where each counts, in which groups, and what is counted there."""

from collections.abc import Mapping, Sequence

from gitcfg.cel import CelProblem, Key
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.ruled.asking import Seen, asked, values
from gitcfg.compile.ruled.bringing import Bringing
from gitcfg.compile.ruled.reading import bare
from gitcfg.compile.ruled.slots import Slots
from gitcfg.compile.ruled.units import Unit

Groups = Mapping[Key | None, tuple[Seen, ...]]
"""Slots by key; without `per` all under None."""


class Ruled:
    """The rules of a fleet, each looked at when it is asked for, once.

    Slots are in order of their nodes' names. `failed` are, by rule and slot, expressions that could not be
    evaluated there; what is asked for adds to it.
    """

    def __init__(self, fleet: Fleet, bringing: Bringing) -> None:
        self.fleet = fleet
        self.book = bringing.book
        self.failed: dict[str, dict[str, CelProblem]] = bringing.failed
        self._bringing = bringing
        self._slots = Slots(fleet, bringing)
        self._where: dict[str, tuple[Seen, ...]] = {}
        self._groups: dict[str, Groups] = {}

    def slots(self, rule: str) -> tuple[Seen, ...]:
        """The nodes, or instances, for which the condition of a rule holds."""
        if rule not in self._where:
            self._where[rule] = self._holding(rule)
        return self._where[rule]

    def _holding(self, rule: str) -> tuple[Seen, ...]:
        found = tuple(self._slots.of(self.book.rules[rule]))
        answers = asked(self.book.wheres.get(rule), found, self.book.budgets[rule])
        self._fail(rule, answers.failed)
        return tuple(sorted(answers.holding, key=lambda seen: seen.name))

    def groups(self, rule: str) -> Groups:
        """The slots of a rule by what it groups them by; those without a key are in no group."""
        if rule not in self._groups:
            slots = self.slots(rule)
            self._groups[rule] = {None: slots} if rule not in self.book.pers else self._keyed(rule, slots)
        return self._groups[rule]

    def _keyed(self, rule: str, slots: Sequence[Seen]) -> Groups:
        expression = self.book.pers[rule]
        rows = [values(expression, seen) for seen in slots]
        try:
            keys, problems = expression.keys_each(rows, self.book.budgets[rule])
        except CelProblem as problem:  # it was stopped: nothing can be said
            self._fail(rule, dict.fromkeys([seen.slot for seen in slots], bare(problem)))
            return {}
        self._fail(rule, {slots[row].slot: problem for row, problem in problems.items()})
        found: dict[Key | None, list[Seen]] = {}
        for row, (seen, key) in enumerate(zip(slots, keys, strict=True)):
            if row not in problems:
                found.setdefault(key, []).append(seen)
        return {key: tuple(members) for key, members in found.items()}

    def _fail(self, rule: str, problems: Mapping[str, CelProblem]) -> None:
        if problems:
            self.failed.setdefault(rule, {}).update(problems)

    def counted(self, rule: str) -> Mapping[Key | None, tuple[tuple[Seen, Unit], ...]]:
        """What a limit counts in each of its groups: installations of its feature, or of what includes it.

        Over instances those count that have the name of one.
        """
        return {
            key: tuple((seen, unit) for seen in slots for unit in self._units(rule, seen))
            for key, slots in self.groups(rule).items()
        }

    def _units(self, rule: str, seen: Seen) -> Sequence[Unit]:
        feature = self.book.rules[rule].feature
        if feature is None or feature.name not in seen.features:
            return ()
        kind = self.fleet.kinds[seen.name]
        shape = self._bringing.shapes.of(seen.said, kind.overrides)
        found = self._bringing.shapes.units(shape, kind.brought.installs, feature.name)
        return [unit for unit in found if seen.unit is None or unit.name == seen.unit.name]


def ruled(fleet: Fleet) -> Ruled | None:
    """What the rules of a fleet ask; None where there are none."""
    return None if fleet.bringing is None else Ruled(fleet, fleet.bringing)
