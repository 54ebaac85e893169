"""Rules, and what was decided for them, followed from commit to commit."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.compile.mentions import collects
from gitcfg.history.documents import Documents
from gitcfg.history.snapshot import Snapshot
from gitcfg.model import Allocation, Binding, Rule, Settings, Use


class Ruling(msgspec.Struct, frozen=True):
    """Rules and allocations by name; the same object as before where none of them is another."""

    rules: Mapping[str, Rule] = {}
    allocations: Mapping[str, Allocation] = {}

    @property
    def bindings(self) -> Iterator[tuple[str, Binding]]:
        """What rules set."""
        return (bound for rule in self.rules.values() for bound in rule.params.items())

    @property
    def collects(self) -> bool:
        """Do rules set what is collected from other nodes?"""
        return collects(bound for _, bound in self.bindings)

    @property
    def binds(self) -> frozenset[str]:
        """The parameters that rules may bring, and the attributes of instances."""
        return frozenset(name for rule in self.rules.values() for name in (*rule.params, *rule.domains))

    @property
    def uses(self) -> Iterator[Use]:
        """The features that rules speak of, which they may install."""
        found = (rule.feature for rule in self.rules.values())
        return (Use(feature.name, feature.origin) for feature in found if feature is not None)


NOTHING = Ruling()


def ruling(
    documents: Documents, settings: Settings, older: tuple[Ruling, Snapshot] | None, snapshot: Snapshot
) -> Ruling:
    """What is said in a snapshot; of a name that is there twice, the first counts."""
    if older is not None and _said_alike(older[1].others, snapshot.others):
        return older[0]
    rules: dict[str, Rule] = {}
    for found in _read(documents, settings, snapshot, "rules"):
        for rule in found:
            rules.setdefault(rule.name, rule)
    allocations: dict[str, Allocation] = {}
    for allocation in _read(documents, settings, snapshot, "allocations"):
        allocations.setdefault(allocation.name, allocation)
    new = Ruling(rules, allocations) if rules else NOTHING
    return older[0] if older is not None and _same(older[0], new) else new


def _said_alike(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    return ours["rules"] is theirs["rules"] and ours["allocations"] is theirs["allocations"]


def _read(documents: Documents, settings: Settings, snapshot: Snapshot, kind: str) -> Iterator[Any]:
    """What each file says, in order of path."""
    for path, file in sorted(snapshot.others[kind].items()):
        found = documents.definition(path, file, settings)
        if found is not None:
            yield found


def _same(ours: Ruling, theirs: Ruling) -> bool:
    pairs = ((ours.rules, theirs.rules), (ours.allocations, theirs.allocations))
    return all(
        before.keys() == after.keys() and all(found is after[name] for name, found in before.items())
        for before, after in pairs
    )
