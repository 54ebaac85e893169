"""The definition of a node from its files, the effects of rules on it, and the roster of all nodes."""

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeVar

import msgspec

from gitcfg.model import Binding, Decision, Fact, ListEdit, Model, Node, NodeSet, Op, Override, Ref, Use

T = TypeVar("T")

RETIRED = "retired"


class NodeDefinition(msgspec.Struct, frozen=True):
    """The definition of a node from its own file and its set.

    `features` have the label of what lists them.
    """

    groups: tuple[Ref, ...]
    features: tuple[tuple[Use, str], ...]
    without: tuple[Ref, ...]
    labels: tuple[str, ...]
    facts: Mapping[str, Fact]
    address: str | None
    retired: bool
    nodeset: NodeSet | None
    own: Node | None

    def fact_values(self) -> dict[str, Any]:
        """Return the facts as YAML reads them, for conditions and templates."""
        return {key: fact.value for key, fact in self.facts.items()}


def define_node(own: Node | None, nodeset: NodeSet | None, name: str = "") -> NodeDefinition:
    """Return a node's file combined with its set's definition; `name` is that of a member of the set."""
    if own is not None and nodeset is None:
        return _alone(own)
    definitions = [given for given in (nodeset.definition if nodeset else None, own) if given is not None]
    states = [given.state for given in definitions if given.state]
    addresses = [given.address for given in definitions if given.address]
    facts: dict[str, Fact] = {}
    if nodeset is not None:
        facts |= {**nodeset.definition.facts, **nodeset.facts.get(name, {})}
    if own is not None:
        facts |= own.facts
    return NodeDefinition(
        groups=_combined([given.groups for given in definitions]),
        features=_features(own, nodeset),
        without=_combined([given.without for given in definitions]),
        labels=tuple(ref.name for ref in _combined([given.labels for given in definitions])),
        facts=facts,
        address=addresses[-1] if addresses else None,
        retired=bool(states) and states[-1] == RETIRED,
        nodeset=nodeset,
        own=own,
    )


def _alone(own: Node) -> NodeDefinition:
    """Return the definition of a node in no set, as nearly all nodes of most fleets are."""
    label = f"node {own.name}"
    return NodeDefinition(
        groups=_plain(own.groups),
        features=tuple([(use, label) for use in own.features.items]) if _gives(own.features) else (),
        without=_plain(own.without),
        labels=tuple([ref.name for ref in _plain(own.labels)]),
        facts=own.facts,
        address=own.address,
        retired=own.state == RETIRED,
        nodeset=None,
        own=own,
    )


def _plain(edit: ListEdit) -> tuple[Ref, ...]:
    """Return a list combined with no other; the loader has removed repeated names."""
    return edit.items if _gives(edit) else ()


def _gives(edit: ListEdit) -> bool:
    return edit.op is not Op.REMOVE


def _combined(edits: Iterable[ListEdit]) -> tuple[Ref, ...]:
    """Return lists of names combined, lowest first; a name in two lists stays at its highest place."""
    items: tuple[Ref, ...] = ()
    for edit in edits:
        items = combine(items, edit.op, edit.items, lambda ref: ref.name)
    highest: dict[str, Ref] = {}
    for ref in items:
        highest.setdefault(ref.name, ref)
    return tuple(highest.values())


def _features(own: Node | None, nodeset: NodeSet | None) -> tuple[tuple[Use, str], ...]:
    items: tuple[tuple[Use, str], ...] = ()
    if nodeset is not None:
        label = f"node set {nodeset.name}"
        items = tuple((use, label) for use in nodeset.definition.features.items)
        if nodeset.definition.features.op is Op.REMOVE:
            items = ()
    if own is not None:
        added = tuple((use, f"node {own.name}") for use in own.features.items)
        items = combine(items, own.features.op, added, lambda pair: pair[0].feature)
    return items


def combine(below: tuple[T, ...], op: Op, items: tuple[T, ...], name: Any) -> tuple[T, ...]:
    """Return a list combined with the one below it, as a node's list is with its set's."""
    if op is Op.SET:
        return items
    if op is Op.APPEND:
        return below + items
    if op is Op.PREPEND:
        return items + below
    gone = {name(item) for item in items}
    return tuple(item for item in below if name(item) not in gone)


class Roster:
    """All nodes: their files and sets by name, and the overrides that list them."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.sets = {member: nodeset for nodeset in model.nodesets.values() for member in nodeset.members}
        self._members: dict[tuple[str, int], NodeDefinition] = {}
        self.listed: dict[str, tuple[Override, ...]] = {}
        for name in sorted(model.overrides):
            override = model.overrides[name]
            for member in override.members or ():
                self.listed[member] = (*self.listed.get(member, ()), override)
        self.selecting = tuple(
            model.overrides[name] for name in sorted(model.overrides) if model.overrides[name].where
        )

    def __contains__(self, name: str) -> bool:
        return name in self.model.nodes or name in self.sets

    def names(self) -> tuple[str, ...]:
        """Return every node, in order of name."""
        return tuple(sorted(self.model.nodes.keys() | self.sets.keys()))

    def definition(self, name: str) -> NodeDefinition:
        """Return the definition of a node.

        Members of a set with no files of their own, and with the same facts, share one object.
        """
        nodeset = self.sets.get(name)
        if nodeset is None or name in self.model.nodes:
            return define_node(self.model.nodes.get(name), nodeset, name)
        key = nodeset.name, id(nodeset.facts.get(name))
        if key not in self._members:
            self._members[key] = define_node(None, nodeset, name)
        return self._members[key]


# The effects of rules on a node, as data: equal for nodes with the same effects.

Values = tuple[tuple[str, Mapping[str, Binding]], ...]
"""Decided values of parameters, by rule."""
Attributes = Mapping[str, Mapping[str, Mapping[str, Binding]]]
"""Decided attributes: by the feature that rules go over, and the name of the instance."""


class RuleInstall(msgspec.Struct, frozen=True):
    """What one rule installs: a feature, or its instances, highest first.

    `node` is the only node that gets it, if an allocation decided that, since the origin is that node's own
    line. `decided` is the decision for each of `uses`, if the rule counts its places.
    """

    rule: str
    uses: tuple[Use, ...]
    node: str = ""
    decided: tuple[Decision, ...] = ()

    @property
    def sort(self) -> tuple[str | None, ...]:
        """A key that is equal if the same rule installs its feature, or instances with the same names."""
        return (self.rule, *[use.instance for use in self.uses])

    @property
    def key(self) -> tuple[str | None, ...]:
        """A key that is equal if the same rule installs the same on nodes that are otherwise alike."""
        return (self.node, *self.sort)


class RuleEffects(msgspec.Struct, frozen=True):
    """All effects of rules on a node: what they install and set, lowest first, and what was decided for it.

    `node` is its name if `values` or `attributes` were decided for it; `decided` are the rules with any
    decision.
    """

    installs: tuple[RuleInstall, ...] = ()
    sets: tuple[str, ...] = ()
    values: Values = ()
    attributes: Attributes = {}
    node: str = ""
    decided: tuple[str, ...] = ()

    @property
    def key(self) -> Hashable:
        """A key that is equal for nodes that share a class if they are otherwise alike."""
        return tuple([installed.key for installed in self.installs]), self.sets, self.node, self.decided

    @property
    def rules(self) -> tuple[str, ...]:
        """The rules with an effect."""
        return tuple(dict.fromkeys((*(each.rule for each in self.installs), *self.sets, *self.decided)))


NO_EFFECTS = RuleEffects()
