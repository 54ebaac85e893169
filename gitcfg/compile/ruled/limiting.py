"""Limits that follow from the very choices that they limit."""

from collections.abc import Iterator, Mapping, Sequence

from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.ruled.strata import brought, waiting
from gitcfg.model import Origin
from gitcfg.model.rules import Rule

Reads = Mapping[str, frozenset[str] | None]


def led(
    limits: Sequence[Rule], installs: Sequence[Rule], reads: Reads, inclusion: Inclusion
) -> dict[str, tuple[str, ...]]:
    """The limits that look at features of which it depends on choices where they are, with who decides it.

    `reads` are the features that each rule looks for; None: it may look at all.
    """
    choosing = {rule.name: {rule.name} for rule in installs if rule.count is not None}
    waits = waiting(installs, reads, inclusion)
    deciders = {rule.name: set(choosing.get(rule.name, ())) for rule in installs}
    changed = True
    while changed:
        before = sum(map(len, deciders.values()))
        for name, others in waits.items():
            deciders[name].update(*(deciders[other] for other in others))
        changed = before < sum(map(len, deciders.values()))
    found = {}
    for limit in limits:
        asked = reads[limit.name]
        by = [deciders[rule.name] for rule in installs if asked is None or asked & brought(rule, inclusion)]
        names = sorted(set().union(*by))
        if names:
            found[limit.name] = tuple(names)
    return found


def places(limit: Rule, deciding: Sequence[Rule]) -> Iterator[Origin]:
    """Where a limit says what it looks at, and where that is decided."""
    yield from (ref.origin for ref in (limit.where, limit.per, limit.over) if ref is not None)
    yield from (rule.feature.origin for rule in deciding if rule.feature is not None)
