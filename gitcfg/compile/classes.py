"""Classes of nodes that are alike but for their names, each compiled once."""

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, reduce
from typing import Any

from msgspec.structs import replace

from gitcfg.compile.cell import Cell, join
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.layers import Layers
from gitcfg.compile.nodes import Said
from gitcfg.compile.operations import LACKING, NOTHING, PENDING, Step, distinct, fold
from gitcfg.compile.partial import Partial
from gitcfg.compile.recent import Recent
from gitcfg.compile.ruled.brought import NOTHING_BROUGHT, Brought
from gitcfg.compile.trail import TrailStep, trail
from gitcfg.compile.values import Misfit
from gitcfg.model import Decision, Fact, FileEntry, Op, Override, Ref
from gitcfg.model.secrets import is_secret, secret_name

_NO_FEATURES = frozenset[str]()
_NO_SECRETS: Mapping[str, str] = {}


class NodeClass:
    """Nodes with the same configuration: their layers, lowest first, and what follows from them.

    `names` are its nodes. `labels` and addresses may differ among them. Layers are shared among classes;
    what is composed of them all is large, so that a fleet holds only what was asked for last (`recent`).
    `brought` is what rules bring to them.
    """

    def __init__(
        self,
        said: Said,
        overrides: tuple[Override, ...],
        layers: Layers,
        parts: tuple[Partial, ...],
        recent: Recent,
        brought: Brought = NOTHING_BROUGHT,
    ) -> None:
        self.said = said
        self.overrides = overrides
        self.brought = brought
        self.layers = layers
        self.parts = parts
        self.names: list[str] = []
        self._recent = recent

    @property
    def stack(self) -> Partial:
        """The layers composed."""
        return self._recent.stack(self)

    @property
    def features(self) -> frozenset[str]:
        """The feature set."""
        return _NO_FEATURES.union(*(part.features for part in self.parts))

    @property
    def without(self) -> tuple[Ref, ...]:
        """Every mention of a feature that these nodes have not, whatever installs it."""
        return withouts(self.said, self.overrides)

    @cached_property
    def groups(self) -> tuple[str, ...]:
        """Explicit groups that exist, highest first."""
        return tuple(ref.name for ref in self.said.groups if ref.name in self.layers.model.groups)

    @cached_property
    def secrets(self) -> Mapping[str, str]:
        """The parameters whose values are secrets, in order of name, with the secrets' names."""
        if not self.layers.declarations.secrets:
            return _NO_SECRETS
        said = [part.secret for part in self.parts if part.secret]
        if not said:
            return _NO_SECRETS
        values = self.some(sorted(_NO_FEATURES.union(*said)))
        return {name: secret_name(value) for name, value in values.items() if is_secret(value)}

    def cell(self, name: str) -> Cell | None:
        """What the layers say of one parameter, without composing the others."""
        found = [part.cells[name] for part in self.parts if name in part.cells]
        return reduce(join, found) if found else None

    @property
    def params(self) -> Mapping[str, Any]:
        """Final values by parameter, in order of name; a bare parameter is None."""
        return self._recent.params(self)

    def some(self, names: Iterable[str]) -> dict[str, Any]:
        """The final values of some parameters that are bound, without composing the others."""
        cells = ((name, self.cell(name)) for name in names)
        found = ((name, self.value(name, cell)) for name, cell in cells if cell is not None)
        return {name: value for name, value in found if value is not NOTHING}

    def steps(self, name: str) -> Iterator[tuple[Step, tuple[str, ...]]]:
        """Every step that binds a parameter, lowest first, with its path, innermost first."""
        for part in self.parts:
            if name in part.cells:
                yield from part.steps(name)

    def trail(self, name: str) -> tuple[TrailStep, ...]:
        """The steps that bind a parameter, lowest first, with what they lead to."""
        steps = trail(self.steps(name), self.facts(name))
        if not any(installed.decided for installed in self.brought.installs):
            return steps
        return tuple(replace(step, decided=(*self._placed(step, name), *step.decided)) for step in steps)

    def _placed(self, step: TrailStep, name: str) -> Iterator[Decision]:
        """What was decided so that a rule installs here what speaks of a parameter."""
        label = step.path[-1]
        layers = next(part.parts for part in self.parts if part.label == label)
        for installed in self.brought.installs:
            # All places of a rule have one feature, so that each is a layer, or none is.
            if label == f"rule {installed.rule}" and len(installed.decided) == len(layers):
                placed = zip(layers, reversed(installed.decided), strict=True)
                yield from (decision for layer, decision in placed if name in layer.cells)

    def value(self, name: str, cell: Cell) -> Any:
        """The final value of a parameter, of which this is what the layers say; or NOTHING."""
        return final(self.layers.declarations, name, self.composed(name, cell))

    def composed(self, name: str, cell: Cell) -> Any:
        """The same as the layers compose it; LACKING where what it is made of is not there."""
        pending = cell.value is PENDING
        return fold(cell.steps, NOTHING, self.facts(name, cell.steps)) if pending else cell.value

    @property
    def collected(self) -> frozenset[str]:
        """The parameters of which values of other nodes are a part."""
        pending = _NO_FEATURES.union(*(part.pending for part in self.parts))
        cells = ((name, self.cell(name)) for name in pending)
        return frozenset(
            name for name, cell in cells if cell and any(step.op is Op.COLLECT for step in cell.steps)
        )

    def facts(self, name: str, steps: Iterable[Step] | None = None) -> Mapping[Any, Any]:
        """The nodes' facts as values of one parameter, and what it collects, by what that is.

        What does not fit its type stays as it is. Who needs only some of its steps says so: what the
        others collect may need this very value.
        """
        facts: dict[Any, Any] = {key: self._fact(name, fact) for key, fact in self.said.facts.items()}
        collector = self.layers.collector
        if collector is not None:
            some = (step for step, _ in self.steps(name)) if steps is None else steps
            facts.update(collector.collect(self.said, name, some))
        return facts

    def _fact(self, name: str, fact: Fact) -> Any:
        if fact.value is None:
            return None
        try:
            return self.layers.declarations.value(name, fact.value, fact.text)
        except Misfit:
            return None if is_secret(fact.value) else fact.value  # no node gets a secret by calling it a fact

    @property
    def files(self) -> Mapping[str, FileEntry]:
        """File entries by path, in order of path."""
        return self._recent.files(tuple(part.files for part in self.parts if part.files))


def final(declarations: Declarations, name: str, value: Any) -> Any:
    """What layers made of a parameter as its final value: of equal items of a unique list the first stays.

    What cannot be collected is bound without a value.
    """
    if value is LACKING:
        return None
    if isinstance(value, list):
        parameter = declarations.find(name)
        return distinct(value) if parameter is not None and parameter.unique else value
    return value


def withouts(said: Said, overrides: tuple[Override, ...]) -> tuple[Ref, ...]:
    """What `without` says, the nodes' own and their overrides'."""
    return (*said.without, *(ref for override in overrides for ref in override.without))
