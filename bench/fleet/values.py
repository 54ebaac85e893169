"""Random scalar values of each type, such as every tool reads alike.

No text that YAML 1.1, Jinja2 or reclass would read otherwise, and no fractions: bundlewrap has none.
"""

from collections.abc import Callable, Mapping
from random import Random

from bench.fleet.model import Scalar

TYPES: Mapping[str, int] = {
    "string": 40,
    "integer": 20,
    "boolean": 10,
    "expression": 15,
    "path": 10,
}
"""How often parameters have each type: weights."""

_WORDS = ("rack", "pool", "gpu", "scratch", "submit", "startd", "negotiator", "collector")
_EXPRESSIONS = (
    "Memory > {0} && Cpus >= 2",
    "(KeyboardIdle > {0})",
    "TARGET.Disk > {0} || isUndefined(Owner)",
    "LoadAvg - CondorLoadAvg < 0.{0}",
)
_VALUES: Mapping[str, Callable[[Random], Scalar]] = {
    "string": lambda rng: f"{rng.choice(_WORDS)}-{rng.choice(_WORDS)}-{rng.randrange(100)}.example.com",
    "integer": lambda rng: rng.randrange(100_000),
    "boolean": lambda rng: rng.random() < 0.5,
    "expression": lambda rng: rng.choice(_EXPRESSIONS).format(rng.randrange(1000)),
    "path": lambda rng: f"/srv/volume-{rng.randrange(100)}/{rng.choice(_WORDS)}/data",
}


def value(rng: Random, type_: str) -> Scalar:
    """A value of a type."""
    return _VALUES[type_](rng)


def another(rng: Random, type_: str, old: Scalar) -> Scalar:
    """A value of a type that is not the old one."""
    if isinstance(old, bool):
        return not old
    while (new := value(rng, type_)) == old:
        pass
    return new
