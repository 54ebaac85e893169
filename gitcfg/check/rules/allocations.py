"""GC401, GC403: allocations that are left over, or put features where they may not be."""

from collections.abc import Iterator, Mapping, Set

import msgspec

from gitcfg.check.base import of
from gitcfg.check.rules.base import SOLVE, Holding, RuledFleet
from gitcfg.check.structure import some
from gitcfg.compile.operations import PENDING
from gitcfg.compile.rules.evaluate import Candidate
from gitcfg.model import Binding, Finding, Model, Origin, Ref
from gitcfg.model.names import did_you_mean
from gitcfg.model.rules import Allocation, Rule, RuleKind

_MISPLACED = "where the `where`"
_HINT = f"{SOLVE}: it takes out what is left over."


def pointless(model: Model) -> Iterator[Finding]:
    """Allocations for rules that are gone, and for rules that leave nothing open."""
    if model.unread.get("rules"):
        return
    for name, allocation in model.allocations.items():
        rule = model.rules.get(name)
        if rule is None:
            message = f"There is no rule {name} for which this could have been decided."
            hint = did_you_mean(name, model.rules) or _HINT
            yield of("GC403", name, message, [allocation.origin], hint=hint)
        elif not _open(rule):
            message = f"The rule {name} leaves nothing open, so nothing is to be decided for it."
            yield of("GC403", name, message, [allocation.origin, rule.origin], hint=_HINT)


def _open(rule: Rule) -> bool:
    """Return whether a rule leaves a choice."""
    return rule.kind is RuleKind.DOMAIN or (rule.kind is RuleKind.INSTALL and rule.count is not None)


class _Line(msgspec.Struct, frozen=True):
    """Something that was decided, about a slot, and why it is left over."""

    slot: str
    why: str
    origins: tuple[Origin, ...]
    name: str = ""

    @property
    def about(self) -> str:
        """What it is about, in words."""
        return f"{self.name} of {self.slot}" if self.name else self.slot


def leftover(ruled: RuledFleet, holding: Holding) -> Iterator[Finding]:
    """Yield what single lines of allocations say in vain: for each rule, what is so for the same reason."""
    for rule in ruled.rules(RuleKind.INSTALL, RuleKind.DOMAIN):
        found = ruled.fleet.model.allocations.get(rule.name)
        if found is None or not _open(rule) or ruled.unknown(rule.name):
            continue
        slots = ruled.view.places(rule.name).by_slot
        install = rule.kind is RuleKind.INSTALL
        places = (
            _places(ruled, rule, found, slots) if install else _values(ruled, holding, rule, found, slots)
        )
        reasons: dict[str, list[_Line]] = {}
        for line in places:
            reasons.setdefault(line.why, []).append(line)
        for why, lines in reasons.items():
            yield _finding(ruled, rule, why, lines)


def _finding(ruled: RuledFleet, rule: Rule, why: str, lines: list[_Line]) -> Finding:
    about = some([line.about for line in lines])
    origins = [place for line in lines for place in line.origins]
    names = sorted({line.slot.partition("/")[0] for line in lines})
    nodes = [name for name in names if name in ruled.fleet]
    if why == _MISPLACED:
        feature = rule.feature.name if rule.feature else ""
        message = f"{feature} is put on {about}, {_MISPLACED} of the rule {rule.name} does not hold."
        origins += [said.origin for said in (rule.where,) if said is not None]
        return of("GC401", rule.name, message, origins, nodes, f"{SOLVE}: it decides anew.")
    message = f"What was decided for the rule {rule.name} about {about} is left over: {why}."
    return of("GC403", rule.name, message, dict.fromkeys(origins), nodes, _HINT)


def _places(
    ruled: RuledFleet, rule: Rule, found: Allocation, slots: Mapping[str, Candidate]
) -> Iterator[_Line]:
    feature = rule.feature.name if rule.feature else ""
    for ref in ruled.lines(found.install, lambda ref: ref.name):
        gone = _gone(ruled, rule, ref.name, slots)
        if gone:
            yield _Line(ref.name, gone, (ref.origin,))
        elif ref.name in slots:
            yield from _useless(ruled, rule, feature, ref, slots[ref.name])
        elif ref.name not in ruled.view.failed.get(rule.name, {}):
            yield _Line(ref.name, _MISPLACED, (ref.origin,))
    for slot, given in ruled.lines(found.values.items(), lambda line: line[0]):
        yield from _of_another_kind(slot, [bound.origin for bound in given.values()])


def _useless(ruled: RuledFleet, rule: Rule, feature: str, ref: Ref, seen: Candidate) -> Iterator[_Line]:
    """Placed where it is anyway, or where it is kept out."""
    if not ruled.has(seen, feature):
        yield _Line(ref.name, f"{feature} is kept out", (ref.origin,))
    elif ruled.had_without(seen, feature, rule.name):
        places = ruled.where_installed([seen.name], feature)
        yield _Line(ref.name, f"{feature} is there anyway", (ref.origin, *places))


def _values(
    ruled: RuledFleet, holding: Holding, rule: Rule, found: Allocation, slots: Mapping[str, Candidate]
) -> Iterator[_Line]:
    yield from _of_another_kind("a feature", [ref.origin for ref in found.install])
    files = {allocation.origin.file for allocation in ruled.fleet.model.allocations.values()}
    for slot, given in ruled.lines(found.values.items(), lambda line: line[0]):
        reason = _gone(ruled, rule, slot, slots)
        if not reason and slot in ruled.view.failed.get(rule.name, {}):
            continue
        if not reason and slot not in slots:
            reason = "the rule is not for it"
        for name, bound in given.items():
            why = reason or _unused(holding, files, rule, slots[slot], name, bound)
            if why:
                yield _Line(slot, why, (bound.origin,), name)


def _unused(holding: Holding, files: Set[str], rule: Rule, seen: Candidate, name: str, bound: Binding) -> str:
    """Return why a value that was decided does not count; nothing if it does."""
    if name not in rule.domains:
        return "the rule says nothing of it"
    places = _counting(holding, rule, seen, name)
    by_hand = bound.origin not in places and any(place.file not in files for place in places)
    return "what is said by hand counts" if by_hand else ""


def _counting(holding: Holding, rule: Rule, seen: Candidate, name: str) -> list[Origin]:
    """Return where it is said what a place holds in the end."""
    if rule.over is not None:
        there = seen.self_.attributes.get(name)
        return [] if there is None else [there.origin]
    node_class, cell = holding.cell(seen.name, name)
    if cell is None:
        return []
    facts = node_class.facts(name) if cell.value is PENDING else None
    return [step.origin for step in cell.counting(facts)]


def _gone(ruled: RuledFleet, rule: Rule, slot: str, slots: Mapping[str, Candidate]) -> str:
    """Return why there is no such slot; nothing if there is."""
    if rule.over is None and slot in slots:
        return ""
    node, slash, instance = slot.partition("/")
    if node not in ruled.fleet:
        return "there is no such node"
    if ruled.fleet.node_classes[node].definition.retired:
        return "the node is retired"
    if rule.over is None:
        return "the rule is about nodes, not instances" if slash else ""
    there = {unit.name for unit in ruled.units(node, rule.over.name)}
    return "" if instance in there else f"there is no such {rule.over.name}"


def _of_another_kind(slot: str, origins: list[Origin]) -> Iterator[_Line]:
    if origins:
        yield _Line(slot, "the rule decides nothing of the kind", tuple(origins))
