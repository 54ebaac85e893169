"""Domains of rules as a problem of values, and its solution as allocations."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.cel import CelProblem
from gitcfg.compile.rules.evaluate import Candidate, read_values
from gitcfg.compile.rules.slots import RuleView
from gitcfg.domain import DomainProblem, Value, Values, parse
from gitcfg.model import Origin
from gitcfg.model.rules import Allocation, Rule, Uniqueness
from gitcfg.solve.fleet.answers import Cause, Causes, RuleFailure, natural
from gitcfg.solve.problem import AllDifferent, GivenValue, InDomain, ValueProblem, ValueSlot

Allocations = Mapping[str, Allocation]


class _Demand(msgspec.Struct, frozen=True):
    """A value that is demanded: by which rules, and for which candidate."""

    slot: str
    param: str
    candidate: Candidate
    rules: list[Rule]


class ValueProblemBuilder:
    """The values that the domains of a fleet's rules demand, by the names in the pure problem."""

    def __init__(self, ruled: RuleView, rules: Sequence[Rule], previous: Allocations, causes: Causes) -> None:
        self.rules = rules
        self._ruled = ruled
        self._previous = previous
        self._causes = causes
        self._domains: dict[tuple[str, str], Values] = {}
        self._demands: dict[str, _Demand] = {}
        for rule in self.rules:
            self._add(rule)

    def _add(self, rule: Rule) -> None:
        for param, domain in rule.domains.items():
            kind = self._ruled.fleet.declarations.declared_kind(param) if rule.over is None else None
            try:
                self._domains[rule.name, param] = parse(domain.items, kind)
            except DomainProblem as problem:
                at = domain.origin if problem.index is None else domain.places[problem.index]
                raise RuleFailure(Cause(f"rule {rule.name}", (at,), rule.name), problem.message) from None
        for candidate in self._ruled.slots(rule.name):
            for param in rule.domains:
                demand = _Demand(candidate.slot, param, candidate, [])
                self._demands.setdefault(_name(candidate, param), demand).rules.append(rule)

    def problem(self) -> ValueProblem:
        """Return the slots that need values."""
        wants = []
        for name in sorted(self._demands, key=lambda name: (natural(self._demands[name].slot), name)):
            demand, within = self._demands[name], []
            for rule in demand.rules:
                domain, origin = self._domains[rule.name, demand.param], rule.domains[demand.param].origin
                cause = self._causes.rule(rule, f"{demand.param} in {domain.describe()}", origin)
                within.append(InDomain(cause, domain))
            previous = next((value for _, value in self._previous_values(demand)), None)
            wants.append(ValueSlot(name, within, previous, self._by_hand(demand)))
        return ValueProblem(wants, list(self._apart()))

    def _normal(self, demand: _Demand, value: Any) -> Value:
        """Return a value in the normal form of its domains; one outside of them unchanged."""
        domain = self._domains[demand.rules[0].name, demand.param]
        try:
            return domain.normal(value)
        except DomainProblem:
            return value if isinstance(value, int) else str(value)

    def _previous_values(self, demand: _Demand) -> Iterator[tuple[Rule, Value]]:
        """Yield the previous decisions, each with its rule."""
        for rule in demand.rules:
            found = self._previous.get(rule.name)
            bound = found.values.get(demand.slot, {}).get(demand.param) if found is not None else None
            if bound is not None:
                yield rule, self._normal(demand, bound.given)

    def _by_hand(self, demand: _Demand) -> GivenValue | None:
        found = self._given_value(demand)
        if found is None:
            return None
        value, origin = found
        cause = Cause(f"{demand.param} of {demand.slot} is {value}", (origin,))
        return GivenValue(self._causes.key(cause), self._normal(demand, value))

    def _given_value(self, demand: _Demand) -> tuple[Any, Origin] | None:
        """Return the value that is set, and where; for an attribute, its binding in `with`."""
        if demand.candidate.unit is not None:
            bound = demand.candidate.unit.attributes.get(demand.param)
            return None if bound is None or bound.given is None else (bound.given, bound.origin)
        value = demand.candidate.params().get(demand.param)
        if value is None:
            return None
        step = self._ruled.fleet[demand.candidate.name].deciding(demand.param)
        return value, step.origin if step is not None else demand.rules[0].origin

    def _apart(self) -> Iterator[AllDifferent]:
        for rule in self.rules:
            if rule.unique is None:
                continue
            origins = () if rule.unique.key is None else (rule.unique.key.origin,)
            causes = {
                param: self._causes.rule(rule, f"{param} unique", *origins, part="unique")
                for param in rule.domains
            }
            for candidate in self._among(rule, rule.unique):
                for param, cause in causes.items():
                    yield AllDifferent(cause, [_name(one, param) for one in candidate])

    def _among(self, rule: Rule, unique: Uniqueness) -> Iterable[list[Candidate]]:
        """Yield groups of slots that must all differ."""
        slots = self._ruled.slots(rule.name)
        if unique.key is None and unique.scope == "fleet":
            return [list(slots)]
        found: dict[Any, list[Candidate]] = defaultdict(list)
        for candidate, key in zip(slots, self._keys(rule, slots), strict=True):
            found[key].append(candidate)
        return found.values()

    def _keys(self, rule: Rule, slots: Iterable[Candidate]) -> list[Any]:
        expression = self._ruled.book.uniques.get(rule.name)
        if expression is None:
            return [candidate.name for candidate in slots]
        rows = [read_values(expression, candidate) for candidate in slots]
        try:
            return [expression.key(row, self._ruled.book.budgets[rule.name]) for row in rows]
        except CelProblem as problem:
            cause = Cause(f"rule {rule.name}", (rule.origin,), rule.name)
            raise RuleFailure(cause, problem.message) from None

    def given(self, found: Mapping[str, Value]) -> dict[str, dict[str, dict[str, Value]]]:
        """Return values by rule, slot and parameter: each is of the rule that had it, or of the first."""
        made: dict[str, dict[str, dict[str, Value]]] = {}
        for name, value in found.items():
            demand = self._demands[name]
            owner = next((rule for rule, _ in self._previous_values(demand)), demand.rules[0])
            made.setdefault(owner.name, {}).setdefault(demand.slot, {})[demand.param] = value
        return made


def _name(candidate: Candidate, param: str) -> str:
    """Return a key of a value: a slot may be an instance of several features, each with attributes."""
    return f"{candidate.slot}\n{param}\n{candidate.self_.feature}"
