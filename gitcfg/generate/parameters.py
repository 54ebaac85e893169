"""The parameters of a random repository: planned first, so that what binds them is valid."""

from collections.abc import Iterable, Mapping
from random import Random

import msgspec

from gitcfg.generate.chance import random_part, sample_pairs
from gitcfg.generate.options import Options, Types

A_FILE = 100
_SECRET_TYPES = ("string", "integer", "list", "path", "boolean", "expression", "number")


class PlannedParameter(msgspec.Struct, frozen=True):
    """A parameter to be declared. `needed`: others depend on it, so nothing may unset it.

    `secrets` are those that it may be bound to, and then to nothing else.
    """

    name: str
    type: str
    separator: str | None = None
    must_change: bool = False
    default: bool = False
    depends: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()
    needed: bool = False
    secrets: tuple[str, ...] = ()


class Parameters(msgspec.Struct, frozen=True):
    """All parameters: those that any layer may bind, and pairs that never meet on a node."""

    ordinary: Mapping[str, PlannedParameter]
    rivals: tuple[tuple[PlannedParameter, PlannedParameter], ...]

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of all secrets."""
        return tuple(dict.fromkeys(name for one in self.ordinary.values() for name in one.secrets))

    def closed(self, names: Iterable[str]) -> list[str]:
        """The names, and after them all that they depend on."""
        found = dict.fromkeys(names)
        ahead = list(found)
        for name in ahead:
            missing = [other for other in self.ordinary[name].depends if other not in found]
            found.update(dict.fromkeys(missing))
            ahead.extend(missing)
        return list(found)


def plan_parameters(options: Options) -> Parameters:
    """Decide on every parameter's name, type, and what it goes with."""
    rng = random_part(options, "parameters")
    drawn = [_draw(rng, number, options.types) for number in range(options.parameters)]
    rivals = drawn[len(drawn) - 2 * options.conflicts :]
    ordinary = drawn[: len(drawn) - len(rivals)]
    edges = list(sample_pairs(rng, len(ordinary), options.depends))
    for high, low in edges:
        dependent = ordinary[high]
        depends = (*dependent.depends, ordinary[low].name)
        ordinary[high] = msgspec.structs.replace(dependent, depends=depends)
    for _, low in edges:
        ordinary[low] = msgspec.structs.replace(ordinary[low], needed=True)
    pairings = zip(rivals[::2], rivals[1::2], strict=True)
    ordinary += _secret(options.secrets)
    return Parameters({one.name: one for one in ordinary}, tuple(_oppose(*pair) for pair in pairings))


def _draw(rng: Random, number: int, types: Types) -> PlannedParameter:
    weights = msgspec.structs.asdict(types)
    type_ = rng.choices(list(weights), list(weights.values()))[0]
    must_change = rng.random() < 0.03
    return PlannedParameter(
        name=f"{type_.upper()}_{number:04}",
        type=type_,
        separator=rng.choice((None, "comma", "blank-or-comma")) if type_ == "list" else None,
        must_change=must_change,
        default=not must_change and rng.random() < 0.5,
    )


def _oppose(left: PlannedParameter, right: PlannedParameter) -> tuple[PlannedParameter, PlannedParameter]:
    return msgspec.structs.replace(left, conflicts=(right.name,)), right


def _secret(count: int) -> list[PlannedParameter]:
    """Parameters for secrets; two of each type may be bound to each other's."""
    types = [_SECRET_TYPES[number // 2 % len(_SECRET_TYPES)] for number in range(count)]
    names = [f"{type_}-secret-{number}" for number, type_ in enumerate(types)]
    return [
        PlannedParameter(
            name=f"SECRET_{type_.upper()}_{number:04}",
            type=type_,
            separator="comma" if type_ == "list" else None,
            secrets=tuple(names[number // 2 * 2 : number // 2 * 2 + 2]),
        )
        for number, type_ in enumerate(types)
    ]
