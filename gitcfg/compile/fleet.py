"""The compiled fleet: every node's configuration, made from one tree; and single nodes."""

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

import gitcfg.progress as progress
from gitcfg.compile.declarations import COMPOSING, Bindings, Declarations, implied_kinds
from gitcfg.compile.instances import has_marks
from gitcfg.compile.layers import Layers
from gitcfg.compile.node_class import NodeClass, Stacks, class_key, facts_key, is_half_read, is_misread
from gitcfg.compile.nodes import NO_EFFECTS, NodeDefinition, Roster, RuleEffects, RuleInstall, define_node
from gitcfg.compile.operations import NOTHING, TrailStep
from gitcfg.compile.selection import NodeView, Selection, Stopped, select_nodes
from gitcfg.compile.surface import Surfaces
from gitcfg.git.tree import Tree
from gitcfg.load.repository import load
from gitcfg.model import FileEntry, ListEdit, Model, Node, Op, Override, Ref, Use

if TYPE_CHECKING:
    from gitcfg.compile.rules.collect import Collecting
    from gitcfg.compile.rules.placement import RuleEngine


class FleetNode:
    """One node of a fleet."""

    def __init__(self, name: str, node_class: NodeClass, definition: NodeDefinition) -> None:
        self.name = name
        self.node_class = node_class
        self.definition = definition

    @property
    def params(self) -> Mapping[str, Any]:
        """Final values by parameter, in order of name; a bare parameter is None."""
        return self.node_class.params

    @property
    def secrets(self) -> Mapping[str, str]:
        """The parameters whose values are secrets, in order of name, with the secrets' names."""
        return self.node_class.secrets

    @property
    def features(self) -> tuple[str, ...]:
        """The feature set, in order of name."""
        return tuple(sorted(self.node_class.features))

    @property
    def groups(self) -> tuple[str, ...]:
        """Explicit groups, highest first."""
        return self.node_class.groups

    @property
    def entries(self) -> Mapping[str, FileEntry]:
        """The file entries that apply, by path."""
        return self.node_class.files

    def trail(self, param: str) -> tuple[TrailStep, ...]:
        """Return the steps that bind a parameter, lowest first."""
        steps = self.node_class.trail(param)
        acting = [index for index, step in enumerate(steps) if not step.overridden]
        value = self.node_class.some((param,)).get(param, NOTHING)
        if not acting or value is NOTHING:
            return steps
        # Duplicates of a unique list are removed at the very end, so the last result must be replaced by the
        # value.
        last = msgspec.structs.replace(steps[acting[-1]], result=value)
        return (*steps[: acting[-1]], last, *steps[acting[-1] + 1 :])

    def deciding(self, param: str) -> TrailStep | None:
        """Return the highest step that counts: the place to change the value."""
        return next((step for step in reversed(self.trail(param)) if not step.overridden), None)


# Files of a repository that are used as they are: templates, and the files for nodes.

_MOST = 4 << 20


def read_texts(tree: Tree, folder: str, names: Iterable[str]) -> dict[str, str | None]:
    """Return the texts of files in a folder, in order of name; None: not UTF-8 text, or larger than 4 MiB."""
    return {name: _text(tree, f"{folder}/{name}") for name in sorted(names)}


def _text(tree: Tree, path: str) -> str | None:
    entry = tree.entry(path)
    if entry is None or entry.size > _MOST:
        return None
    try:
        return tree.read(entry).decode("utf-8")
    except UnicodeDecodeError:
        return None


_OPENER, _CLOSER = re.compile(r"\{[{%]"), re.compile(r"[%}]\}")
_NODE = re.compile(
    r"\bnode\b(?:\s*\.\s*(?P<part>\w+)"
    r"(?:\s*\.\s*(?!get\b)(?P<fact>\w+)|\s*(?:\.\s*get\s*\(|\[)\s*(?P<quote>[\"'])(?P<key>[\w.-]+)(?P=quote))?)?"
)
_PARTS = frozenset({"name", "groups", "features", "labels", "address"})


def find_facts_in_template(text: str) -> frozenset[str] | None:
    """Return the facts that a template names (`node.facts.KEY`); None: it may read any.

    The text is searched, since only a sandbox may parse it. A superfluous fact does no harm.
    """
    facts = set[str]()
    for piece in _OPENER.split(text)[1:]:
        ends = [closer.end() for closer in _CLOSER.finditer(piece)]
        for found in _NODE.finditer(piece, 0, ends[-1] if ends else len(piece)):
            if found["part"] in _PARTS:
                continue
            fact = found["fact"] or found["key"]
            if found["part"] != "facts" or fact is None or (found["fact"] and hasattr(dict, fact)):
                return None
            facts.add(fact)
    return frozenset(facts)


# The fleet: every node's configuration, made from one tree, immutable.


class Fleet:
    """Every node's configuration, compiled lazily: a node, a class, or all of them.

    `today` is used for what has an end date; no clock is read.
    """

    def __init__(
        self,
        model: Model,
        tree: Tree,
        today: date,
        implied: Mapping[str, str] | None = None,
        beside: Callable[[], "Fleet"] | None = None,
    ) -> None:
        """`implied`: the types that operations imply, if the model has only some of the definitions.

        `beside`: the fleet from whose nodes values are collected, if not from this one's.
        """
        self.model = model
        self.tree = tree
        self.today = today
        self.commit = tree.commit
        implied = implied_kinds(self.bindings.of(*COMPOSING)) if implied is None else implied
        self.declarations = Declarations(model.parameters, implied, model.secrets)
        self.roster = Roster(model)
        self.collecting = self._collecting(beside)
        self.layers = Layers(model, self.declarations, collector=self.collecting)
        self.stacks = Stacks(model, self.layers)
        self._classes: dict[Hashable, NodeClass] = {}

    @cached_property
    def bindings(self) -> Bindings:
        """Every binding of the model."""
        return Bindings(self.model.bindings())

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Every node, in order of name."""
        return self.roster.names()

    def __contains__(self, name: str) -> bool:
        return name in self.roster

    def __getitem__(self, name: str) -> FleetNode:
        if name not in self.roster:
            raise KeyError(name)
        definition = self.roster.definition(name)
        return FleetNode(name, self._class(name, definition), definition)

    @cached_property
    def classes(self) -> tuple[NodeClass, ...]:
        """All classes, each with its nodes in order of name."""
        found: dict[int, NodeClass] = {}
        for names in self._alike() if self.rule_engine is None else self._ruled():
            node_class = self._class(names[0], self.roster.definition(names[0]))
            node_class.names += names
            found.setdefault(id(node_class), node_class)
        for node_class in found.values():
            node_class.names.sort()
        return tuple(sorted(found.values(), key=lambda node_class: node_class.names[0]))

    @cached_property
    def node_classes(self) -> Mapping[str, NodeClass]:
        """The class of every node."""
        return {name: node_class for node_class in self.classes for name in node_class.names}

    def _alike(self) -> Iterator[list[str]]:
        """Yield groups of nodes that are alike because only their set defines them, and other nodes alone."""
        alone = self.model.nodes.keys() | self.roster.listed.keys()
        alone = alone.union(*(self.selections[override.name].names for override in self.roster.selecting))
        for nodeset in self.model.nodesets.values():
            members = [name for name in nodeset.members if name not in alone]
            if members:
                yield from self._alike_by_facts(members) if nodeset.facts else (members,)
        yield from ([name] for name in sorted(alone) if name in self.roster)

    def _alike_by_facts(self, members: Iterable[str]) -> Iterable[list[str]]:
        """Return members of a set, grouped by those of their facts that something reads."""
        found: dict[Hashable, list[str]] = {}
        for name in members:
            key = facts_key(self.roster.definition(name), self._facts_read)
            found.setdefault(key, []).append(name)
        return found.values()

    @cached_property
    def bound(self) -> frozenset[str]:
        """The parameters in any layer of any node."""
        layers = {id(part.cells): part.cells for node_class in self.classes for part in node_class.parts}
        return frozenset[str]().union(*layers.values())

    @cached_property
    def surfaces(self) -> Surfaces:
        """The surfaces of the layers of each class."""
        return Surfaces((*self.classes, *self.walking_in) or self.judged)

    def compile_layers(self) -> None:
        """Compile all layers, even those that no node has, since checks look at all of them.

        Features that refer to their instance are compiled only as instances.
        """
        for name, feature in self.model.features.items():
            self.layers.judge_places(name)
            if not has_marks(feature):
                self.layers.feature(Use(name, feature.origin))
        for name in self.model.groups:
            self.layers.group(name)

    @cached_property
    def judged(self) -> tuple[NodeClass, ...]:
        """The classes for the checks of nodes; a fleet without nodes has the default group alone.

        Nodes whose definitions could not be understood are left out, since it is not known what they lack.
        """
        kinds = (*self.classes, *self.walking_in)
        if not kinds:
            return (self.stacks.compile(define_node(None, None), ()),)
        return (
            tuple(node_class for node_class in kinds if not is_misread(self.stacks, node_class))
            if self.model.unread
            else kinds
        )

    @cached_property
    def walking_in(self) -> tuple[NodeClass, ...]:
        """The class of walk-in nodes, without names; none if such nodes get nothing."""
        groups = self.model.settings.walk_in
        if groups is None:
            return ()
        node = Node("", self.model.settings.origin, groups=ListEdit(Op.SET, groups))
        about = define_node(node, None)
        return (self.stacks.compile(about, (), self.effects(node.name, about, ())),)

    @cached_property
    def templates(self) -> Mapping[str, str]:
        """The texts of templates/ by name, without files that are not text."""
        found = read_texts(self.tree, "templates", self.model.templates)
        return {name: text for name, text in found.items() if text is not None}

    @cached_property
    def sources(self) -> Mapping[str, str | None]:
        """The texts of files/ by name; None: the file is not text, or is too large."""
        return read_texts(self.tree, "files", self.model.sources)

    def _class(self, name: str, definition: NodeDefinition) -> NodeClass:
        progress.note("compiling the node", name, len(self.names))
        overrides = self._overrides(name, definition)
        effects = self.effects(name, definition, overrides)
        same = () if effects is NO_EFFECTS else effects.key
        key = class_key(definition, overrides, self._facts_read), is_half_read(self.model, definition), same
        if key not in self._classes:
            self._classes[key] = self.stacks.compile(definition, overrides, effects)
        return self._classes[key]

    @cached_property
    def rule_engine(self) -> "RuleEngine | None":
        """The engine that finds the effects of rules on nodes; None if there are no rules."""
        if not self.model.rules:
            return None
        from gitcfg.compile.rules.placement import RuleEngine

        return RuleEngine(self.layers)

    def _collecting(self, beside: Callable[[], "Fleet"] | None) -> "Collecting | None":
        """Return what finds the values that nodes collect; None if nothing is collected."""
        if not any(self.bindings.of(Op.COLLECT)):
            return None
        if beside is not None:
            return beside().collecting
        from gitcfg.compile.rules.collect import Collecting

        return Collecting(self.bindings.of(Op.COLLECT), lambda: self.classes, self.roster, self.declarations)

    def effects(self, name: str, definition: NodeDefinition, overrides: tuple[Override, ...]) -> RuleEffects:
        """Return the effects of rules on a node."""
        if self.rule_engine is None:
            return NO_EFFECTS
        return self.rule_engine.one(name, (definition, overrides))

    def _ruled(self) -> Iterator[list[str]]:
        """Yield each node alone, after the effects of rules were found for all of them together."""
        if self.rule_engine is not None:
            about = {name: self.roster.definition(name) for name in self.names}
            self.rule_engine.installs(about)
            self.rule_engine.effects(
                {name: (about[name], self._overrides(name, about[name])) for name in about}
            )
        yield from ([name] for name in self.names)

    @cached_property
    def _facts_read(self) -> tuple[str, ...] | None:
        """The facts that bindings and templates read; None: any may be."""
        asked = {str(bound.given) for _, bound in self.bindings.of(Op.FACT)}
        if any("${" in name for name in asked):
            return None  # an instance completes the name
        if self.collecting is not None:
            asked |= self.collecting.facts
        for text in self.templates.values():
            found = find_facts_in_template(text)
            if found is None:
                return None
            asked |= found
        return tuple(sorted(asked))

    def _overrides(self, name: str, definition: NodeDefinition) -> tuple[Override, ...]:
        listed = self.roster.listed.get(name, ())
        chosen = [o for o in self.roster.selecting if name in self.selections[o.name].names]
        return tuple(sorted((*listed, *chosen), key=lambda override: override.name)) if chosen else listed

    @cached_property
    def selections(self) -> Mapping[str, Selection]:
        """The nodes of the overrides that select by `where`. Conditions do not see overrides.

        Raise Stopped if a condition does not finish, since its nodes are not known then.
        """
        return {
            override.name: self._selected(override.name, override.where)
            for override in self.roster.selecting
            if override.where is not None
        }

    def _selected(self, override: str, where: Ref) -> Selection:
        progress.note("finding the nodes of the override", override)
        try:
            return select_nodes(where.name, self._views)
        except Stopped as stopped:
            raise stopped.named(f"The condition of {override}", override, where) from None

    def _views(self) -> list[NodeView]:
        about = {name: self.roster.definition(name) for name in self.names}
        installs = self.rule_engine.installs(about) if self.rule_engine else {}
        return [self._view(name, about[name], installs.get(name, ())) for name in self.names]

    def _view(self, name: str, definition: NodeDefinition, installs: tuple[RuleInstall, ...]) -> NodeView:
        return NodeView(name, definition, lambda: self.stacks.below_overrides(definition, installs))

    def select(self, where: str) -> Selection:
        """Return the nodes for which a condition on the whole configuration holds.

        Raise Stopped if it does not finish.
        """

        def view(name: str) -> NodeView:
            node = self[name]
            return NodeView(name, node.definition, lambda: node.features, lambda: node.params)

        return select_nodes(where, lambda: [view(name) for name in self.names], params=True)


def compile_tree(tree: Tree, today: date) -> Fleet:
    """Return the fleet of a tree. Raise GitcfgError if it is not a repository."""
    return Fleet(load(tree), tree, today)
