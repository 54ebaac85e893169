"""GC401, GC404, GC406: domains that are not valid or contradict, and values that are missing or outside."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from functools import reduce
from operator import and_

import msgspec
from msgspec.structs import replace

from gitcfg.check.findings import of
from gitcfg.check.rules.ruled_fleet import SOLVE, Held, Holding, RuledFleet
from gitcfg.check.structure import SHOWN, listed, some
from gitcfg.compile.operations import Collect, Lack, Why
from gitcfg.compile.rules.collect import Asking, Collecting, Link
from gitcfg.domain import DomainProblem
from gitcfg.load.document import find_in_scalar
from gitcfg.model import Finding, Origin, Ref
from gitcfg.model.names import shown
from gitcfg.model.rules import Domain, Rule, RuleKind

Target = tuple[str, bool]
"""What a domain applies to: a name, and whether it is that of an attribute."""


def misread(ruled: RuledFleet, holding: Holding) -> Iterator[Finding]:
    """Yield GC206 for domains that are not valid."""
    for rule, domain, problem in holding.problems:
        message = f"The domain of {domain.name} in the rule {rule.name} is not valid: {problem.message}"
        yield of("GC206", rule.name, message, [_place(ruled, domain, problem)], hint=problem.hint)


def _place(ruled: RuledFleet, domain: Domain, problem: DomainProblem) -> Origin:
    if problem.index is None or problem.index >= len(domain.places):
        return domain.origin
    item = domain.items[problem.index]
    if not isinstance(item, str):
        return domain.places[problem.index]
    return find_in_scalar(ruled.fleet.tree, Ref(item, domain.places[problem.index]), 1, problem.column)


def domains(ruled: RuledFleet, holding: Holding) -> Iterator[Finding]:
    """Yield GC401 and GC404 for single values."""
    yield from _contradictions(ruled, holding)
    for rule in ruled.rules(RuleKind.DOMAIN):
        for held in holding.of(rule):
            yield from _judged(holding, rule, held)


def _judged(holding: Holding, rule: Rule, held: Held) -> Iterator[Finding]:
    domain, values = rule.domains[held.name], holding.values[rule.name, held.name]
    if held.value is not None and held.value in values:
        return
    allowed = shown(values.describe())
    if held.value is None:
        message = f"{_named(held)} has no value, but the rule {rule.name} requires one of {allowed}."
        hint = f"{SOLVE} to choose one."
        yield of("GC401", rule.name, message, _find_origins(rule, domain), [held.seen.name], hint)
    else:
        value = shown(str(held.value))
        message = f"{_named(held)} is {value}, but the rule {rule.name} only allows {allowed}."
        origins = [*held.origins, *_find_origins(rule, domain)]
        yield of("GC404", (rule.name, held.name), message, origins, [held.seen.name])


def _named(held: Held) -> str:
    """Return the name of a parameter, or of an attribute with its instance, without the node."""
    if held.seen.unit is None:
        return held.name
    return f"{held.name} of {held.seen.unit.feature} {held.seen.unit.name}".rstrip()


def _find_origins(rule: Rule, domain: Domain) -> list[Origin]:
    return [domain.origin, *(ref.origin for ref in (rule.where, rule.over) if ref is not None)]


def _contradictions(ruled: RuledFleet, holding: Holding) -> Iterator[Finding]:
    """Yield domains that apply to the same slot and have no common value."""
    about: dict[Target, list[Rule]] = {}
    for rule in ruled.rules(RuleKind.DOMAIN):
        for name in rule.domains:
            if (rule.name, name) in holding.values:
                about.setdefault((name, rule.over is not None), []).append(rule)
    for (name, _), rules in about.items():
        if len(rules) > 1:
            yield from _contradicting(ruled, holding, name, rules)


def _contradicting(ruled: RuledFleet, holding: Holding, name: str, rules: list[Rule]) -> Iterator[Finding]:
    """Yield the combinations of rules without a common value.

    Slots are grouped by the rules that apply to them, so that each combination is tested once.
    """
    applying: dict[str, tuple[str, ...]] = {}
    for rule in rules:
        for seen in ruled.view.slots(rule.name):
            applying[seen.slot] = (*applying.get(seen.slot, ()), rule.name)
    alike: dict[tuple[str, ...], list[str]] = {}
    for slot, together in applying.items():
        alike.setdefault(together, []).append(slot.partition("/")[0])
    for together, nodes in sorted(alike.items()):
        if len(together) > 1 and not reduce(and_, (holding.values[rule, name] for rule in together)):
            message = (
                f"The rules {listed(together)} leave {name} no value: their domains have no common value."
            )
            origins = [rule.domains[name].origin for rule in rules if rule.name in together]
            yield of("GC401", together, message, origins, sorted(set(nodes)))


# GC408: conditions of `$collect` that cannot be read, or fail on some nodes.

_BY_CONDITIONS = (Why.UNREADABLE, Why.FAILED)


class _Collector(msgspec.Struct):
    """Where something is collected; `nodes` lack it because of its condition."""

    params: set[str]
    origins: set[Origin]
    nodes: set[str]


def conditions(collecting: Collecting, asked: Sequence[Asking]) -> Iterator[Finding]:
    """Yield errors in conditions, including unused ones; those on cycles are not evaluated."""
    for collect, said in _collected_where(collecting, asked).items():
        if not collecting.circular(collect):
            yield from _wrong(collecting, collect, said)


def _collected_where(collecting: Collecting, asked: Iterable[Asking]) -> dict[Collect, _Collector]:
    found = {
        collect: _Collector({name for name, _ in places}, {origin for _, origin in places}, set())
        for collect, places in collecting.written().items()
    }
    for each in asked:
        said = found.setdefault(each.collect, _Collector(set(), set(), set()))
        said.params.add(each.param)
        said.origins.add(each.origin)
    for each in asked:
        if each.lack is not None and each.lack.why in _BY_CONDITIONS:
            found[each.lack.collect].nodes.update(each.nodes)
    return found


def _wrong(collecting: Collecting, collect: Collect, said: _Collector) -> Iterator[Finding]:
    index, params = collecting.index(collect), tuple(sorted(said.params))
    about = f"The `where` of what {listed(params)} collects"
    if index.problem is not None:
        message = f"{about} cannot be read: {index.problem.message}"
        yield of("GC408", params, message, sorted(said.origins), sorted(said.nodes), index.problem.hint)
    alike: dict[tuple[str, str], set[str]] = {}
    for name, problem in index.failed.items():
        alike.setdefault((problem.message, problem.hint), set()).add(name)
    for (problem_message, hint), names in alike.items():
        message = f"{about} fails: {problem_message}"
        yield of("GC408", params, message, sorted(said.origins), sorted(names | said.nodes), hint)


# GC406, GC401, GC306: values that cannot be collected from other nodes, and the nodes that lack them.


def collected(collecting: Collecting) -> Iterator[Finding]:
    """Yield what cannot be collected. None of a finding's nodes gets a part of the value."""
    asked = list(collecting.asking())
    lacking: dict[Lack, list[Asking]] = {}
    for each in asked:
        if each.lack is not None:
            lacking.setdefault(each.lack, []).append(each)
    for lack, those in lacking.items():
        if lack.why in _FINDINGS:
            yield _FINDINGS[lack.why](collecting, lack, those)
    yield from conditions(collecting, asked)


def _circle(collecting: Collecting, lack: Lack, those: Sequence[Asking]) -> Finding:
    links = collecting.around(lack)
    params = _own(those)
    origins = dict.fromkeys([*(link.origin for link in links), *sorted(_places(those))])
    hint = "Set one of these values. All possible nodes count, before `same` and `where` exclude any."
    return of("GC406", params, _around(links), origins, _nodes(those), hint)


def _around(links: Sequence[Link]) -> str:
    """Return a cycle as a sentence; a long one is shortened, since all its places are in the finding."""
    first, *others = [f"{link.param} of {link.node}" for link in links]
    if not others:
        return f"{first} is collected from itself."
    if len(others) < SHOWN:
        return f"{first} is collected from {', that from '.join(others)}, and that from {first} again."
    way = ", that from ".join(others[: SHOWN - 1])
    return f"{first} is collected from {way}, and so on, back to itself after {len(links):,} steps."


def _not_one(collecting: Collecting, lack: Lack, those: Sequence[Asking]) -> Finding:
    collect = lack.collect
    params = _own(those)
    same = f", with the same {listed(collect.same)}" if collect.same else ""
    there = f"are {lack.values:,}: of {some(lack.found)}" if lack.found else "are none"
    message = (
        f"{listed(params)} requires the {collect.param} of exactly one node with {collect.feature}{same}, "
        f"but there {there}."
    )
    hint = (
        "Narrow it with `same` or `where`, or remove `one` to collect all of them as a list."
        if lack.found
        else f"Install {collect.feature} on such a node, or set the value by hand."
    )
    return of("GC401", params, message, _places(those), _nodes(those), hint)


def _too_much(collecting: Collecting, lack: Lack, those: Sequence[Asking]) -> Finding:
    params = _own(those)
    message = f"{listed(params)} collects more than the size limit of values: nothing is collected."
    hint = "Collect names instead, or collect from fewer nodes."
    return of("GC306", params, message, _places(those), _nodes(those), hint)


def _secret(collecting: Collecting, lack: Lack, those: Sequence[Asking]) -> Finding:
    collect = lack.collect
    message = (
        f"{listed(_own(those))} is collected from {collect.param} of nodes that have {collect.feature}, "
        "but on some of them it is a secret, which cannot be collected."
    )
    hint = "Bind {$secret: NAME} here as well: its `for` says which nodes may have it."
    return of("GC306", _own(those), message, _places(those), _nodes(those), hint)


_FINDINGS: Mapping[Why, Callable[[Collecting, Lack, Sequence[Asking]], Finding]] = {
    Why.CIRCLE: _circle,
    Why.NOT_ONE: _not_one,
    Why.TOO_MUCH: _too_much,
    Why.SECRET: _secret,
}


def _own(those: Iterable[Asking]) -> tuple[str, ...]:
    return tuple(sorted({each.param for each in those if each.own}))


def _places(those: Iterable[Asking]) -> list[Origin]:
    return sorted({each.origin for each in those if each.own})


def _nodes(those: Iterable[Asking]) -> list[str]:
    return sorted({name for each in those for name in each.nodes})


# GC201: attributes that instances lack on nodes where no rule gives them any.


def attributes(ruled: RuledFleet) -> Iterator[Finding]:
    """Yield missing attributes. A value that a rule should give is reported for the rule (GC401)."""
    lacking = ruled.fleet.layers.lacking
    if not lacking:
        return
    given = _Given(ruled)
    for node_class in ruled.fleet.classes:
        for name in () if node_class.definition.retired else node_class.names:
            for feature, instance in ruled.lacking(name):
                slot = f"{name}/{instance.name}" if instance.name else name
                for found in lacking[feature, instance.key]:
                    rules = list(ruled.fleet.layers.giving.rules(feature, found.subjects[0]))
                    if not given.leaves(rules, slot):
                        yield replace(found, nodes=(name,), hint=_hint(found, rules))


def _hint(found: Finding, rules: Sequence[Rule]) -> str:
    names = [rule.name for rule in rules]
    which = f"the rule {names[0]} is" if len(names) == 1 else f"the rules {listed(names)} are"
    return f"{found.hint.rstrip('.')}: {which} not for it."


class _Given:
    """The slots that rules over instances apply to, as far as that is known."""

    def __init__(self, ruled: RuledFleet) -> None:
        self._ruled = ruled
        self._judged = {rule.name for rule in ruled.rules(RuleKind.DOMAIN)}
        self._slots: dict[str, Set[str]] = {}

    def leaves(self, rules: Iterable[Rule], slot: str) -> bool:
        """Return whether any of these rules applies to a slot, or could not be read."""
        return any(rule.name not in self._judged or slot in self._of(rule.name) for rule in rules)

    def _of(self, rule: str) -> Set[str]:
        """Return the slots that a rule applies to, and those where this is unknown (reported already)."""
        if rule not in self._slots:
            held = {seen.slot for seen in self._ruled.view.slots(rule)}
            self._slots[rule] = held.union(self._ruled.view.failed.get(rule, ()))
        return self._slots[rule]
