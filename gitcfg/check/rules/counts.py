"""GC401, GC403, GC404: rules that count, values that must differ, and obsolete allocations."""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import reduce
from operator import or_

import msgspec

import gitcfg.progress as progress
from gitcfg.cel import CelProblem, Key
from gitcfg.check.findings import of
from gitcfg.check.rules.conditions import Failures
from gitcfg.check.rules.ruled_fleet import SOLVE, Held, Holding, RuledFleet, named, within
from gitcfg.check.structure import some
from gitcfg.compile.operations import PENDING
from gitcfg.compile.rules.evaluate import Candidate, ask_keys
from gitcfg.domain import Kind, Value, Values
from gitcfg.model import Binding, Finding, Model, Origin, Ref
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.rules import Allocation, Count, Rule, RuleKind, Uniqueness

Counted = Mapping[Key | None, Sequence[Candidate]]
"""By group, the nodes and instances that have a feature, once for each installation."""


def counts(ruled: RuledFleet) -> Iterator[Finding]:
    """Yield the numbers of installed features that violate rules."""
    for rule in ruled.rules(RuleKind.INSTALL, RuleKind.LIMIT):
        progress.note("checking the rule", rule.name)
        if rule.count is not None and rule.feature is not None and not ruled.unknown(rule.name):
            found = counted(ruled, rule, rule.feature.name)
            yield from _judged(ruled, rule, rule.feature.name, rule.count, found)


def counted(ruled: RuledFleet, rule: Rule, feature: str) -> Counted:
    """Return what a rule counts, in each of its groups."""
    if rule.kind is RuleKind.LIMIT:
        return {key: [seen for seen, _ in those] for key, those in ruled.view.counted(rule.name).items()}
    grouped = ruled.view.grouped(rule.name)
    found: dict[Key | None, list[Candidate]] = {key: [] for key in grouped.groups}
    for node in sorted(ruled.having[feature]):
        for key, seen in grouped.by_node.get(node, ()):
            if ruled.has(seen, feature):
                found[key].append(seen)
    return found


def _judged(ruled: RuledFleet, rule: Rule, feature: str, count: Count, numbers: Counted) -> Iterator[Finding]:
    """Yield a finding for each wrong number, with all groups that have it."""
    wrong: dict[int, list[Key | None]] = {}
    for key, those in numbers.items():
        if not right(count, len(those)):
            wrong.setdefault(len(those), []).append(key)
    for found, keys in sorted(wrong.items()):
        message = (
            f"The rule {rule.name} requires {count} of {feature}{within(keys)}, "
            f"but there {'is' if found == 1 else 'are'} {found or 'none'}."
        )
        few = found < count.least
        groups = ruled.view.groups(rule.name) if few else numbers
        nodes = sorted({seen.name for key in keys for seen in groups[key]})
        origins = [*_find_origins(rule), *(() if few else ruled.where_installed(nodes, feature))]
        hint = _hint(ruled, rule, keys, few)
        yield of("GC401", rule.name, message, origins, nodes, hint)


def right(count: Count, found: int) -> bool:
    """Return whether a number is within limits."""
    return count.least <= found and (count.most is None or found <= count.most)


def _find_origins(rule: Rule) -> Iterator[Origin]:
    """Yield the places where a rule defines what it counts, and among which nodes."""
    refs = (rule.feature, rule.where, rule.over, rule.per)
    if rule.count is not None:
        yield rule.count.origin
    yield from (ref.origin for ref in refs if ref is not None)


def _hint(ruled: RuledFleet, rule: Rule, keys: Sequence[Key | None], few: bool) -> str:
    if rule.kind is RuleKind.LIMIT or rule.count is None:
        return "Install it on fewer nodes, or change the limit." if not few else ""
    groups = ruled.view.groups(rule.name)
    if not few:
        return f"{SOLVE}, or remove it from the other nodes."
    places = min(len(groups[key]) for key in keys)
    if places < rule.count.least:
        return f"Only {places} fit: make the rule's `where` match more nodes, or require fewer."
    return f"{SOLVE} to choose where."


# GC404, GC401: values that occur twice where they must be unique, and domains too small for that.

Scopes = Mapping[str, Key | None]
"""By slot, the key of the scope in which its values must be unique."""


def unique(ruled: RuledFleet, holding: Holding, failures: Failures) -> Iterator[Finding]:
    """Yield values that are not unique, or cannot be."""
    for rule in ruled.rules(RuleKind.DOMAIN):
        progress.note("checking the rule", rule.name)
        if rule.unique is not None:
            among: dict[Key | None, list[Held]] = {}
            within = scopes(ruled, rule, rule.unique, failures)
            for held in holding.of(rule):
                if held.seen.slot in within:
                    among.setdefault(within[held.seen.slot], []).append(held)
            for key, those in among.items():
                yield from _twice(holding, rule, rule.unique, key, those)
                yield from _too_small(holding, rule, rule.unique, key, those)


def scopes(ruled: RuledFleet, rule: Rule, said: Uniqueness, failures: Failures) -> Scopes:
    """Return the scope of each slot; slots without a key are in none."""
    slots = ruled.view.slots(rule.name)
    if said.key is None:
        return {seen.slot: seen.name if said.scope == "node" else None for seen in slots}
    answers = failures.answered(
        rule, "unique", said.key, [(seen,) for seen in slots], _keys(ruled, rule, slots)
    )
    pairs = zip(slots, answers, strict=True)
    return {seen.slot: key for seen, key in pairs if key is not None}


def _keys(
    ruled: RuledFleet, rule: Rule, slots: Sequence[Candidate]
) -> tuple[list[Key | None], Mapping[int, CelProblem]] | CelProblem:
    book = ruled.view.book
    try:
        return ask_keys(book.uniques[rule.name], slots, book.budgets[rule.name])
    except CelProblem as problem:
        return problem


def _twice(
    holding: Holding, rule: Rule, said: Uniqueness, key: Key | None, those: Sequence[Held]
) -> Iterator[Finding]:
    having: dict[tuple[Kind, Value], list[Held]] = {}
    for held in those:
        same = None if held.value is None else held.normal(holding.values[rule.name, held.name])
        if same is not None:
            having.setdefault(same, []).append(held)
    for (_, value), sharing in having.items():
        if len(sharing) > 1:
            places = some(
                [
                    held.seen.slot if len(rule.domains) == 1 else f"{held.name} of {held.seen.slot}"
                    for held in sharing
                ]
            )
            had = f"{shown(str(value))} is used by {places}"
            message = f"{had}, but the rule {rule.name} requires it to be unique{_in(said, key)}."
            origins = [place for held in sharing for place in held.origins]
            nodes = sorted({held.seen.name for held in sharing})
            yield of("GC404", rule.name, message, dict.fromkeys([*origins, _at(rule, said)]), nodes)


def _too_small(
    holding: Holding, rule: Rule, said: Uniqueness, key: Key | None, those: Sequence[Held]
) -> Iterator[Finding]:
    """Yield domains with fewer values than are needed, so that there is no solution."""
    for domains, size in room({held.name: holding.values[rule.name, held.name] for held in those}):
        wanting = [held for held in those if held.name in domains]
        if len(wanting) > size:
            message = (
                f"The rule {rule.name} requires {len(wanting):,} different values{_in(said, key)}, "
                f"but there {'is' if size == 1 else 'are'} {size:,} in the domain."
            )
            origins = [*(rule.domains[name].origin for name in domains), _at(rule, said)]
            nodes = sorted({held.seen.name for held in wanting})
            yield of("GC401", rule.name, message, origins, nodes, "Allow more values.")


def room(domains: Mapping[str, Values]) -> Iterator[tuple[Mapping[str, Values], int]]:
    """Yield the domains of each kind, and the number of values in them together."""
    kinds: dict[Kind, dict[str, Values]] = {}
    for name, domain in domains.items():
        kinds.setdefault(domain.kind, {})[name] = domain
    for kind, alike in kinds.items():
        if kind is not Kind.NETWORK or len(alike) == 1:  # networks of two lengths do not form a set
            yield alike, reduce(or_, alike.values()).size


def _in(said: Uniqueness, key: Key | None) -> str:
    if said.scope == "fleet":
        return " in the fleet"
    return f" on {key}" if said.scope == "node" else f" in {named(key)}"


def _at(rule: Rule, said: Uniqueness) -> Origin:
    return said.key.origin if said.key is not None else next(iter(rule.domains.values())).origin


# GC401, GC403: allocations that are obsolete, or install features where the rule does not allow it.

_MISPLACED = "where the `where`"
_HINT = f"{SOLVE} to remove obsolete allocations."


def pointless(model: Model) -> Iterator[Finding]:
    """Yield allocations for rules that do not exist, and for rules that leave no choice."""
    if model.unread.get("rules"):
        return
    for name, allocation in model.allocations.items():
        rule = model.rules.get(name)
        if rule is None:
            message = f"The rule {name} of this allocation does not exist."
            hint = did_you_mean(name, model.rules) or _HINT
            yield of("GC403", name, message, [allocation.origin], hint=hint)
        elif not _open(rule):
            message = f"The rule {name} leaves no choice, so it has no allocation."
            yield of("GC403", name, message, [allocation.origin, rule.origin], hint=_HINT)


def _open(rule: Rule) -> bool:
    """Return whether a rule leaves a choice."""
    return rule.kind is RuleKind.DOMAIN or (rule.kind is RuleKind.INSTALL and rule.count is not None)


class _Line(msgspec.Struct, frozen=True):
    """A line of an allocation, and why it is obsolete."""

    slot: str
    why: str
    origins: tuple[Origin, ...]
    name: str = ""

    @property
    def about(self) -> str:
        """What it is about, in words."""
        return f"{self.name} of {self.slot}" if self.name else self.slot


def leftover(ruled: RuledFleet, holding: Holding) -> Iterator[Finding]:
    """Yield the lines of allocations that have no effect: a finding for each rule and reason."""
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
        message = f"{feature} is allocated to {about}, {_MISPLACED} of the rule {rule.name} is false."
        origins += [said.origin for said in (rule.where,) if said is not None]
        return of("GC401", rule.name, message, origins, nodes, f"{SOLVE} to decide again.")
    message = f"The allocation of the rule {rule.name} for {about} is obsolete: {why}."
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
    """Yield a line that installs a feature where it is installed anyway, or excluded."""
    if not ruled.has(seen, feature):
        yield _Line(ref.name, f"{feature} is excluded there", (ref.origin,))
    elif ruled.had_without(seen, feature, rule.name):
        places = ruled.where_installed([seen.name], feature)
        yield _Line(ref.name, f"{feature} is installed there anyway", (ref.origin, *places))


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
            reason = "the rule does not apply to it"
        for name, bound in given.items():
            why = reason or _unused(holding, files, rule, slots[slot], name, bound)
            if why:
                yield _Line(slot, why, (bound.origin,), name)


def _unused(holding: Holding, files: Set[str], rule: Rule, seen: Candidate, name: str, bound: Binding) -> str:
    """Return why a value of an allocation has no effect, or an empty text if it has one."""
    if name not in rule.domains:
        return "the rule does not set it"
    places = _counting(holding, rule, seen, name)
    by_hand = bound.origin not in places and any(place.file not in files for place in places)
    return "a value set by hand overrides it" if by_hand else ""


def _counting(holding: Holding, rule: Rule, seen: Candidate, name: str) -> list[Origin]:
    """Return the places that determine the final value of a slot."""
    if rule.over is not None:
        there = seen.self_.attributes.get(name)
        return [] if there is None else [there.origin]
    node_class, cell = holding.cell(seen.name, name)
    if cell is None:
        return []
    facts = node_class.facts(name) if cell.value is PENDING else None
    return [step.origin for step in cell.counting(facts)]


def _gone(ruled: RuledFleet, rule: Rule, slot: str, slots: Mapping[str, Candidate]) -> str:
    """Return why a slot does not exist, or an empty text if it does."""
    if rule.over is None and slot in slots:
        return ""
    node, slash, instance = slot.partition("/")
    if node not in ruled.fleet:
        return "the node does not exist"
    if ruled.fleet.node_classes[node].definition.retired:
        return "the node is retired"
    if rule.over is None:
        return "the rule is about nodes, not instances" if slash else ""
    there = {unit.name for unit in ruled.units(node, rule.over.name)}
    return "" if instance in there else f"there is no such {rule.over.name}"


def _of_another_kind(slot: str, origins: list[Origin]) -> Iterator[_Line]:
    if origins:
        yield _Line(slot, "the rule does not decide this", tuple(origins))
