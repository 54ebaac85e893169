"""The one compiled value: every node's configuration, made from one tree, never changed."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property
from typing import Any

from gitcfg.compile.classes import NodeClass, removed
from gitcfg.compile.declarations import Declarations, implied_kinds
from gitcfg.compile.instances import marked
from gitcfg.compile.layers import NOWHERE, Layers
from gitcfg.compile.nodes import Roster, Said, said
from gitcfg.compile.partial import Partial
from gitcfg.compile.selection import NodeView, Selection
from gitcfg.compile.trail import TrailStep, trail
from gitcfg.git.tree import Tree
from gitcfg.load.repository import load
from gitcfg.model import Binding, Feature, FileEntry, Group, Model, Node, Origin, Override, Use

MAX_TEXT = 4 << 20


class FleetNode:
    """One node of a fleet."""

    def __init__(self, name: str, kind: NodeClass, said: Said) -> None:
        self.name = name
        self.kind = kind
        self.said = said

    @property
    def params(self) -> Mapping[str, Any]:
        """Final values by parameter, in order of name; a bare parameter is None."""
        return self.kind.params

    @property
    def features(self) -> tuple[str, ...]:
        """The feature set, in order of name."""
        return tuple(sorted(self.kind.features))

    @property
    def groups(self) -> tuple[str, ...]:
        """Explicit groups, highest first."""
        return self.kind.groups

    @property
    def entries(self) -> Mapping[str, FileEntry]:
        """The file entries that apply, by path."""
        return self.kind.files

    def trail(self, param: str) -> tuple[TrailStep, ...]:
        """The steps that bind a parameter, lowest first."""
        return trail(self.kind.stack.steps(param), self.kind.facts(param))


class Fleet:
    """Every node's configuration, compiled lazily: a node, a class, or all of them.

    `today` is used for what has an end, never read from a clock.
    """

    def __init__(self, model: Model, tree: Tree, today: date) -> None:
        self.model = model
        self.tree = tree
        self.today = today
        self.commit = tree.commit
        self.declarations = Declarations(model.parameters, implied_kinds(_bindings(model)))
        self.layers = Layers(model, self.declarations)
        self.roster = Roster(model)
        self._classes: dict[Any, NodeClass] = {}
        self._bases: dict[Any, Partial] = {}

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every node, in order of name."""
        return self.roster.names()

    def __contains__(self, name: str) -> bool:
        return name in self.roster

    def __getitem__(self, name: str) -> FleetNode:
        if name not in self.roster:
            raise KeyError(name)
        said = self.roster.said(name)
        return FleetNode(name, self._class(name, said), said)

    @cached_property
    def classes(self) -> tuple[NodeClass, ...]:
        """All classes, each with its nodes in order of name."""
        found: dict[int, NodeClass] = {}
        for name in self.names:
            kind = self._class(name, self.roster.said(name))
            kind.names.append(name)
            found.setdefault(id(kind), kind)
        return tuple(found.values())

    def compile_all(self) -> None:
        """Compile everything that may be had, even what no node has: checks look at all of it.

        Features that speak of their instance are left to the instances.
        """
        for name, feature in self.model.features.items():
            if not marked(feature):
                self.layers.feature(Use(name, feature.origin))
        for name in self.model.groups:
            self.layers.group(name)
        _ = self.classes

    @cached_property
    def judged(self) -> tuple[NodeClass, ...]:
        """The classes that checks of nodes look at: with no nodes at all, the default group alone.

        Nodes whose definitions could not be understood are left out: what they lack is not known.
        """
        if not self.names:
            return (self._compile(said(None, None), ()),)
        return tuple(kind for kind in self.classes if not self._misread(kind))

    def _misread(self, kind: NodeClass) -> bool:
        unread = self.model.unread.get
        own, nodeset = kind.said.own, kind.said.nodeset
        groups = {self.model.settings.default_group, *kind.groups}
        return bool(
            groups & unread("groups", NOWHERE)
            or self.unfiltered(kind) & unread("features", NOWHERE)
            or (own is not None and own.name in unread("nodes", NOWHERE))
            or (nodeset is not None and nodeset.name in unread("nodesets", NOWHERE))
            or any(override.name in unread("overrides", NOWHERE) for override in kind.overrides)
        )

    @cached_property
    def templates(self) -> Mapping[str, str]:
        """The texts of templates/ by name; one that is no text is empty, and its own finding."""
        return {name: self._text(f"templates/{name}") or "" for name in sorted(self.model.templates)}

    @cached_property
    def sources(self) -> Mapping[str, str | None]:
        """The texts of files/ by name; None: one that is no text, or too large."""
        return {name: self._text(f"files/{name}") for name in sorted(self.model.sources)}

    def _text(self, path: str) -> str | None:
        entry = self.tree.entry(path)
        if entry is None or entry.size > MAX_TEXT:
            return None
        try:
            return self.tree.read(entry).decode("utf-8")
        except UnicodeDecodeError:
            return None

    def _default(self, without: frozenset[str]) -> Partial:
        name = self.model.settings.default_group
        return self.layers.group(name, without) or Partial(f"group {name}")

    def _class(self, name: str, said: Said) -> NodeClass:
        overrides = self._overrides(name, said)
        key = _class_key(said, overrides)
        if key not in self._classes:
            self._classes[key] = self._compile(said, overrides)
        return self._classes[key]

    def _overrides(self, name: str, said: Said) -> tuple[Override, ...]:
        listed = self.roster.listed.get(name, ())
        chosen = [o for o in self.roster.selecting if name in self.selections[o.name].names]
        return tuple(sorted((*listed, *chosen), key=lambda override: override.name)) if chosen else listed

    @cached_property
    def selections(self) -> Mapping[str, Selection]:
        """The nodes of the overrides that select by `where`. Conditions see no overrides."""
        return {
            override.name: Selection(override.where.name, self._views)
            for override in self.roster.selecting
            if override.where is not None
        }

    def _views(self) -> list[NodeView]:
        return [self._view(name) for name in self.names]

    def _view(self, name: str) -> NodeView:
        said = self.roster.said(name)
        return NodeView(name, said, lambda: self._below_overrides(said).features)

    def select(self, where: str) -> Selection:
        """The nodes for which a condition holds, with all that they have."""

        def view(name: str) -> NodeView:
            node = self[name]
            return NodeView(name, node.said, lambda: node.features, lambda: node.params)

        return Selection(where, lambda: [view(name) for name in self.names], params=True)

    def _below_overrides(self, said: Said) -> Partial:
        """All layers of a node but those of overrides, less what its own `without` takes."""
        without = removed(said, ())
        return Partial(None, (self._base(said, without), *self._identity(said, without)))

    def _compile(self, said: Said, overrides: tuple[Override, ...]) -> NodeClass:
        without = removed(said, overrides)
        if said.retired:
            return NodeClass(said, overrides, self.layers, Partial(None), Partial(None))
        base = self._base(said, without)
        layers = (*self._identity(said, without), *(self._override(o, without) for o in overrides))
        stack = Partial(None, (base, *layers)) if layers else base
        return NodeClass(said, overrides, self.layers, base, stack)

    def _base(self, said: Said, without: frozenset[str]) -> Partial:
        """The default group and the explicit ones, composed once for each list of groups."""
        groups = tuple(ref.name for ref in reversed(said.groups) if ref.name in self.model.groups)
        key = (groups, without)
        if key not in self._bases:
            found = (self.layers.group(name, without) for name in groups)
            explicit = (part for part in found if part is not None)
            self._bases[key] = Partial(None, (self._default(without), *explicit))
        return self._bases[key]

    def _identity(self, said: Said, without: frozenset[str]) -> Iterator[Partial]:
        """The layers of a node alone, lowest first."""
        for use, label in reversed(said.features):
            part = self.layers.feature(use, without)
            if part is not None:
                yield Partial(label, (part,))
        nodeset = said.nodeset
        if nodeset is not None and (nodeset.definition.params or nodeset.definition.files):
            yield self._own(f"node set {nodeset.name}", nodeset.definition)
        if said.own is not None and (said.own.params or said.own.files):
            yield self._own(f"node {said.own.name}", said.own)

    def _override(self, override: Override, without: frozenset[str]) -> Partial:
        parts = self.layers.uses(override.features, without)
        return Partial(f"override {override.name}", parts, self.layers.steps(override.params), override.files)

    def _own(self, label: str, definition: Node) -> Partial:
        return Partial(label, (), self.layers.steps(definition.params), definition.files)

    def files_of(self, name: str) -> frozenset[str]:
        """The files of the repository that a node is made from."""
        model, kind = self.model, self[name].kind
        definitions: list[Any] = [model.settings, *kind.overrides]
        definitions += [model.features[feature] for feature in self.unfiltered(kind)]
        groups = (model.settings.default_group, *kind.groups)
        definitions += [model.groups[group] for group in groups if group in model.groups]
        definitions += [said for said in (kind.said.own, kind.said.nodeset) if said is not None]
        definitions += [found for found in map(self.declarations.find, kind.params) if found is not None]
        templates = {f"templates/{entry.template.name}" for entry in kind.files.values() if entry.template}
        return frozenset({definition.origin.file for definition in definitions} | templates)

    def withheld(self, name: str, param: str) -> list[tuple[str, Origin]]:
        """Features that would bind a parameter on a node, and where `without` takes them away."""
        kind = self[name].kind
        refs = [*kind.said.without, *(ref for override in kind.overrides for ref in override.without)]
        had = self.unfiltered(kind) if refs else NOWHERE
        features = self.model.features
        return [
            (ref.name, ref.origin) for ref in refs if ref.name in had and param in features[ref.name].params
        ]

    def changes(self, override: Override, kind: NodeClass) -> bool:
        """Would the nodes of a class be any different without this override?"""
        rest = tuple(other for other in kind.overrides if other.name != override.name)
        bare = self._compile(kind.said, rest)
        return (bare.params, bare.features, bare.files) != (kind.params, kind.features, kind.files)

    def unfiltered(self, kind: NodeClass) -> frozenset[str]:
        """What a class's feature set were if no `without` took anything away."""
        model = self.model
        names = {use.feature for use, _ in kind.said.features}
        default = model.groups.get(model.settings.default_group)
        for group in (default, *(model.groups[name] for name in kind.groups)):
            names |= {use.feature for use in group.features} if group else set()
        for override in kind.overrides:
            names |= {use.feature for use in override.features}
        return self.layers.expanded(names)


def _class_key(said: Said, overrides: tuple[Override, ...]) -> Any:
    """Equal for nodes that differ in nothing but name, labels and address."""
    nodeset, own = said.nodeset, said.own
    by_set = nodeset is not None and (
        nodeset.definition.params or nodeset.definition.files or nodeset.definition.facts
    )
    by_file = own is not None and (own.params or own.files or own.facts)
    return (
        tuple(ref.name for ref in said.groups),
        tuple((use.feature, use.instance, id(use), label) for use, label in said.features),
        tuple(ref.name for ref in said.without),
        said.retired,
        nodeset.name if nodeset is not None and by_set else None,
        own.name if own is not None and by_file else None,
        tuple(override.name for override in overrides),
    )


def _bindings(model: Model) -> Iterator[tuple[str, Binding]]:
    """Every binding of a repository with its parameter's name; instances' names are their own."""
    nodes = [*model.nodes.values(), *(nodeset.definition for nodeset in model.nodesets.values())]
    kinds: tuple[Iterable[Feature | Group | Node | Override], ...] = (
        model.features.values(),
        model.groups.values(),
        nodes,
        model.overrides.values(),
    )
    for kind in kinds:
        for definition in kind:
            yield from definition.params.items()


def compile_tree(tree: Tree, today: date) -> Fleet:
    """Load a tree and make its fleet. GitcfgError: it is no repository."""
    return Fleet(load(tree), tree, today)
