"""Who binds a parameter or a family of parameters: layers, and nodes."""

from collections import Counter
from collections.abc import Collection, Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import NOTHING
from gitcfg.explain.definition import Setting
from gitcfg.explain.layers import labelled
from gitcfg.explain.said import setting
from gitcfg.explain.values import held
from gitcfg.explain.winning import winning
from gitcfg.model import Op


def bound_anywhere(fleet: Fleet) -> Collection[str]:
    """Every parameter that is declared, or that some layer binds."""
    bound = frozenset[str]().union(*(kind.stack.cells for kind in fleet.classes))
    return fleet.model.parameters.keys() | bound | {name for name, _ in fleet.model.bindings()}


def members(fleet: Fleet, name: str) -> frozenset[str]:
    """The parameter itself, and if it is a family all that are bound of it."""
    family = fleet.model.parameters.get(name)
    if family is None or not family.pattern:
        return frozenset({name})
    found = {member for member in bound_anywhere(fleet) if fleet.declarations.find(member) is family}
    return frozenset({name, *found})


def counts(fleet: Fleet) -> dict[str, int]:
    """How many nodes bind each parameter; of a family, how many bind some member."""
    by_size: dict[int, Counter[str]] = {}
    for kind in fleet.classes:
        by_size.setdefault(len(kind.names), Counter()).update(iter(kind.stack.cells))
    owners = {name: _owner(fleet, name) for counter in by_size.values() for name in counter}
    apart = {name for name, owner in owners.items() if owner != name} | _unset(fleet)
    found = {name: 0 for name in owners if name not in apart}
    for size, counter in by_size.items():
        for name in counter.keys() & found.keys():
            found[name] += size * counter[name]
    for kind in fleet.classes:
        cells = kind.stack.cells
        bound = {owners[name] for name in apart & cells.keys() if cells[name].value is not NOTHING}
        for owner in bound:
            found[owner] = found.get(owner, 0) + len(kind.names)
    return found


def _owner(fleet: Fleet, name: str) -> str:
    """What a parameter is counted as: the family that declares it, or itself."""
    declared = fleet.declarations.find(name)
    return declared.name if declared is not None else name


def _unset(fleet: Fleet) -> set[str]:
    """The parameters that some layer unbinds: a cell of theirs does not say yet that they are bound."""
    bindings = [*fleet.model.bindings()]
    bindings += [item for made in fleet.layers.instances for item in made.params.items()]
    return {name for name, binding in bindings if binding.op is Op.UNSET}


def settings_of(fleet: Fleet, params: Collection[str]) -> Iterator[Setting]:
    """Every layer's binding of some parameters; where instances make the name, the feature's own."""
    wins = winning(fleet, params)
    instances = [made.params.items() for made in fleet.layers.instances]
    made = {binding.origin for items in instances for name, binding in items if name in params}
    for label, layer in labelled(fleet.model):
        for name, binding in layer.params.items():
            if name in params or binding.origin in made:
                yield setting(fleet, label, name, binding, wins)


def bound_on(fleet: Fleet, params: Collection[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The nodes that bind one of some parameters, and of these those that have no value for it."""
    bound: list[str] = []
    bare: list[str] = []
    for kind in fleet.classes:
        values = [held(kind, name) for name in params]
        values = [value for value in values if value is not NOTHING]
        bound += kind.names if values else []
        bare += kind.names if None in values else []
    return tuple(sorted(bound)), tuple(sorted(bare))
