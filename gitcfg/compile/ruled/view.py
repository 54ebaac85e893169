"""What rules ask of a whole fleet: where each counts, in which groups, and what is counted there."""

from collections.abc import Hashable, Mapping, Sequence

from gitcfg.cel import CelProblem, CelStopped, Key
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.ruled.asking import Answers, Seen, asked
from gitcfg.compile.ruled.bringing import Bringing
from gitcfg.compile.ruled.places import Grouped, Groups, Places, grouped, of_all
from gitcfg.compile.ruled.slots import Slots
from gitcfg.compile.ruled.strata import Strata
from gitcfg.compile.ruled.units import Unit


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
        self._places: dict[Hashable, Places] = {}
        self._grouped: dict[Hashable, Grouped] = {}

    @property
    def valued(self) -> Strata:
        """The order of the rules that leave values open, which read them of each other."""
        return self._bringing.valued

    def slots(self, rule: str) -> tuple[Seen, ...]:
        """The nodes, or instances, for which the condition of a rule holds."""
        return self.places(rule).slots

    def places(self, rule: str) -> Places:
        """The same by name, too. Rules that ask the same are answered together."""
        same = self._same(rule)
        if same not in self._places:
            self._places[same] = self._asked(rule)
        self._fail(rule, self._places[same].failed)
        return self._places[same]

    def _same(self, rule: str) -> Hashable:
        """Equal for rules that count in the same places."""
        where = self.book.wheres.get(rule)
        return self._slots.sight(self.book.rules[rule]), where and where.condition.text

    def on(self, rule: str, node: str) -> tuple[tuple[Seen, ...], Answers]:
        """A node, or the instances on it, as a rule sees them, and those for which its condition holds."""
        found = self._slots.on(self.book.rules[rule], node)
        return found, self.book.asked(self.book.rules[rule], found)

    def together(self, rule: str, slots: tuple[Seen, ...]) -> Groups:
        """Some slots of a rule by what it groups them by."""
        return grouped(self.book.pers.get(rule), slots, self.book.budgets[rule]).groups

    def _asked(self, rule: str) -> Places:
        found = self._slots.of(self.book.rules[rule])
        try:
            answers = asked(self.book.wheres.get(rule), found, self.book.budgets[rule])
        except CelStopped as problem:
            answers = Answers((), of_all(found, problem))
        return Places(tuple(sorted(answers.holding, key=lambda seen: seen.name)), answers.failed)

    def groups(self, rule: str) -> Groups:
        """The slots of a rule by what it groups them by; those without a key are in no group."""
        return self.grouped(rule).groups

    def grouped(self, rule: str) -> Grouped:
        """The same by node, too."""
        per = self.book.pers.get(rule)
        same = self._same(rule), per and per.text
        if same not in self._grouped:
            self._grouped[same] = grouped(per, self.slots(rule), self.book.budgets[rule])
        self._fail(rule, self._grouped[same].failed)
        return self._grouped[same]

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
