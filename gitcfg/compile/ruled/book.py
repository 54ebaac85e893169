"""The rules of a repository, compiled once: conditions, and the order in which they install."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TypeVar

from gitcfg.cel import Budget, CelStopped, Condition, KeyExpression
from gitcfg.cel.expression import Expression
from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.ruled.asking import Answers, Seen, asked
from gitcfg.compile.ruled.limiting import led
from gitcfg.compile.ruled.reading import (
    Unreadable,
    Where,
    params_read,
    read_per,
    read_require,
    read_unique,
    read_where,
)
from gitcfg.compile.ruled.strata import Strata, looked_for, strata
from gitcfg.compile.stopped import Stopped
from gitcfg.model.rules import Rule, RuleKind

T = TypeVar("T")


class Parts(Mapping[str, T]):
    """One expression of each rule that has it and in which it means something, each read when asked for."""

    def __init__(self, rules: Mapping[str, Rule], read: Callable[[Rule], T | Unreadable | None]) -> None:
        self._rules = rules
        self._read = read
        self._found: dict[str, T | Unreadable | None] = {}

    def __getitem__(self, name: str) -> T:
        found = self._of(name)
        if found is None or isinstance(found, Unreadable):
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[str]:
        return (name for name in self._rules if name in self)

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def wrong(self, name: str) -> Unreadable | None:
        """What is wrong with it; None: nothing, or there is none."""
        found = self._of(name)
        return found if isinstance(found, Unreadable) else None

    def _of(self, name: str) -> T | Unreadable | None:
        if name not in self._found:
            self._found[name] = self._read(self._rules[name])
        return self._found[name]


class Rulebook:
    """Rules by name. `inclusion` is what the features include that rules speak of.

    A rule of which an expression cannot be understood does nothing, nor does one that installs what it
    reads itself. `budgets` are what rules may take for all nodes, by name.
    """

    def __init__(self, rules: Mapping[str, Rule], inclusion: Inclusion) -> None:
        self.rules = {name: rules[name] for name in sorted(rules)}
        self.inclusion = inclusion
        self.budgets: defaultdict[str, Budget] = defaultdict(Budget)
        self.wheres: Parts[Where] = Parts(self.rules, read_where)
        self.pers: Parts[KeyExpression] = Parts(self.rules, read_per)
        self.uniques: Parts[KeyExpression] = Parts(self.rules, read_unique)
        self.requires: Parts[Condition] = Parts(self.rules, read_require)
        self._meaning: dict[str, bool] = {}

    @cached_property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """Expressions that mean nothing, by rule and part. All are read for it."""
        wrong = (found for name in self.rules for found in self._wrong(name))
        return tuple(sorted(wrong, key=lambda found: (found.rule, found.part)))

    def _wrong(self, name: str) -> Iterator[Unreadable]:
        for parts in (self.wheres, self.pers, self.uniques, self.requires):
            found = parts.wrong(name)
            if found is not None:
                yield found

    def of_kind(self, *kinds: RuleKind) -> tuple[Rule, ...]:
        """The rules of some kinds whose expressions mean something, in order of name."""
        some = (rule for rule in self.rules.values() if rule.kind in kinds)
        return tuple(rule for rule in some if self._means(rule.name))

    def _means(self, name: str) -> bool:
        """Can all its expressions be understood?"""
        if name not in self._meaning:
            self._meaning[name] = next(self._wrong(name), None) is None
        return self._meaning[name]

    def asked(self, rule: Rule, seen: Sequence[Seen]) -> Answers:
        """Where the condition of a rule holds that brings something. Stopped: nobody knows."""
        try:
            return asked(self.wheres.get(rule.name), seen, self.budgets[rule.name])
        except CelStopped as problem:
            raise Stopped(f"The `where` of the rule {rule.name}", problem, rule.name, rule.where) from None

    @cached_property
    def params_read(self) -> frozenset[str] | None:
        """The parameters whose values expressions look at; None: it may be any."""
        found = [params_read(expression) for name in self.rules for expression in self._expressions(name)]
        known = [names for names in found if names is not None]
        return frozenset[str]().union(*known) if len(known) == len(found) else None

    def _expressions(self, name: str) -> Iterator[Expression]:
        if name in self.wheres:
            yield self.wheres[name].condition
        parts: Sequence[Mapping[str, Expression]] = (self.pers, self.uniques, self.requires)
        yield from (expressions[name] for expressions in parts if name in expressions)

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
