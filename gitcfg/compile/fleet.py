"""The one compiled value: every node's configuration, made from one tree, never changed."""

from collections.abc import Hashable, Iterator, Mapping
from datetime import date
from functools import cached_property
from typing import Any

import msgspec

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.declarations import Declarations, implied_kinds
from gitcfg.compile.instances import marked
from gitcfg.compile.layers import NOWHERE, Layers
from gitcfg.compile.nodes import Roster, Said, said
from gitcfg.compile.operations import NOTHING
from gitcfg.compile.selection import NodeView, Selection
from gitcfg.compile.stacks import Stacks, class_key
from gitcfg.compile.surface import Surfaces
from gitcfg.compile.trail import TrailStep, trail
from gitcfg.git.tree import Tree
from gitcfg.load.repository import load
from gitcfg.model import Binding, FileEntry, ListEdit, Model, Node, Op, Origin, Override, Use

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
        steps = trail(self.kind.steps(param), self.kind.facts(param))
        acting = [index for index, step in enumerate(steps) if not step.overridden]
        value = self.kind.some((param,)).get(param, NOTHING)
        if not acting or value is NOTHING:
            return steps
        # Equal items of a unique list go at the very end, so the last step's result is the value.
        last = msgspec.structs.replace(steps[acting[-1]], result=value)
        return (*steps[: acting[-1]], last, *steps[acting[-1] + 1 :])

    def deciding(self, param: str) -> TrailStep | None:
        """The topmost step that counts: there one would change the value."""
        return next((step for step in reversed(self.trail(param)) if not step.overridden), None)


class Fleet:
    """Every node's configuration, compiled lazily: a node, a class, or all of them.

    `today` is used for what has an end, never read from a clock.
    """

    def __init__(
        self, model: Model, tree: Tree, today: date, implied: Mapping[str, str] | None = None
    ) -> None:
        """`implied`: the types that operations imply, where the model does not hold all of them."""
        self.model = model
        self.tree = tree
        self.today = today
        self.commit = tree.commit
        implied = implied_kinds(self.bindings) if implied is None else implied
        self.declarations = Declarations(model.parameters, implied)
        self.layers = Layers(model, self.declarations)
        self.stacks = Stacks(model, self.layers)
        self.roster = Roster(model)
        self._classes: dict[Hashable, NodeClass] = {}

    @cached_property
    def bindings(self) -> tuple[tuple[str, Binding], ...]:
        """Every binding as written, with its parameter's name: it is gone through many times."""
        return tuple(self.model.bindings())

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
        for names in self._alike():
            kind = self._class(names[0], self.roster.said(names[0]))
            kind.names += names
            found.setdefault(id(kind), kind)
        for kind in found.values():
            kind.names.sort()
        return tuple(sorted(found.values(), key=lambda kind: kind.names[0]))

    @cached_property
    def kinds(self) -> Mapping[str, NodeClass]:
        """The class of every node."""
        return {name: kind for kind in self.classes for name in kind.names}

    def _alike(self) -> Iterator[list[str]]:
        """Nodes that are alike because nothing is said of them but in their set, and the others alone."""
        alone = self.model.nodes.keys() | self.roster.listed.keys()
        alone = alone.union(*(self.selections[override.name].names for override in self.roster.selecting))
        for nodeset in self.model.nodesets.values():
            members = [name for name in nodeset.members if name not in alone]
            if members:
                yield members
        yield from ([name] for name in sorted(alone) if name in self.roster)

    @cached_property
    def bound(self) -> frozenset[str]:
        """The parameters that some layer of some node speaks of."""
        layers = {id(part.cells): part.cells for kind in self.classes for part in kind.parts}
        return frozenset[str]().union(*layers.values())

    @cached_property
    def surfaces(self) -> Surfaces:
        """What shows of the layers of each class."""
        return Surfaces((*self.classes, *self.walking_in) or self.judged)

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
        kinds = (*self.classes, *self.walking_in)
        if not kinds:
            return (self.stacks.compile(said(None, None), ()),)
        return tuple(kind for kind in kinds if not self._misread(kind)) if self.model.unread else kinds

    @cached_property
    def walking_in(self) -> tuple[NodeClass, ...]:
        """The class, without nodes, of those that nobody has described; none where they get nothing."""
        groups = self.model.settings.walk_in
        if groups is None:
            return ()
        node = Node("", self.model.settings.origin, groups=ListEdit(Op.SET, groups))
        return (self.stacks.compile(said(node, None), ()),)

    def _misread(self, kind: NodeClass) -> bool:
        unread = self.model.unread.get
        groups = {self.model.settings.default_group, *kind.groups}
        return bool(
            groups & unread("groups", NOWHERE)
            or self.stacks.unfiltered(kind) & unread("features", NOWHERE)
            or self._half_said(kind.said)
            or any(override.name in unread("overrides", NOWHERE) for override in kind.overrides)
        )

    def _half_said(self, said: Said) -> bool:
        """Could what is said of a node itself not be understood?"""
        unread, own, nodeset = self.model.unread.get, said.own, said.nodeset
        return (own is not None and own.name in unread("nodes", NOWHERE)) or (
            nodeset is not None and nodeset.name in unread("nodesets", NOWHERE)
        )

    @cached_property
    def templates(self) -> Mapping[str, str]:
        """The texts of templates/ by name, of those that are text."""
        found = ((name, self._text(f"templates/{name}")) for name in sorted(self.model.templates))
        return {name: text for name, text in found if text is not None}

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

    def _class(self, name: str, said: Said) -> NodeClass:
        overrides = self._overrides(name, said)
        facts = said.facts if self.model.templates else self._asked
        key = class_key(said, overrides, facts), self._half_said(said)
        if key not in self._classes:
            self._classes[key] = self.stacks.compile(said, overrides)
        return self._classes[key]

    @cached_property
    def _asked(self) -> tuple[str, ...]:
        """The facts that bindings ask for; templates may look at any."""
        asked = {str(bound.given) for _, bound in self.bindings if bound.op is Op.FACT}
        return tuple(sorted(asked))

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
        return NodeView(name, said, lambda: self.stacks.below_overrides(said))

    def select(self, where: str) -> Selection:
        """The nodes for which a condition holds, with all that they have."""

        def view(name: str) -> NodeView:
            node = self[name]
            return NodeView(name, node.said, lambda: node.features, lambda: node.params)

        return Selection(where, lambda: [view(name) for name in self.names], params=True)

    def files_of(self, name: str) -> frozenset[str]:
        """The files of the repository that a node is made from."""
        model, kind = self.model, self[name].kind
        definitions: list[Any] = [model.settings, *kind.overrides]
        definitions += [model.features[feature] for feature in self.stacks.unfiltered(kind)]
        groups = (model.settings.default_group, *kind.groups)
        definitions += [model.groups[group] for group in groups if group in model.groups]
        definitions += [said for said in (kind.said.own, kind.said.nodeset) if said is not None]
        definitions += [found for found in map(self.declarations.find, kind.params) if found is not None]
        templates = {f"templates/{entry.template.name}" for entry in kind.files.values() if entry.template}
        return frozenset({definition.origin.file for definition in definitions} | templates)

    def withheld(self, name: str, param: str) -> list[tuple[str, Origin]]:
        """Features that would bind a parameter on a node, and where `without` takes them away."""
        kind = self[name].kind
        had = self.stacks.unfiltered(kind) if kind.without else NOWHERE
        return [
            (ref.name, ref.origin)
            for ref in kind.without
            if ref.name in had and self._brings(ref.name, param, kind)
        ]

    def _brings(self, feature: str, param: str, kind: NodeClass) -> bool:
        """Would a feature, or what only it includes, bind a parameter?"""
        gone = self.layers.expanded([feature]) - kind.features
        return any(param in self.model.features[name].params for name in gone)

    def changes(self, override: Override, kind: NodeClass) -> bool:
        """Would the nodes of a class be any different without this override?"""
        rest = tuple(other for other in kind.overrides if other.name != override.name)
        bare = self.stacks.compile(kind.said, rest)
        return (bare.params, bare.features, bare.files) != (kind.params, kind.features, kind.files)


def compile_tree(tree: Tree, today: date) -> Fleet:
    """Load a tree and make its fleet. GitcfgError: it is no repository."""
    return Fleet(load(tree), tree, today)
