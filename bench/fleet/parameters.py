"""The parameters of a fleet and whose they are: a feature's own, or common to all groups."""

from collections.abc import Iterable, Mapping, Sequence
from random import Random

import msgspec

from bench.fleet.model import Parameter, Scalar
from bench.fleet.options import Options
from bench.fleet.values import TYPES, value

_SCHEMAS: Mapping[str, Mapping[str, Scalar]] = {"integer": {"minimum": 0}, "string": {"minLength": 1}}


def parameters(options: Options) -> dict[str, Parameter]:
    """All declarations, without depends and conflicts."""
    rng = Random(f"{options.seed}/parameters")
    drawn = (_parameter(rng, number) for number in range(options.parameters))
    return {one.name: one for one in drawn}


def _parameter(rng: Random, number: int) -> Parameter:
    type_ = rng.choices(list(TYPES), list(TYPES.values()))[0]
    must_change = rng.random() < 0.03
    return Parameter(
        name=f"{type_.upper()}_{number:04}",
        type=type_,
        default=value(rng, type_) if not must_change and rng.random() < 0.5 else None,
        schema=_SCHEMAS.get(type_) if rng.random() < 0.3 else None,
        must_change=must_change,
    )


def owners(options: Options, features: Iterable[str], names: Sequence[str]) -> dict[str, Sequence[str]]:
    """Each feature's own parameters, as far as there are enough."""
    size = options.feature_params
    return {name: names[n * size : (n + 1) * size] for n, name in enumerate(features)}


def related(
    parameters: dict[str, Parameter],
    depends: Iterable[tuple[str, str]],
    conflicts: Iterable[tuple[str, str]],
) -> dict[str, Parameter]:
    """The declarations with these pairs of depends and conflicts."""
    found = dict(parameters)
    for name, other in depends:
        found[name] = msgspec.structs.replace(found[name], depends=(*found[name].depends, other))
    for name, other in conflicts:
        found[name] = msgspec.structs.replace(found[name], conflicts=(*found[name].conflicts, other))
    return found
