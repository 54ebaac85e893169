"""Random values and operations that fit a parameter."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from random import Random

import msgspec

from gitcfg.generate.options import Operations
from gitcfg.generate.parameters import PlannedParameter

FACTS: Mapping[str, str] = {
    "string": "site",
    "integer": "cores",
    "number": "weight",
    "boolean": "ssd",
    "path": "scratch",
}
_COMPOSING: Mapping[str, tuple[str, ...]] = {
    "list": ("append", "prepend", "remove"),
    "map": ("merge",),
    "expression": ("conjunction", "disjunction"),
}
_KEYS = {"conjunction": "$and", "disjunction": "$or"}
_EXPRESSIONS = (
    "TRUE",
    "Memory > {}",
    "TARGET.Cpus >= {}",
    "(KeyboardIdle > {})",
    "isUndefined(Owner{})",
    "A{0} || B{0}",
    "A{} && LoadAvg < 0.5",
    "Rank > {} ? Busy : Idle",
)


def draw_facts(rng: Random) -> dict[str, object]:
    """A node's facts: one for each type of parameter that can take one."""
    return {key: _VALUES[type_](rng) for type_, key in FACTS.items()}


def draw_value(rng: Random, parameter: PlannedParameter) -> object:
    """A plain value of the parameter's type, never an empty one."""
    return _VALUES[parameter.type](rng)


def draw_binding(rng: Random, parameter: PlannedParameter, operations: Operations) -> object:
    """What a layer says of a parameter: a plain value or an operation."""
    if parameter.secrets:
        return {"$secret": rng.choice(parameter.secrets)}
    names, weights = _fitting(
        parameter.type, parameter.must_change, parameter.needed, msgspec.structs.astuple(operations)
    )
    name = rng.choices(names, weights)[0]
    if name == "set":
        return draw_value(rng, parameter)
    if name == "null":
        return None
    return {_KEYS.get(name, f"${name}"): _operand(rng, name, parameter)}


def _operand(rng: Random, name: str, parameter: PlannedParameter) -> object:
    if name == "unset":
        return True
    if name == "fact":
        return FACTS[parameter.type]
    if parameter.type == "list":
        return _list_operand(rng, parameter.separator)
    return draw_value(rng, parameter)


def _list_operand(rng: Random, separator: str | None) -> object:
    """One item, several as text where the parameter's text is split, or a list."""
    items = _items(rng)
    if rng.random() < 0.5:
        return items
    return items[0] if separator is None else ", ".join(items)


@lru_cache(maxsize=256)
def _fitting(
    type_: str, must_change: bool, needed: bool, weights: tuple[float, ...]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """The operations that keep the repository valid, with their weights."""
    if must_change:
        return ("set",), (1.0,)
    every = dict(zip(Operations.__struct_fields__, weights, strict=True))
    names = ["set", "null", "default", *_COMPOSING.get(type_, ())]
    names += ["unset"] * (not needed) + ["fact"] * (type_ in FACTS)
    chosen = tuple(every[name] for name in names)
    return (tuple(names), chosen) if any(chosen) else (("set",), (1.0,))


def _items(rng: Random) -> list[str]:
    return [f"item-{number:02}" for number in rng.sample(range(30), rng.randint(1, 3))]


def _map(rng: Random) -> dict[str, object]:
    deep = {f"key-{rng.randrange(5)}": rng.randrange(100)}
    return {f"key-{rng.randrange(5)}": rng.randrange(100), "deep": deep}


_VALUES: Mapping[str, Callable[[Random], object]] = {
    "string": lambda rng: f"value-{rng.randrange(50)}",
    "integer": lambda rng: rng.randrange(1000),
    "number": lambda rng: rng.randrange(1000) / 8,
    "boolean": lambda rng: rng.random() < 0.5,
    "list": _items,
    "map": _map,
    "expression": lambda rng: rng.choice(_EXPRESSIONS).format(rng.randrange(64)),
    "path": lambda rng: f"/srv/volume-{rng.randrange(20)}/data",
    "any": lambda rng: rng.choice((f"plain-{rng.randrange(9)}", rng.randrange(9))),
}
