"""GC201: attributes that instances lack on nodes where no rule gives them any."""

from collections.abc import Iterable, Iterator, Sequence, Set

from msgspec.structs import replace

from gitcfg.check.rules.looked import Looked
from gitcfg.check.structure import listed
from gitcfg.model import Finding
from gitcfg.model.rules import Rule, RuleKind


def attributes(looked: Looked) -> Iterator[Finding]:
    """What instances lack. Where a rule is for one that has no value, that is told of the rule (GC401)."""
    lacking = looked.fleet.layers.lacking
    if not lacking:
        return
    given = _Given(looked)
    for kind in looked.fleet.classes:
        for name in () if kind.said.retired else kind.names:
            for feature, instance in looked.lacking(name):
                slot = f"{name}/{instance.name}" if instance.name else name
                for found in lacking[feature, instance.key]:
                    rules = list(looked.fleet.layers.giving.rules(feature, found.subjects[0]))
                    if not given.leaves(rules, slot):
                        yield replace(found, nodes=(name,), hint=_hint(found, rules))


def _hint(found: Finding, rules: Sequence[Rule]) -> str:
    names = [rule.name for rule in rules]
    which = f"the rule {names[0]} is" if len(names) == 1 else f"the rules {listed(names)} are"
    return f"{found.hint.rstrip('.')}: {which} not for it."


class _Given:
    """Which slots rules over instances are for, as far as that is known."""

    def __init__(self, looked: Looked) -> None:
        self._looked = looked
        self._judged = {rule.name for rule in looked.rules(RuleKind.DOMAIN)}
        self._slots: dict[str, Set[str]] = {}

    def leaves(self, rules: Iterable[Rule], slot: str) -> bool:
        """Is one of some rules for a slot? Of rules that mean nothing it is unknown."""
        return any(rule.name not in self._judged or slot in self._of(rule.name) for rule in rules)

    def _of(self, rule: str) -> Set[str]:
        """Where a rule counts, and where it cannot be said whether it does, which is told."""
        if rule not in self._slots:
            held = {seen.slot for seen in self._looked.view.slots(rule)}
            self._slots[rule] = held.union(self._looked.view.failed.get(rule, ()))
        return self._slots[rule]
