"""GC401, GC404: rules that count: too few or too many of a feature, and values that must differ."""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from operator import or_

from gitcfg.cel import CelProblem, Key
from gitcfg.check.base import of
from gitcfg.check.rules.base import SOLVE, Held, Holding, RuledFleet, named, within
from gitcfg.check.rules.conditions import Failures
from gitcfg.check.structure import some
from gitcfg.compile.rules.evaluate import Candidate, ask_keys
from gitcfg.domain import Kind, Value, Values
from gitcfg.model import Finding, Origin
from gitcfg.model.names import shown
from gitcfg.model.rules import Count, Rule, RuleKind, Uniqueness
from gitcfg.sandbox import progress

Counted = Mapping[Key | None, Sequence[Candidate]]
"""By group, the nodes and instances that have a feature, each as often as it has it."""


def counts(ruled: RuledFleet) -> Iterator[Finding]:
    """Yield what is wrong with how often features are there."""
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
            f"The rule {rule.name} wants {count} of {feature}{within(keys)}, "
            f"and there {'is' if found == 1 else 'are'} {found or 'none'}."
        )
        few = found < count.least
        groups = ruled.view.groups(rule.name) if few else numbers
        nodes = sorted({seen.name for key in keys for seen in groups[key]})
        origins = [*_said(rule), *(() if few else ruled.where_installed(nodes, feature))]
        hint = _hint(ruled, rule, keys, few)
        yield of("GC401", rule.name, message, origins, nodes, hint)


def right(count: Count, found: int) -> bool:
    """Return whether a number is within limits."""
    return count.least <= found and (count.most is None or found <= count.most)


def _said(rule: Rule) -> Iterator[Origin]:
    """Yield where a rule says what it counts, among which nodes."""
    refs = (rule.feature, rule.where, rule.over, rule.per)
    if rule.count is not None:
        yield rule.count.origin
    yield from (ref.origin for ref in refs if ref is not None)


def _hint(ruled: RuledFleet, rule: Rule, keys: Sequence[Key | None], few: bool) -> str:
    if rule.kind is RuleKind.LIMIT or rule.count is None:
        return "Install it on fewer of them, or change the limit." if not few else ""
    groups = ruled.view.groups(rule.name)
    if not few:
        return f"{SOLVE}, or install it nowhere else."
    places = min(len(groups[key]) for key in keys)
    if places < rule.count.least:
        return f"There is room for {places} only: widen the rule's `where`, or want fewer."
    return f"{SOLVE}: it decides where."


# GC404, GC401: values that are had twice where no two may be the same, and domains too small for that.

Scopes = Mapping[str, Key | None]
"""By slot, the nodes among which its values must be unique: those with the same key."""


def unique(ruled: RuledFleet, holding: Holding, failures: Failures) -> Iterator[Finding]:
    """Yield what is not unique, or cannot be."""
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
    """Return where a rule wants values to differ; slots without a key are in none."""
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
            places = some([_place(rule, held) for held in sharing])
            had = f"{shown(str(value))} is had by {places}"
            message = f"{had}, and the rule {rule.name} wants it once{_in(said, key)}."
            origins = [place for held in sharing for place in held.origins]
            nodes = sorted({held.seen.name for held in sharing})
            yield of("GC404", rule.name, message, dict.fromkeys([*origins, _at(rule, said)]), nodes)


def _too_small(
    holding: Holding, rule: Rule, said: Uniqueness, key: Key | None, those: Sequence[Held]
) -> Iterator[Finding]:
    """More values are wanted than there are, so that no solution exists."""
    for domains, size in room({held.name: holding.values[rule.name, held.name] for held in those}):
        wanting = [held for held in those if held.name in domains]
        if len(wanting) > size:
            message = (
                f"The rule {rule.name} wants {len(wanting):,} values that differ{_in(said, key)}, "
                f"and there {'is' if size == 1 else 'are'} {size:,} in the domain."
            )
            origins = [*(rule.domains[name].origin for name in domains), _at(rule, said)]
            nodes = sorted({held.seen.name for held in wanting})
            yield of("GC401", rule.name, message, origins, nodes, "Allow more values.")


def room(domains: Mapping[str, Values]) -> Iterator[tuple[Mapping[str, Values], int]]:
    """Domains of one kind, and how many values are in them together."""
    kinds: dict[Kind, dict[str, Values]] = {}
    for name, domain in domains.items():
        kinds.setdefault(domain.kind, {})[name] = domain
    for kind, alike in kinds.items():
        if kind is not Kind.NETWORK or len(alike) == 1:  # networks of two lengths are no set
            yield alike, reduce(or_, alike.values()).size


def _place(rule: Rule, held: Held) -> str:
    return f"{held.name} of {held.seen.slot}" if len(rule.domains) > 1 else held.seen.slot


def _in(said: Uniqueness, key: Key | None) -> str:
    if said.scope == "fleet":
        return " in the fleet"
    return f" on {key}" if said.scope == "node" else f" in {named(key)}"


def _at(rule: Rule, said: Uniqueness) -> Origin:
    return said.key.origin if said.key is not None else next(iter(rule.domains.values())).origin
