"""The definitions of a node or a layer, followed from commit to commit."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import is_
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
    has_same_objects,
    kinds,
    meaning_text,
    parameters,
    ruling,
    secrets,
)
from gitcfg.history.fleet import Conditions, WholeFleet, WholeFleets, rule_engine
from gitcfg.history.layers import ReusedLayers, ReusedStacks
from gitcfg.history.snapshot import Documents, Key, Snapshot, everything, settings_of, within
from gitcfg.model import Feature, FileEntry, Group, Model, NodeSet, Origin, Override, Settings, Use
from gitcfg.render.files import RenderedFile, make_context, render_file

Define = Callable[[str, str], Any]
"""Returns a definition by its kind's folder and its name; None: there is none."""


class Roots(msgspec.Struct, frozen=True):
    """The start of a scope.

    `definitions` are those other than features and groups, with None for a missing one; `looked_up` are the
    names that were looked up to find them, and `kinds` the folders of which any file may matter. `ruling` has
    the rules that may affect it.
    """

    groups: tuple[str, ...] = ()
    uses: tuple[Use, ...] = ()
    definitions: tuple[Any, ...] = ()
    looked_up: frozenset[Key] = frozenset()
    kinds: frozenset[str] = frozenset()
    ruling: Ruling = NOTHING


FindRoots = Callable[[Define, Snapshot, Settings, Ruling], Roots]
"""Returns the start of a scope in a snapshot."""


class Scope(msgspec.Struct, frozen=True):
    """Roots with the features and groups that they lead to.

    `looked_up` are all names that were looked up; `binds` are the parameters that any of them binds.
    """

    roots: Roots
    groups: Mapping[str, Group]
    features: Mapping[str, Feature]
    looked_up: frozenset[Key]
    binds: frozenset[str]

    def may_differ(self, keys: Iterable[Key]) -> bool:
        """Return whether the scope may differ if these keys do."""
        return any(key in self.looked_up or key[0] in self.roots.kinds for key in keys)

    def has_same_layers(self, other: "Scope") -> bool:
        """Return whether the features, groups and rules are the same objects."""
        same_rules = self.roots.ruling is other.roots.ruling
        same_groups = same_rules and has_same_objects(self.groups, other.groups)
        return same_groups and has_same_objects(self.features, other.features)

    def has_same_definitions(self, other: "Scope") -> bool:
        """Return whether the other definitions are the same objects."""
        mine, theirs = self.roots.definitions, other.roots.definitions
        return len(mine) == len(theirs) and all(map(is_, mine, theirs))


def find_scope(define: Define, roots: Roots) -> Scope:
    """Return all definitions that roots lead to."""
    groups = {name: found for name in roots.groups if (found := define("groups", name)) is not None}
    uses = [*roots.uses, *(use for group in groups.values() for use in group.features)]
    features: dict[str, Feature] = {}
    names = set[str]()
    while uses:
        name = uses.pop().feature
        if name not in names:
            names.add(name)
            found = define("features", name)
            if found is not None:
                features[name] = found
                uses += found.include
    keys = {*(("groups", name) for name in roots.groups), *(("features", name) for name in names)}
    return _scope(roots, groups, features, roots.looked_up | keys)


def update_scope(older: Scope, define: Define, keys: Iterable[Key]) -> Scope | None:
    """Return the scope of a neighbour that differs in `keys`; None: it leads to other names."""
    groups, features = dict(older.groups), dict(older.features)
    for key in keys:
        if key[0] in older.roots.kinds or key in older.roots.looked_up:
            return None
        if key not in older.looked_up:
            continue
        layers: dict[str, Any] = groups if key[0] == "groups" else features
        before, after = layers.get(key[1]), define(*key)
        if before is None or after is None or _mentioned(before) != _mentioned(after):
            return None
        layers[key[1]] = after
    return _scope(older.roots, groups, features, older.looked_up)


def _mentioned(layer: Feature | Group) -> list[str]:
    return [use.feature for use in (layer.include if isinstance(layer, Feature) else layer.features)]


def _scope(
    roots: Roots, groups: Mapping[str, Group], features: Mapping[str, Feature], looked_up: frozenset[Key]
) -> Scope:
    layers = (*groups.values(), *features.values(), *roots.definitions)
    binds = (getattr(layer, "definition", layer).params for layer in layers if layer is not None)
    return Scope(roots, groups, features, looked_up, roots.ruling.binds.union(*binds))


# The layers of one node or one definition, followed from commit to commit.


class Composition(msgspec.Struct, frozen=True):
    """The layers at one commit; the same as those of the neighbour while their definitions are unchanged."""

    snapshot: Snapshot
    settings: Settings
    scope: Scope
    ruling: Ruling
    declarations: Declarations
    implied: Counts
    layers: ReusedLayers
    stacks: ReusedStacks


class Composer:
    """Composes the layers of a scope; unchanged ones are reused from a neighbour."""

    def __init__(self, documents: Documents, implied: Implied, find_roots: FindRoots) -> None:
        self._documents = documents
        self._implied = implied
        self._find_roots = find_roots

    def compose(
        self, older: Composition | None, snapshot: Snapshot, keys: frozenset[Key]
    ) -> Composition | None:
        """Return the layers of a neighbour that differs in `keys`. None: there is no repository."""
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
        return Composition(snapshot, settings, found, ruled, declared, implied, layers, stacks)

    def _scope(
        self,
        older: Composition | None,
        snapshot: Snapshot,
        settings: Settings,
        keys: frozenset[Key],
        ruled: Ruling,
    ) -> Scope:
        def define(kind: str, name: str) -> Any:
            place = snapshot.place(kind, name)
            return self._documents.definition(*place, settings) if place else None

        if older is not None and not older.scope.may_differ(keys):
            return older.scope
        found = update_scope(older.scope, define, keys) if older else None
        return found or find_scope(define, self._find_roots(define, snapshot, settings, ruled))

    def _declarations(
        self, older: Composition | None, snapshot: Snapshot, implied: Counts, ruled: Ruling
    ) -> Declarations:
        documents, files, sealed = self._documents, snapshot.others["parameters"], snapshot.others["secrets"]
        if older is None:
            declared = parameters(documents, files)
            return declarations(None, declared, kinds(implied, ruled), secrets(documents, sealed))
        before, others = older.declarations, older.snapshot.others
        same_files, same_secrets = files is others["parameters"], sealed is others["secrets"]
        if same_files and same_secrets and implied is older.implied and ruled is older.ruling:
            return before
        known = before.parameters if same_files else parameters(documents, files)
        known_secrets = before.secrets if same_secrets else secrets(documents, sealed)
        return declarations(before, known, kinds(implied, ruled), known_secrets)


def _stacks(
    older: Composition | None, settings: Settings, found: Scope, declared: Declarations
) -> tuple[ReusedLayers, ReusedStacks]:
    """Return the older layers if nothing in them differs, else new ones that reuse unchanged parts."""
    if older is not None:
        if found is older.scope and declared is older.declarations:
            return older.layers, older.stacks
        same = alike(older.layers.declarations, declared)
        if found.has_same_layers(older.scope) and all(map(same, found.binds)):
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


# The roots of nodes, features and groups: where the search for their definitions starts.

ALONE = Origin("")
"""The place of a feature that is examined by itself."""
_MOST = 512


class NodeRoots:
    """The roots of a node: its file, its set, overrides that list or may select it, and all rules."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._members: dict[int, tuple[NodeSet | Override, frozenset[str]]] = {}

    def __call__(self, define: Define, snapshot: Snapshot, settings: Settings, ruling: Ruling) -> Roots:
        own = define("nodes", self.name)
        nodeset = self._node_set(define, snapshot, settings)
        found = (define("overrides", name) for name in sorted(snapshot.definitions["overrides"]))
        overrides = tuple(each for each in found if each and (each.where or self._is_listed(each)))
        looked_up = frozenset({("nodes", self.name)})
        kinds = frozenset({"nodesets", "overrides", "rules", "allocations"})
        if own is None and nodeset is None:
            return Roots(definitions=(None, None), looked_up=looked_up, kinds=kinds)
        about = define_node(own, nodeset, self.name)
        groups = (settings.default_group, *(ref.name for ref in about.groups))
        uses = [use for use, _ in about.features]
        uses += [use for override in overrides for use in override.features]
        uses += ruling.uses
        return Roots(groups, tuple(uses), (own, nodeset, *overrides), looked_up, kinds, ruling)

    def _node_set(self, define: Define, snapshot: Snapshot, settings: Settings) -> NodeSet | None:
        """Return the first set, in order of path, with the node in any case; None if its case differs."""
        places = snapshot.definitions["nodesets"]
        found = {name: define("nodesets", name) for name in sorted(places, key=lambda name: places[name])}
        sets = {name: nodeset for name, nodeset in found.items() if nodeset is not None}
        for name, nodeset in within(settings.max_nodes, sets).items():
            if nodeset.members and self.name.casefold() in self._folded(sets[name]):
                return nodeset if self.name in nodeset.members else None
        return None

    def _is_listed(self, override: Override) -> bool:
        return self.name.casefold() in self._folded(override) and self.name in (override.members or ())

    def _folded(self, definition: NodeSet | Override) -> frozenset[str]:
        """Return the members in lower case; cached by the definition, which rarely changes."""
        if len(self._members) > _MOST:
            self._members.clear()
        if id(definition) not in self._members:
            folded = frozenset(name.casefold() for name in definition.members or ())
            self._members[id(definition)] = (definition, folded)
        return self._members[id(definition)][1]


def feature_roots(name: str) -> FindRoots:
    """Return the roots of a feature: only itself."""
    return lambda define, snapshot, settings, ruling: Roots(uses=(Use(name, ALONE),))


def group_roots(name: str) -> FindRoots:
    """Return the roots of a group: its features."""
    return lambda define, snapshot, settings, ruling: Roots(groups=(name,))


# One node, compiled again only if any of its definitions differs.


class NodeState(msgspec.Struct, frozen=True):
    """A node at one commit, None if there is none.

    `alone` is the node without what it collects; `whole` is the fleet that provides that, if it collects.
    """

    snapshot: Snapshot
    composition: Composition | None = None
    alone: FleetNode | None = None
    whole: WholeFleet | None = None
    node: FleetNode | None = None


class NodeHistory:
    """A node by its name, followed from commit to commit.

    It is compiled alone; if it collects values, it is compiled in a whole fleet. `outline` reduces
    definitions to what matters, if not all does.
    """

    def __init__(self, name: str, content: Callable[[bytes], bytes], outline: Outline | None = None) -> None:
        documents = Documents(content)
        outlined = documents.outlined(outline.of) if outline else documents
        self._composer = Composer(outlined, Implied(outlined, content), NodeRoots(name))
        self._fleets = WholeFleets(documents)
        self._name = name
        self._conditions = Conditions()

    def follow(self, older: NodeState | None, snapshot: Snapshot, keys: frozenset[Key]) -> NodeState:
        """Return the node at a neighbour that differs in `keys`."""
        before = older.composition if older else None
        now = self._composer.compose(before, snapshot, keys)
        if now is None:
            return NodeState(snapshot)
        same_stacks = before is not None and now.stacks is before.stacks
        if older and before and same_stacks and now.scope.has_same_definitions(before.scope):
            alone, collects = older.alone, older.whole is not None
        else:
            alone = self._compile(now)
            collects = alone is not None and bool(alone.node_class.collected)
        if not collects:
            return NodeState(snapshot, now, alone, None, alone)
        whole = self._fleets.follow(older.whole if older else None, snapshot, keys)
        if older and whole is older.whole:
            return NodeState(snapshot, now, alone, whole, older.node)
        return NodeState(snapshot, now, alone, whole, whole.node(self._name) if whole else None)

    def _compile(self, composition: Composition) -> FleetNode | None:
        own, nodeset, *overrides = composition.scope.roots.definitions
        if own is None and nodeset is None:
            return None
        about = define_node(own, nodeset, self._name)
        listed = [override for override in overrides if not override.where]
        selecting = [override for override in overrides if override.where]
        stacks = composition.stacks
        node_class = self._conditions.compile(
            self._name, about, listed, selecting, stacks, rule_engine(stacks)
        )
        return FleetNode(self._name, node_class, about)


# Which files of one node differ, found by rendering only the parts that can differ.

_SEPARATE = frozenset({"condor", "env", "ini", "json", "toml", "yaml"})
"""Formats that write each parameter separately, except names that begin the same (`a`, `A`, `a.b`)."""


class FileParts(Files):
    """Compares the files of one node by the parts that contain parameters with differing values.

    A version is then only that part of a file: enough to know that it differs, but not to show it.
    """

    def __init__(self, old: Side, new: Side, params: Mapping[str, Delta]) -> None:
        super().__init__(old, new)
        self._params = params
        self._heads = frozenset(map(_head, params))
        self._parts: dict[int, _Part] = {}

    def versions(self, path: str, pairs: Mapping[str, Pair]) -> Iterator[tuple[Sequence[str], Versions]]:
        """Yield a file's part before and after; nothing if it is certainly the same."""
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
        encode = msgspec.json.encode
        return all(encode(before[name]) == encode(after[name]) for name in analysis.names)


class _Part(FleetNode):
    """A node with only some of its parameters."""

    def __init__(self, node: FleetNode, params: Mapping[str, Any]) -> None:
        super().__init__(node.name, node.node_class, node.definition)
        self._params = params

    @property
    def params(self) -> Mapping[str, Any]:
        return self._params


def _alike(before: FileEntry, after: FileEntry) -> bool:
    """Return whether two entries write the same parameters in the same format."""
    same = (before.format, before.contents, before.params, before.tags)
    return before.format in _SEPARATE and same == (after.format, after.contents, after.params, after.tags)


def _head(name: str) -> str:
    return name.partition(".")[0].lower()
