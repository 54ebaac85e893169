"""GC206, GC401, GC404: domains that mean or leave nothing, and values that are missing or outside."""

from collections.abc import Iterator
from functools import reduce
from operator import and_

from gitcfg.check.fold import of
from gitcfg.check.rules.held import Held, Holding
from gitcfg.check.rules.looked import Looked
from gitcfg.check.rules.words import SOLVE
from gitcfg.check.structure import listed
from gitcfg.domain import DomainProblem
from gitcfg.load.inside import inside_of
from gitcfg.model import Finding, Origin, Ref
from gitcfg.model.names import shown
from gitcfg.model.rules import Domain, Rule, RuleKind

Target = tuple[str, bool]
"""What domains are about: a name, and whether it is an attribute's."""


def misread(looked: Looked, holding: Holding) -> Iterator[Finding]:
    """GC206: domains that are no sets of values."""
    for rule, domain, problem in holding.problems:
        message = f"The domain of {domain.name} in the rule {rule.name} is none: {problem.message}"
        yield of("GC206", rule.name, message, [_place(looked, domain, problem)], hint=problem.hint)


def _place(looked: Looked, domain: Domain, problem: DomainProblem) -> Origin:
    if problem.index is None or problem.index >= len(domain.places):
        return domain.origin
    item = domain.items[problem.index]
    if not isinstance(item, str):
        return domain.places[problem.index]
    return inside_of(looked.fleet.tree, Ref(item, domain.places[problem.index]), 1, problem.column)


def domains(looked: Looked, holding: Holding) -> Iterator[Finding]:
    """GC401 and GC404 about values one by one."""
    yield from _contradictions(looked, holding)
    for rule in looked.rules(RuleKind.DOMAIN):
        for held in holding.of(rule):
            yield from _judged(holding, rule, held)


def _judged(holding: Holding, rule: Rule, held: Held) -> Iterator[Finding]:
    domain, values = rule.domains[held.name], holding.values[rule.name, held.name]
    if held.value is not None and held.value in values:
        return
    allowed = shown(values.describe())
    if held.value is None:
        message = f"{_named(held)} has no value, and the rule {rule.name} wants one of {allowed}."
        hint = f"{SOLVE}: it finds one."
        yield of("GC401", rule.name, message, _said(rule, domain), [held.seen.name], hint)
    else:
        value = shown(str(held.value))
        message = f"{_named(held)} is {value}, and the rule {rule.name} allows {allowed}."
        origins = [*held.origins, *_said(rule, domain)]
        yield of("GC404", (rule.name, held.name), message, origins, [held.seen.name])


def _named(held: Held) -> str:
    """A parameter, or the attribute of an instance, wherever it is."""
    if held.seen.unit is None:
        return held.name
    return f"{held.name} of {held.seen.unit.feature} {held.seen.unit.name}".rstrip()


def _said(rule: Rule, domain: Domain) -> list[Origin]:
    return [domain.origin, *(ref.origin for ref in (rule.where, rule.over) if ref is not None)]


def _contradictions(looked: Looked, holding: Holding) -> Iterator[Finding]:
    """Domains that apply to one place and have nothing in common."""
    about: dict[Target, list[Rule]] = {}
    for rule in looked.rules(RuleKind.DOMAIN):
        for name in rule.domains:
            if (rule.name, name) in holding.values:
                about.setdefault((name, rule.over is not None), []).append(rule)
    for (name, _), rules in about.items():
        if len(rules) > 1:
            yield from _contradicting(looked, holding, name, rules)


def _contradicting(looked: Looked, holding: Holding, name: str, rules: list[Rule]) -> Iterator[Finding]:
    """Places are sorted by the rules that apply to them, so that each combination is looked at once."""
    applying: dict[str, tuple[str, ...]] = {}
    for rule in rules:
        for seen in looked.view.slots(rule.name):
            applying[seen.slot] = (*applying.get(seen.slot, ()), rule.name)
    alike: dict[tuple[str, ...], list[str]] = {}
    for slot, together in applying.items():
        alike.setdefault(together, []).append(slot.partition("/")[0])
    for together, nodes in sorted(alike.items()):
        if len(together) > 1 and not reduce(and_, (holding.values[rule, name] for rule in together)):
            message = f"The rules {listed(together)} leave {name} no value: no value is in all their domains."
            origins = [rule.domains[name].origin for rule in rules if rule.name in together]
            yield of("GC401", together, message, origins, sorted(set(nodes)))
