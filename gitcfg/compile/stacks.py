"""The layers of each node, stacked into the class that it shares with nodes that are alike."""

from collections.abc import Hashable, Iterable, Iterator

from gitcfg.compile.layers import NOWHERE, FilledLayers, Layers
from gitcfg.compile.node_class import NodeClass, Recent, find_without
from gitcfg.compile.nodes import NO_EFFECTS, NodeDefinition, RuleEffects, RuleInstall
from gitcfg.compile.partial import Partial
from gitcfg.model import Model, Node, Override, Ref


class Stacks:
    """Puts layers upon each other in the order of semantics.md."""

    def __init__(self, model: Model, layers: Layers, recent: Recent | None = None) -> None:
        """`recent` composes the layers of classes and holds the last results."""
        self.model = model
        self.layers = layers
        self.recent = recent or Recent()
        self._set: dict[str, Partial] = {}
        self._rules: dict[tuple[str, tuple[Partial, ...]], Partial] = {}
        self._nothing = Partial(f"group {model.settings.default_group}")

    def below_overrides(
        self, definition: NodeDefinition, installs: tuple[RuleInstall, ...] = ()
    ) -> frozenset[str]:
        """Return the feature set that a node has without its overrides."""
        parts = self._parts(definition, (), _names(find_without(definition, ())), RuleEffects(installs))
        return frozenset[str]().union(*(part.features for part in parts))

    def compile(
        self, definition: NodeDefinition, overrides: tuple[Override, ...], effects: RuleEffects = NO_EFFECTS
    ) -> NodeClass:
        """Return the class of nodes of which this is said, and to which rules bring something."""
        without = _names(find_without(definition, overrides))
        parts = () if definition.retired else self._parts(definition, overrides, without, effects)
        return NodeClass(definition, overrides, self.layers, parts, self.recent, effects)

    def _parts(
        self,
        definition: NodeDefinition,
        overrides: tuple[Override, ...],
        without: frozenset[str],
        effects: RuleEffects,
    ) -> tuple[Partial, ...]:
        """A node's layers, lowest first; of groups that are not there only the default one is a layer."""
        layers = self.filled(effects)
        groups = (layers.group(ref.name, without) for ref in reversed(definition.groups))
        return (
            self._default(layers, without),
            *(part for each in effects.installs for part in self._installed(layers, each, without)),
            *(group for group in groups if group is not None),
            *map(self._setting, effects.sets),
            *self._identity(layers, definition, without),
            *(self._override(layers, override, without) for override in overrides),
            *(Partial(f"allocation {rule}", (), layers.steps(values)) for rule, values in effects.values),
        )

    def filled(self, effects: RuleEffects) -> Layers:
        """Return the layers of nodes to which rules bring something, with what was decided for instances."""
        if not effects.attributes:
            return self.layers
        return FilledLayers(self.layers, effects.attributes)

    def _installed(
        self, layers: Layers, installed: RuleInstall, without: frozenset[str]
    ) -> Iterator[Partial]:
        """Yield what a rule installs, as a layer that all share which get it; none where it is left out."""
        parts = layers.uses(installed.uses, without)
        if not parts:
            return
        key = installed.rule, parts
        if key not in self._rules:
            self._rules[key] = Partial(f"rule {installed.rule}", parts)
        yield self._rules[key]

    def _setting(self, rule: str) -> Partial:
        """Return what a rule sets, which is the same wherever it does."""
        if rule not in self._set:
            steps = self.layers.steps(self.model.rules[rule].params)
            self._set[rule] = Partial(f"rule {rule}", (), steps)
        return self._set[rule]

    def _identity(
        self, layers: Layers, definition: NodeDefinition, without: frozenset[str]
    ) -> Iterator[Partial]:
        """Yield the layers of a node alone, lowest first."""
        for use, label in reversed(definition.features):
            part = layers.feature(use, without)
            if part is not None:
                yield Partial(label, (part,))
        nodeset = definition.nodeset
        if nodeset is not None and (nodeset.definition.params or nodeset.definition.files):
            yield self._own(f"node set {nodeset.name}", nodeset.definition)
        if definition.own is not None and (definition.own.params or definition.own.files):
            yield self._own(f"node {definition.own.name}", definition.own, single=True)

    def _override(self, layers: Layers, override: Override, without: frozenset[str]) -> Partial:
        parts = layers.uses(override.features, without)
        return Partial(f"override {override.name}", parts, layers.steps(override.params), override.files)

    def _own(self, label: str, definition: Node, single: bool = False) -> Partial:
        steps = self.layers.steps(definition.params)
        return Partial(label, (), steps, definition.files, single=single)

    def _default(self, layers: Layers, without: frozenset[str]) -> Partial:
        return layers.group(self.model.settings.default_group, without) or self._nothing

    def unfiltered(self, node_class: NodeClass) -> frozenset[str]:
        """Return what a class's feature set is if no `without` takes anything away."""
        model = self.model
        names = {use.feature for use, _ in node_class.definition.features}
        default = model.groups.get(model.settings.default_group)
        for group in (default, *(model.groups[name] for name in node_class.groups)):
            names |= {use.feature for use in group.features} if group else set()
        for override in node_class.overrides:
            names |= {use.feature for use in override.features}
        for installed in node_class.effects.installs:
            names |= {use.feature for use in installed.uses}
        return self.layers.expanded(names)


def class_key(definition: NodeDefinition, overrides: tuple[Override, ...], facts: Iterable[str]) -> Hashable:
    """Return a key that is equal for nodes which differ only in name, labels, address, and other facts."""
    nodeset, own = definition.nodeset, definition.own
    by_set = nodeset is not None and (nodeset.definition.params or nodeset.definition.files)
    by_file = own is not None and (own.params or own.files)
    return (
        tuple([ref.name for ref in definition.groups]),
        tuple([(use.feature, use.instance, id(use), label) for use, label in definition.features]),
        definition.without,
        definition.retired,
        nodeset.name if nodeset is not None and by_set else None,
        own.name if own is not None and by_file else None,
        tuple([override.name for override in overrides]),
        tuple([repr(definition.facts.get(fact)) for fact in facts]) if definition.facts else (),
    )


def _names(refs: Iterable[Ref]) -> frozenset[str]:
    return frozenset(ref.name for ref in refs)


# Classes of which not everything is known, since a definition of theirs could not be understood.


def is_misread(stacks: Stacks, node_class: NodeClass) -> bool:
    """Return whether something that a class is made of could not be understood."""
    model = stacks.model
    unread = model.unread.get
    if unread("rules") or unread("allocations"):
        return True  # on which nodes they would have counted is not known
    groups = {model.settings.default_group, *node_class.groups}
    return bool(
        groups & unread("groups", NOWHERE)
        or stacks.unfiltered(node_class) & unread("features", NOWHERE)
        or is_half_read(model, node_class.definition)
        or any(override.name in unread("overrides", NOWHERE) for override in node_class.overrides)
    )


def is_half_read(model: Model, definition: NodeDefinition) -> bool:
    """Return whether the file of a node, or of its set, could not be understood."""
    unread, own, nodeset = model.unread.get, definition.own, definition.nodeset
    return (own is not None and own.name in unread("nodes", NOWHERE)) or (
        nodeset is not None and nodeset.name in unread("nodesets", NOWHERE)
    )
