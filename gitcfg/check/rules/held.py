"""The values that domains are about: parameters of nodes, or attributes of instances, and whose they are."""

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec

from gitcfg.check.rules.looked import Looked
from gitcfg.compile.cell import Cell
from gitcfg.compile.classes import NodeClass
from gitcfg.compile.operations import NOTHING, PENDING
from gitcfg.compile.ruled.asking import Seen
from gitcfg.domain import DomainProblem, Kind, Value, Values, parse
from gitcfg.model import Origin
from gitcfg.model.rules import Domain, Rule, RuleKind
from gitcfg.model.secrets import is_secret


class Held(msgspec.Struct, frozen=True):
    """A value in a place, and where it is said; None where there is none."""

    seen: Seen
    name: str
    value: Any
    origins: tuple[Origin, ...]

    def normal(self, values: Values) -> tuple[Kind, Value] | None:
        """The value in a form that is equal for equal values of one kind; None: it is none of that kind."""
        try:
            return values.kind, values.normal(self.value)
        except DomainProblem:
            return None


class Holding:
    """Finds what places hold, and reads domains, each once."""

    def __init__(self, looked: Looked) -> None:
        self._looked = looked
        self._cells: dict[tuple[int, str], Cell | None] = {}
        self._held: dict[str, tuple[Held, ...]] = {}

    @cached_property
    def problems(self) -> Sequence[tuple[Rule, Domain, DomainProblem]]:
        """The domains that mean nothing, and why."""
        return [(rule, said, found) for rule, said, found in self._read if isinstance(found, DomainProblem)]

    @cached_property
    def values(self) -> Mapping[tuple[str, str], Values]:
        """The sets that domains are, by rule and name."""
        found = ((rule, domain, values) for rule, domain, values in self._read)
        return {
            (rule.name, domain.name): values
            for rule, domain, values in found
            if not isinstance(values, DomainProblem)
        }

    @cached_property
    def _read(self) -> list[tuple[Rule, Domain, Values | DomainProblem]]:
        rules = self._looked.rules(RuleKind.DOMAIN)
        return [
            (rule, domain, self._parsed(rule, domain)) for rule in rules for domain in rule.domains.values()
        ]

    def _parsed(self, rule: Rule, domain: Domain) -> Values | DomainProblem:
        kind = self._looked.fleet.declarations.kind(domain.name) if rule.over is None else None
        try:
            return parse(domain.items, kind)
        except DomainProblem as problem:
            return DomainProblem(*problem.args)  # without the frames that it came through

    def of(self, rule: Rule) -> tuple[Held, ...]:
        """What the places of a rule hold of what its domains are about; secrets are nobody's to see."""
        if rule.name not in self._held:
            self._held[rule.name] = tuple(self._of(rule))
        return self._held[rule.name]

    def _of(self, rule: Rule) -> Iterator[Held]:
        names = [name for name in rule.domains if (rule.name, name) in self.values]
        for seen in self._looked.view.slots(rule.name):
            for name in names:
                found = self._attribute(seen, name) if rule.over else self._param(seen.name, name)
                if not is_secret(found[0]):
                    yield Held(seen, name, *found)

    def _attribute(self, seen: Seen, name: str) -> tuple[Any, tuple[Origin, ...]]:
        given = seen.self_.attributes.get(name)
        return (None, ()) if given is None else (given.given, (given.at,))

    def cell(self, node: str, name: str) -> tuple[NodeClass, Cell | None]:
        """What is said of a parameter of a node, and its class."""
        kind = self._looked.fleet.kinds[node]
        key = id(kind), name
        if key not in self._cells:
            self._cells[key] = kind.cell(name)
        return kind, self._cells[key]

    def _param(self, node: str, name: str) -> tuple[Any, tuple[Origin, ...]]:
        kind, cell = self.cell(node, name)
        value = NOTHING if cell is None else kind.value(name, cell)
        if cell is None or value is NOTHING or value is None:
            return None, ()
        if len(cell.steps) == 1:
            return value, (cell.steps[0].origin,)
        facts = kind.facts(name) if cell.value is PENDING else None
        return value, tuple(step.origin for step in reversed([*cell.counting(facts)]))
