"""What nodes, features and groups begin with: where the search for all that they are made of starts."""

from gitcfg.compile.nodes import said
from gitcfg.history.pool import within
from gitcfg.history.ruling import Ruling
from gitcfg.history.scope import Define, Rooted, Roots
from gitcfg.history.snapshot import Snapshot
from gitcfg.model import NodeSet, Origin, Override, Settings, Use

ALONE = Origin("")
"""Where a feature is listed that is asked for by itself."""


_MOST = 512


class NodeRoots:
    """Of a node: its file, the set that it is in, overrides that list it or may select it, and all rules."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._members: dict[int, tuple[NodeSet | Override, frozenset[str]]] = {}

    def __call__(self, define: Define, snapshot: Snapshot, settings: Settings, ruling: Ruling) -> Roots:
        own = define("nodes", self.name)
        nodeset = self._set(define, snapshot, settings)
        overrides = tuple(self._overrides(define, snapshot))
        looked = frozenset({("nodes", self.name)})
        kinds = frozenset({"nodesets", "overrides", "rules", "allocations"})
        if own is None and nodeset is None:
            return Roots(said=(None, None), looked=looked, kinds=kinds)
        about = said(own, nodeset)
        groups = (settings.default_group, *(ref.name for ref in about.groups))
        uses = [use for use, _ in about.features]
        uses += [use for override in overrides for use in override.features]
        uses += ruling.uses
        return Roots(groups, tuple(uses), (own, nodeset, *overrides), looked, kinds, ruling)

    def _set(self, define: Define, snapshot: Snapshot, settings: Settings) -> NodeSet | None:
        """The first set, in order of path, that has the node in any case of its letters: if it has it so."""
        places = snapshot.definitions["nodesets"]
        found = {name: define("nodesets", name) for name in sorted(places, key=lambda name: places[name])}
        sets = {name: nodeset for name, nodeset in found.items() if nodeset is not None}
        for name, nodeset in within(settings.max_nodes, sets).items():
            if nodeset.members and self.name.casefold() in self._folded(sets[name]):
                return nodeset if self.name in nodeset.members else None
        return None

    def _overrides(self, define: Define, snapshot: Snapshot) -> list[Override]:
        found = (define("overrides", name) for name in sorted(snapshot.definitions["overrides"]))
        return [each for each in found if each and (each.where or self._lists(each))]

    def _lists(self, override: Override) -> bool:
        return self.name.casefold() in self._folded(override) and self.name in (override.members or ())

    def _folded(self, definition: NodeSet | Override) -> frozenset[str]:
        """The members without regard to case; kept beside the definition, which is the same for long."""
        if len(self._members) > _MOST:
            self._members.clear()
        if id(definition) not in self._members:
            folded = frozenset(name.casefold() for name in definition.members or ())
            self._members[id(definition)] = (definition, folded)
        return self._members[id(definition)][1]


def feature_roots(name: str) -> Rooted:
    """Of a feature: itself alone."""
    return lambda define, snapshot, settings, ruling: Roots(uses=(Use(name, ALONE),))


def group_roots(name: str) -> Rooted:
    """Of a group: its features."""
    return lambda define, snapshot, settings, ruling: Roots(groups=(name,))
