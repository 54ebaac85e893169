"""What a node or a layer is made of, followed from commit to commit."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.comparison.change import Delta
from gitcfg.comparison.files import Files, Pair, Side, Versions
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.fleet import FleetNode
from gitcfg.compile.nodes import define_node
from gitcfg.history.definitions import (
    NOTHING,
    Counts,
    Implied,
    Outline,
    Ruling,
    alike,
    declarations,
    kinds,
    meaning_text,
    parameters,
    ruling,
    secrets,
)
from gitcfg.history.fleet import Conditions, Whole, Wholes, rule_engine
from gitcfg.history.layers import ReusedLayers, ReusedStacks
from gitcfg.history.snapshot import Documents, Key, Snapshot, everything, settings_of, within
from gitcfg.model import Feature, FileEntry, Group, Model, NodeSet, Origin, Override, Settings, Use
from gitcfg.render.files import RenderedFile, make_context, render_file

Define = Callable[[str, str], Any]
"""A definition by its kind's folder and its name; None where there is none."""


class Roots(msgspec.Struct, frozen=True):
    """What a scope begins with.

    `said` are definitions beside features and groups, None where one is not there; `looked` are the
    names that were looked for to find them, and `kinds` the folders of which any file may matter.
    `ruling` is what rules may bring to it.
    """

    groups: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()
    said: tuple[Any, ...] = ()
    looked: frozenset[Key] = frozenset()
    kinds: frozenset[str] = frozenset()
    ruling: Ruling = NOTHING


Rooted = Callable[[Define, Snapshot, Settings, Ruling], Roots]
"""What a scope begins with in a snapshot."""


class Scope(msgspec.Struct, frozen=True):
    """Roots with the features and groups that they lead to.

    `looked` are all names that were looked for; `binds` are the parameters that something binds.
    """

    roots: Roots
    groups: Mapping[str, Group]
    features: Mapping[str, Feature]
    looked: frozenset[Key]
    binds: frozenset[str]

    def concerned(self, keys: Iterable[Key]) -> bool:
        """Return whether the scope may differ where these do."""
        return any(key in self.looked or key[0] in self.roots.kinds for key in keys)

    def stacked_as(self, other: "Scope") -> bool:
        """Return whether the features, groups and rules are the same objects."""
        ruled = self.roots.ruling is other.roots.ruling
        return ruled and _same(self.groups, other.groups) and _same(self.features, other.features)

    def said_as(self, other: "Scope") -> bool:
        """Return whether the other definitions are the same objects."""
        mine, theirs = self.roots.said, other.roots.said
        return len(mine) == len(theirs) and all(one is two for one, two in zip(mine, theirs, strict=True))


def scope(define: Define, roots: Roots) -> Scope:
    """Everything that roots lead to."""
    groups = {name: found for name in roots.groups if (found := define("groups", name)) is not None}
    uses = [*roots.uses, *(use for group in groups.values() for use in group.features)]
    features: dict[str, Feature] = {}
    looked = set[str]()
    while uses:
        name = uses.pop().feature
        if name not in looked:
            looked.add(name)
            found = define("features", name)
            if found is not None:
                features[name] = found
                uses += found.include
    keys = {*(("groups", name) for name in roots.groups), *(("features", name) for name in looked)}
    return _scope(roots, groups, features, roots.looked | keys)


def followed(older: Scope, define: Define, keys: Iterable[Key]) -> Scope | None:
    """The scope of a neighbour that is different in `keys`, if it leads to the same names; else None."""
    groups, features = dict(older.groups), dict(older.features)
    for key in keys:
        if key[0] in older.roots.kinds or key in older.roots.looked:
            return None
        if key not in older.looked:
            continue
        layers: dict[str, Any] = groups if key[0] == "groups" else features
        before, after = layers.get(key[1]), define(*key)
        if before is None or after is None or _mentioned(before) != _mentioned(after):
            return None
        layers[key[1]] = after
    return _scope(older.roots, groups, features, older.looked)


def _mentioned(layer: Feature | Group) -> list[str]:
    return [use.feature for use in (layer.include if isinstance(layer, Feature) else layer.features)]


def _scope(
    roots: Roots, groups: Mapping[str, Group], features: Mapping[str, Feature], looked: frozenset[Key]
) -> Scope:
    layers = (*groups.values(), *features.values(), *roots.said)
    binds = (getattr(layer, "definition", layer).params for layer in layers if layer is not None)
    return Scope(roots, groups, features, looked, roots.ruling.binds.union(*binds))


def _same(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> bool:
    return ours.keys() == theirs.keys() and all(found is theirs[name] for name, found in ours.items())


# The layers that one node or one definition is made of, followed from commit to commit.


class Made(msgspec.Struct, frozen=True):
    """The layers at one commit; those of the neighbour as long as they are made of the same."""

    snapshot: Snapshot
    settings: Settings
    scope: Scope
    ruling: Ruling
    declarations: Declarations
    implied: Counts
    layers: ReusedLayers
    stacks: ReusedStacks


class Maker:
    """Makes layers of a scope, anew only what is different."""

    def __init__(self, documents: Documents, implied: Implied, rooted: Rooted) -> None:
        self._documents = documents
        self._implied = implied
        self._rooted = rooted

    def make(self, older: Made | None, snapshot: Snapshot, keys: frozenset[Key]) -> Made | None:
        """Return the layers of a neighbour that is different in `keys`. None: there is no repository."""
        settings = settings_of(self._documents, snapshot)
        if settings is None:
            return None
        if older is None or older.settings != settings:
            older, keys = None, everything(snapshot)
        before, counts = (older.snapshot, older.implied) if older else (Snapshot(), Counter())
        implied = self._implied.follow(counts, settings, before, snapshot, keys)
        known = (older.ruling, older.snapshot) if older else None
        ruled = ruling(self._documents, settings, known, snapshot)
        declared = self._declarations(older, snapshot, implied, ruled)
        found = self._scope(older, snapshot, settings, keys, ruled)
        layers, stacks = _stacks(older, settings, found, declared)
        return Made(snapshot, settings, found, ruled, declared, implied, layers, stacks)

    def _scope(
        self,
        older: Made | None,
        snapshot: Snapshot,
        settings: Settings,
        keys: frozenset[Key],
        ruled: Ruling,
    ) -> Scope:
        def define(kind: str, name: str) -> Any:
            place = snapshot.place(kind, name)
            return self._documents.definition(*place, settings) if place else None

        if older is not None and not older.scope.concerned(keys):
            return older.scope
        found = followed(older.scope, define, keys) if older else None
        return found or scope(define, self._rooted(define, snapshot, settings, ruled))

    def _declarations(
        self, older: Made | None, snapshot: Snapshot, implied: Counts, ruled: Ruling
    ) -> Declarations:
        documents, files, sealed = self._documents, snapshot.others["parameters"], snapshot.others["secrets"]
        if older is None:
            declared = parameters(documents, files)
            return declarations(None, declared, kinds(implied, ruled), secrets(documents, sealed))
        before, others = older.declarations, older.snapshot.others
        same, kept = files is others["parameters"], sealed is others["secrets"]
        if same and kept and implied is older.implied and ruled is older.ruling:
            return before
        known = before.parameters if same else parameters(documents, files)
        sealed_now = before.secrets if kept else secrets(documents, sealed)
        return declarations(before, known, kinds(implied, ruled), sealed_now)


def _stacks(
    older: Made | None, settings: Settings, found: Scope, declared: Declarations
) -> tuple[ReusedLayers, ReusedStacks]:
    """Return the older layers if nothing in them is different, else new ones of what is still the same."""
    if older is not None and _as_before(older, found, declared):
        return older.layers, older.stacks
    ruled = found.roots.ruling
    model = Model(
        settings,
        features=found.features,
        groups=found.groups,
        rules=ruled.rules,
        allocations=ruled.allocations,
    )
    layers = ReusedLayers(model, declared, older.layers if older else None)
    return layers, ReusedStacks(model, layers, older.stacks if older else None)


def _as_before(older: Made, found: Scope, declared: Declarations) -> bool:
    if found is older.scope and declared is older.declarations:
        return True
    same = alike(older.layers.declarations, declared)
    return found.stacked_as(older.scope) and all(map(same, found.binds))


# What nodes, features and groups begin with: where the search for all that they are made of starts.

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
        about = define_node(own, nodeset)
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


# One node, compiled anew only where something that it is made of is different.


class NodeState(msgspec.Struct, frozen=True):
    """A node at one commit, None where it is not there.

    `alone` is what it is made of, and `whole` the fleet that tells what it collects, if it does.
    """

    snapshot: Snapshot
    made: Made | None = None
    alone: FleetNode | None = None
    whole: Whole | None = None
    node: FleetNode | None = None


class OneNode:
    """A node by its name, followed from commit to commit.

    It is made of what it leads to; where it collects values it is one of a whole fleet. `outline` is what
    of definitions matters, if not all.
    """

    def __init__(self, name: str, content: Callable[[bytes], bytes], outline: Outline | None = None) -> None:
        documents = Documents(content)
        outlined = documents.outlined(outline.of) if outline else documents
        self._maker = Maker(outlined, Implied(outlined, content), NodeRoots(name))
        self._wholes = Wholes(documents)
        self._name = name
        self._conditions = Conditions()

    def follow(self, older: NodeState | None, snapshot: Snapshot, keys: frozenset[Key]) -> NodeState:
        """Return the node at a neighbour that is different in `keys`."""
        made = self._maker.make(older.made if older else None, snapshot, keys)
        if made is None:
            return NodeState(snapshot)
        before = older.made if older else None
        if older and before and made.stacks is before.stacks and made.scope.said_as(before.scope):
            alone, collecting = older.alone, older.whole is not None
        else:
            alone = self._compiled(made)
            collecting = alone is not None and bool(alone.node_class.collected)
        if not collecting:
            return NodeState(snapshot, made, alone, None, alone)
        whole = self._wholes.follow(older.whole if older else None, snapshot, keys)
        if older and whole is older.whole:
            return NodeState(snapshot, made, alone, whole, older.node)
        return NodeState(snapshot, made, alone, whole, whole.node(self._name) if whole else None)

    def _compiled(self, made: Made) -> FleetNode | None:
        own, nodeset, *overrides = made.scope.roots.said
        if own is None and nodeset is None:
            return None
        about = define_node(own, nodeset)
        listed = [override for override in overrides if not override.where]
        selecting = [override for override in overrides if override.where]
        rules = rule_engine(made.stacks)
        kind = self._conditions.compiled(self._name, about, listed, selecting, made.stacks, rules)
        return FleetNode(self._name, kind, about)


# Which files of one node differ, found by writing no more of them than what can differ.

_APART = frozenset({"condor", "env", "ini", "json", "toml", "yaml"})
"""Formats that write each parameter by itself, but for those whose names begin alike (`a`, `A`, `a.b`)."""


class Parts(Files):
    """Compares the files of one node by the parts that hold parameters with differing values.

    A version is then only that part of a file: good for saying that it differs, not for showing.
    """

    def __init__(self, old: Side, new: Side, params: Mapping[str, Delta]) -> None:
        super().__init__(old, new)
        self._params = params
        self._heads = frozenset(map(_head, params))
        self._parts: dict[int, _Part] = {}

    def versions(self, path: str, pairs: Mapping[str, Pair]) -> Iterator[tuple[Sequence[str], Versions]]:
        """Yield a file's part before and after; nothing where it is sure to be the same."""
        ((old, new),) = pairs.values()
        before, after = (node.entries.get(path) if node else None for node in (old, new))
        if not (old and new and before and after):
            yield from super().versions(path, pairs)
        elif self.old is self.new and _alike(before, after):
            yield tuple(pairs), (self._part(old, before), self._part(new, after))
        elif meaning_text(before) != meaning_text(after) or not self._same_template(old, new, before):
            yield tuple(pairs), (self.old.file(old, path), self.new.file(new, path))

    def _part(self, node: FleetNode, entry: FileEntry) -> RenderedFile | None:
        if id(node) not in self._parts:
            params = {name: value for name, value in node.params.items() if _head(name) in self._heads}
            self._parts[id(node)] = _Part(node, params)
        return render_file(self.old.fleet, self._parts[id(node)], entry, self.old.engine)

    def _same_template(self, old: FleetNode, new: FleetNode, entry: FileEntry) -> bool:
        """Return whether an entry's template is the same, and all that it mentions."""
        analysis = self.old.analysis(entry)
        if analysis is None or analysis.problem is not None or analysis.computed:
            return False
        assert entry.template is not None
        texts = (each.fleet.templates for each in (self.old, self.new))
        ours, theirs = (
            {name: text.get(name) for name in (entry.template.name, *analysis.includes)} for text in texts
        )
        mentioned = {name for name, _ in analysis.params}
        if ours != theirs or (self._params if analysis.everything else mentioned & self._params.keys()):
            return False
        before, after = make_context(old), make_context(new)
        return all(_json(before[name]) == _json(after[name]) for name in analysis.names)


class _Part(FleetNode):
    """A node of which only some parameters are looked at."""

    def __init__(self, node: FleetNode, params: Mapping[str, Any]) -> None:
        super().__init__(node.name, node.node_class, node.definition)
        self._params = params

    @property
    def params(self) -> Mapping[str, Any]:
        return self._params


def _alike(before: FileEntry, after: FileEntry) -> bool:
    """Return whether two entries take the same parameters into the same format."""
    same = (before.format, before.contents, before.params, before.tags)
    return before.format in _APART and same == (after.format, after.contents, after.params, after.tags)


def _head(name: str) -> str:
    return name.partition(".")[0].lower()


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)
