"""GC401: rules that count: too few or too many of a feature, among all or within groups."""

from collections.abc import Iterator, Mapping, Sequence

from gitcfg.cel import Key
from gitcfg.check.fold import of
from gitcfg.check.rules.looked import Looked
from gitcfg.check.rules.words import SOLVE, within
from gitcfg.compile.ruled.asking import Seen
from gitcfg.model import Finding, Origin
from gitcfg.model.rules import Count, Rule, RuleKind
from gitcfg.sandbox import progress

Counted = Mapping[Key | None, Sequence[Seen]]
"""By group, the nodes and instances that have a feature, each as often as it has it."""


def counts(looked: Looked) -> Iterator[Finding]:
    """What is wrong with how often features are there."""
    for rule in looked.rules(RuleKind.INSTALL, RuleKind.LIMIT):
        progress.note("checking the rule", rule.name)
        if rule.count is not None and rule.feature is not None and not looked.unknown(rule.name):
            found = counted(looked, rule, rule.feature.name)
            yield from _judged(looked, rule, rule.feature.name, rule.count, found)


def counted(looked: Looked, rule: Rule, feature: str) -> Counted:
    """What a rule counts, in each of its groups."""
    if rule.kind is RuleKind.LIMIT:
        return {key: [seen for seen, _ in those] for key, those in looked.view.counted(rule.name).items()}
    grouped = looked.view.grouped(rule.name)
    found: dict[Key | None, list[Seen]] = {key: [] for key in grouped.groups}
    for node in sorted(looked.having[feature]):
        for key, seen in grouped.by_node.get(node, ()):
            if looked.has(seen, feature):
                found[key].append(seen)
    return found


def _judged(looked: Looked, rule: Rule, feature: str, count: Count, numbers: Counted) -> Iterator[Finding]:
    """A finding for each number that is wrong: the groups that have so many are told together."""
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
        groups = looked.view.groups(rule.name) if few else numbers
        nodes = sorted({seen.name for key in keys for seen in groups[key]})
        origins = [*_said(rule), *(() if few else looked.where_installed(nodes, feature))]
        hint = _hint(looked, rule, keys, few)
        yield of("GC401", rule.name, message, origins, nodes, hint)


def right(count: Count, found: int) -> bool:
    """Is a number as it is wanted?"""
    return count.least <= found and (count.most is None or found <= count.most)


def _said(rule: Rule) -> Iterator[Origin]:
    """Where a rule says what it counts, among which nodes."""
    refs = (rule.feature, rule.where, rule.over, rule.per)
    if rule.count is not None:
        yield rule.count.origin
    yield from (ref.origin for ref in refs if ref is not None)


def _hint(looked: Looked, rule: Rule, keys: Sequence[Key | None], few: bool) -> str:
    if rule.kind is RuleKind.LIMIT or rule.count is None:
        return "Install it on fewer of them, or change the limit." if not few else ""
    groups = looked.view.groups(rule.name)
    if not few:
        return f"{SOLVE}, or install it nowhere else."
    places = min(len(groups[key]) for key in keys)
    if places < rule.count.least:
        return f"There is room for {places} only: widen the rule's `where`, or want fewer."
    return f"{SOLVE}: it decides where."
