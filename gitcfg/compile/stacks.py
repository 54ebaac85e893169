"""The layers of each node, stacked into the class that it shares with nodes that are alike."""

from collections.abc import Iterable, Iterator
from typing import Any

from gitcfg.compile.classes import NodeClass, withouts
from gitcfg.compile.layers import Layers
from gitcfg.compile.nodes import Said
from gitcfg.compile.partial import Partial
from gitcfg.model import Model, Node, Override, Ref


class Stacks:
    """Stacks layers in the order of semantics.md; what lists of groups share is composed once."""

    def __init__(self, model: Model, layers: Layers) -> None:
        self.model = model
        self.layers = layers
        self._bases: dict[Any, Partial] = {}

    def below_overrides(self, said: Said) -> Partial:
        """All layers of a node but those of overrides, less what its own `without` takes."""
        without = _names(withouts(said, ()))
        return Partial(None, (self._base(said, without), *self._identity(said, without)))

    def compile(self, said: Said, overrides: tuple[Override, ...]) -> NodeClass:
        """The class of nodes of which this is said."""
        without = _names(withouts(said, overrides))
        if said.retired:
            return NodeClass(said, overrides, self.layers, Partial(None))
        base = self._base(said, without)
        layers = (*self._identity(said, without), *(self._override(o, without) for o in overrides))
        stack = self._stacked(_who(said), (base, *layers)) if layers else base
        return NodeClass(said, overrides, self.layers, stack)

    def _base(self, said: Said, without: frozenset[str]) -> Partial:
        """The default group and the explicit ones, composed once for each list of groups."""
        groups = tuple(ref.name for ref in reversed(said.groups) if ref.name in self.model.groups)
        key = (groups, without)
        if key not in self._bases:
            found = (self.layers.group(name, without) for name in groups)
            explicit = (part for part in found if part is not None)
            self._bases[key] = self._stacked(key, (self._default(without), *explicit))
        return self._bases[key]

    def _stacked(self, key: Any, parts: tuple[Partial, ...]) -> Partial:
        """Layers upon each other. The key is the same wherever nearly the same is to be expected."""
        return Partial(None, parts)

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

    def _default(self, without: frozenset[str]) -> Partial:
        name = self.model.settings.default_group
        return self.layers.group(name, without) or Partial(f"group {name}")

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


def class_key(said: Said, overrides: tuple[Override, ...]) -> Any:
    """Equal for nodes that differ in nothing but name, labels and address."""
    nodeset, own = said.nodeset, said.own
    by_set = nodeset is not None and (
        nodeset.definition.params or nodeset.definition.files or nodeset.definition.facts
    )
    by_file = own is not None and (own.params or own.files or own.facts)
    return (
        tuple(ref.name for ref in said.groups),
        tuple((use.feature, use.instance, id(use), label) for use, label in said.features),
        said.without,
        said.retired,
        nodeset.name if nodeset is not None and by_set else None,
        own.name if own is not None and by_file else None,
        tuple(override.name for override in overrides),
    )


def _who(said: Said) -> Any:
    """The node, or the set of nodes, of which something is said."""
    return said.own and said.own.name, said.nodeset and said.nodeset.name


def _names(refs: Iterable[Ref]) -> frozenset[str]:
    return frozenset(ref.name for ref in refs)
