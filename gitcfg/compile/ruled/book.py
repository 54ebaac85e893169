"""The rules of a repository, compiled once: conditions, and the order in which they install."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from gitcfg.cel import Budget, CelStopped, Condition, KeyExpression
from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.ruled.asking import Answers, Seen, asked
from gitcfg.compile.ruled.limiting import led
from gitcfg.compile.ruled.reading import Unreadable, Where, read_per, read_require, read_unique, read_where
from gitcfg.compile.ruled.strata import Strata, looked_for, strata
from gitcfg.compile.stopped import Stopped
from gitcfg.model.rules import Rule, RuleKind

T = TypeVar("T")


class Rulebook:
    """Rules by name. `inclusion` is what the features include that rules speak of.

    A rule of which an expression cannot be understood does nothing, nor does one that installs what it
    reads itself. `budgets` are the times that rules may take for all nodes, by name.
    """

    def __init__(self, rules: Mapping[str, Rule], inclusion: Inclusion) -> None:
        self.rules = {name: rules[name] for name in sorted(rules)}
        self.inclusion = inclusion
        self.budgets: defaultdict[str, Budget] = defaultdict(Budget)
        wrong: list[Unreadable] = []
        self.wheres: Mapping[str, Where] = self._sorted(read_where, wrong)
        self.pers: Mapping[str, KeyExpression] = self._sorted(read_per, wrong)
        self.uniques: Mapping[str, KeyExpression] = self._sorted(read_unique, wrong)
        self.requires: Mapping[str, Condition] = self._sorted(read_require, wrong)
        self.unreadable = tuple(sorted(wrong, key=lambda found: (found.rule, found.part)))

    def _sorted(self, read: Callable[[Rule], T | Unreadable | None], wrong: list[Unreadable]) -> dict[str, T]:
        """One expression of each rule that has it; those that mean nothing are put with the others."""
        found: dict[str, T] = {}
        for name, rule in self.rules.items():
            expression = read(rule)
            if isinstance(expression, Unreadable):
                wrong.append(expression)
            elif expression is not None:
                found[name] = expression
        return found

    def of_kind(self, *kinds: RuleKind) -> tuple[Rule, ...]:
        """The rules of some kinds whose expressions mean something, in order of name."""
        wrong = {found.rule for found in self.unreadable}
        return tuple(rule for rule in self.rules.values() if rule.kind in kinds and rule.name not in wrong)

    def asked(self, rule: Rule, seen: Sequence[Seen]) -> Answers:
        """Where the condition of a rule holds that brings something. Stopped: nobody knows."""
        try:
            return asked(self.wheres.get(rule.name), seen, self.budgets[rule.name])
        except CelStopped as problem:
            raise Stopped(f"The `where` of the rule {rule.name}", problem, rule.name, rule.where) from None

    @cached_property
    def strata(self) -> Strata:
        """The order of the rules that install, those that count out their places among them."""
        return strata(self.of_kind(RuleKind.INSTALL), self.wheres, self.pers, self.inclusion)

    @cached_property
    def led(self) -> Mapping[str, tuple[str, ...]]:
        """The limits that look at what rules decide which have to keep to them, with these rules."""
        limits, installs = self.of_kind(RuleKind.LIMIT), self.of_kind(RuleKind.INSTALL)
        reads = {rule.name: looked_for(rule, self.wheres, self.pers) for rule in (*limits, *installs)}
        return led(limits, installs, reads, self.inclusion)

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The stratum of each rule that installs, from 0; rules on circles have none."""
        layers: Iterable[tuple[str, ...]] = self.strata.layers
        return {name: level for level, names in enumerate(layers) for name in names}
