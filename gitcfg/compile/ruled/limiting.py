"""Limits that follow from the very choices that they limit."""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence, Set

from gitcfg.compile.inclusion import Inclusion
from gitcfg.compile.ruled.strata import Leads, waiting
from gitcfg.model import Origin
from gitcfg.model.graph import reverse
from gitcfg.model.rules import Rule

Reads = Mapping[str, frozenset[str] | None]
NAMED = 10
"""So many of those who decide about a limit are named, the nearest first."""


def led(
    limits: Sequence[Rule], installs: Sequence[Rule], reads: Reads, inclusion: Inclusion
) -> dict[str, tuple[str, ...]]:
    """The limits that look at features of which it depends on choices where they are, with who decides it.

    `reads` are the features that each rule looks for; None: it may look at all.
    """
    choosing = frozenset(rule.name for rule in installs if rule.count is not None)
    if not choosing:
        return {}
    leads = waiting(installs, reads, inclusion)
    leading = _leading(leads, choosing)
    named = ((limit.name, _nearest(limit.name, leads, leading, choosing)) for limit in limits)
    return {limit: tuple(sorted(names)) for limit, names in named if names}


def _leading(leads: Leads, ends: Set[str]) -> Set[str]:
    """All that leads to some ends, and these."""
    back, found, todo = reverse(leads), set(ends), [*ends]
    while todo:
        new = set(back[todo.pop()]) - found
        found |= new
        todo += new
    return found


def _nearest(limit: str, leads: Leads, leading: Set[str], choosing: Set[str]) -> list[str]:
    found, seen, todo = list[str](), {limit}, deque([limit])
    while todo and len(found) < NAMED:
        for name in sorted(leads[todo.popleft()] & leading - seen):
            seen.add(name)
            todo.append(name)
            found += [name] if name in choosing else []
    return found[:NAMED]


def places(limit: Rule, deciding: Sequence[Rule]) -> Iterator[Origin]:
    """Where a limit says what it looks at, and where that is decided."""
    yield from (ref.origin for ref in (limit.where, limit.per, limit.over) if ref is not None)
    yield from (rule.feature.origin for rule in deciding if rule.feature is not None)
