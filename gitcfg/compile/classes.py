"""Classes of nodes that are alike but for their names, each compiled once."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from gitcfg.compile.layers import Layers
from gitcfg.compile.nodes import Said
from gitcfg.compile.operations import NOTHING, distinct, fold
from gitcfg.compile.partial import Partial
from gitcfg.compile.values import Misfit
from gitcfg.model import Fact, FileEntry, Override, Ref


class NodeClass:
    """Nodes with the same configuration: the layers' stack, and what follows from it.

    `names` are its nodes. `labels` and addresses may differ among them.
    """

    def __init__(self, said: Said, overrides: tuple[Override, ...], layers: Layers, stack: Partial) -> None:
        self.said = said
        self.overrides = overrides
        self.layers = layers
        self.stack = stack
        self.names: list[str] = []

    @property
    def features(self) -> frozenset[str]:
        """The feature set."""
        return self.stack.features

    @property
    def without(self) -> tuple[Ref, ...]:
        """Every mention of a feature that these nodes have not, whatever installs it."""
        return withouts(self.said, self.overrides)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Explicit groups that exist, highest first."""
        return tuple(ref.name for ref in self.said.groups if ref.name in self.layers.model.groups)

    @cached_property
    def params(self) -> Mapping[str, Any]:
        """Final values by parameter, in order of name; a bare parameter is None."""
        cells = self.stack.cells
        values = {name: cells[name].value for name in sorted(cells)}
        for name in self.stack.pending:
            values[name] = self._with_facts(name)
        for name in [name for name, value in values.items() if value is NOTHING]:
            del values[name]
        for name, value in values.items():
            if isinstance(value, list):
                values[name] = self._listed(name, value)
        return values

    def _with_facts(self, name: str) -> Any:
        return fold(self.stack.cells[name].steps, NOTHING, self.facts(name))

    def facts(self, name: str) -> Mapping[str, Any]:
        """The nodes' facts as values of one parameter; what does not fit its type stays as it is."""
        return {key: self._fact(name, fact) for key, fact in self.said.facts.items()}

    def _fact(self, name: str, fact: Fact) -> Any:
        if fact.value is None:
            return None
        try:
            return self.layers.declarations.value(name, fact.value, fact.text)
        except Misfit:
            return fact.value

    def _listed(self, name: str, value: list[Any]) -> list[Any]:
        parameter = self.layers.declarations.find(name)
        return distinct(value) if parameter is not None and parameter.unique else value

    @cached_property
    def files(self) -> Mapping[str, FileEntry]:
        """File entries by path, in order of path."""
        entries = self.stack.files
        return {path: entries[path] for path in sorted(entries) if not entries[path].removed}


def withouts(said: Said, overrides: tuple[Override, ...]) -> tuple[Ref, ...]:
    """What `without` says, the nodes' own and their overrides'."""
    return (*said.without, *(ref for override in overrides for ref in override.without))
