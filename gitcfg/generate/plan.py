"""The plan of a random repository, made before the first file is written."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from math import isqrt
from random import Random
from typing import Any, TypeVar

import msgspec

from gitcfg.generate.options import Operations, Options, Types

T = TypeVar("T")


def random_part(options: Options, *part: object) -> Random:
    """Return the random numbers of one part, which depend only on the seed and the part's name."""
    return Random("/".join(map(str, (options.seed, *part))))


def sample(rng: Random, things: tuple[T, ...], count: int) -> list[T]:
    """Return `count` different things, or all if there are fewer."""
    return rng.sample(things, min(count, len(things)))


def sample_pairs(rng: Random, size: int, count: int) -> Iterator[tuple[int, int]]:
    """Return different pairs (high, low) of numbers below a size, `count` of them or all."""
    total = size * (size - 1) // 2
    for rank in sorted(rng.sample(range(total), min(count, total))):
        high = (1 + isqrt(1 + 8 * rank)) // 2
        yield high, rank - high * (high - 1) // 2


def _reach(names: Iterable[str], neighbours: Callable[[str], Iterable[str]]) -> list[str]:
    """Return the names and all that can be reached from them, each once, nearest first."""
    found = list(dict.fromkeys(names))
    known = set(found)
    for name in found:
        new = [other for other in dict.fromkeys(neighbours(name)) if other not in known]
        found.extend(new)
        known.update(new)
    return found


# The parameters of a random repository: planned first, so that everything that binds them is valid.

A_FILE = 100
_SECRET_TYPES = ("string", "integer", "list", "path", "boolean", "expression", "number")


class PlannedParameter(msgspec.Struct, frozen=True):
    """A planned parameter. `needed`: others depend on it, so nothing may unset it.

    `secrets` are those that it may be bound to; if there are any, it is bound to nothing else.
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
    """All parameters: those that any layer may bind, and pairs that are never together on a node."""

    ordinary: Mapping[str, PlannedParameter]
    rivals: tuple[tuple[PlannedParameter, PlannedParameter], ...]

    @property
    def secrets(self) -> tuple[str, ...]:
        """The names of all secrets."""
        return tuple(dict.fromkeys(name for one in self.ordinary.values() for name in one.secrets))

    def closed(self, names: Iterable[str]) -> list[str]:
        """Return the names, followed by all that they depend on."""
        return _reach(names, lambda name: self.ordinary[name].depends)


def plan_parameters(options: Options) -> Parameters:
    """Decide every parameter's name, type and relations."""
    rng = random_part(options, "parameters")
    drawn = [_draw_parameter(rng, number, options.types) for number in range(options.parameters)]
    rivals = drawn[len(drawn) - 2 * options.conflicts :]
    ordinary = drawn[: len(drawn) - len(rivals)]
    edges = list(sample_pairs(rng, len(ordinary), options.depends))
    for high, low in edges:
        depends = (*ordinary[high].depends, ordinary[low].name)
        ordinary[high] = msgspec.structs.replace(ordinary[high], depends=depends)
        ordinary[low] = msgspec.structs.replace(ordinary[low], needed=True)
    ordinary += _plan_secrets(options.secrets)
    pairs = tuple(
        (msgspec.structs.replace(left, conflicts=(right.name,)), right)
        for left, right in zip(rivals[::2], rivals[1::2], strict=True)
    )
    return Parameters({one.name: one for one in ordinary}, pairs)


def _draw_parameter(rng: Random, number: int, types: Types) -> PlannedParameter:
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


def _plan_secrets(count: int) -> list[PlannedParameter]:
    """Return parameters for secrets. Two of each type share two secrets."""
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


# The features of a random repository: which include and depend on which, and which are never together.


class PlannedFeature(msgspec.Struct, frozen=True):
    """A planned feature. Only one feature of a pair lists the other in `conflicts`."""

    name: str
    include: tuple[str, ...] = ()
    depends: tuple[str, ...] = ()
    conflicts: tuple[str, ...] = ()


class Features(msgspec.Struct, frozen=True):
    """All features by name: ordinary ones, pairs that are never together on a node, and those with instances.

    `top` are the ordinary ones of the highest level, `spare` those that `without` may remove from a node.
    """

    ordinary: Mapping[str, PlannedFeature]
    rivals: tuple[tuple[PlannedFeature, PlannedFeature], ...]
    instanced: tuple[str, ...]
    top: tuple[str, ...]
    spare: frozenset[str]

    def reached(self, names: Iterable[str]) -> list[str]:
        """Return the ordinary features among these, and all that they include."""
        return _reach(filter(self.ordinary.__contains__, names), lambda name: self.ordinary[name].include)

    def closed(self, names: Iterable[str]) -> list[str]:
        """Return the names, followed by features that satisfy the dependences of these and their includes."""
        chosen = list(dict.fromkeys(names))
        while True:
            found = dict.fromkeys(self.reached(chosen))
            needed = (other for name in found for other in self.ordinary[name].depends)
            missing = next((other for other in needed if other not in found), None)
            if missing is None:
                return chosen
            chosen.append(missing)


def plan_features(options: Options) -> Features:
    """Decide every feature's name and relations. It includes and depends on lower numbers only."""
    names = [f"feature{number:03}" for number in range(options.features)]
    instanced = names[len(names) - round(options.instances * options.features) :]
    rest = names[: len(names) - len(instanced)]
    rivals = rest[len(rest) - 2 * options.conflicts :]
    ordinary = _plan_ordinary(options, rest[: len(rest) - len(rivals)])
    needed = {other for one in ordinary.values() for other in one.depends}
    spare = {one.name for one in ordinary.values() if not one.include} - needed
    depth = min(options.include_depth, len(ordinary)) or 1
    return Features(
        ordinary,
        tuple(
            (PlannedFeature(a, conflicts=(b,)), PlannedFeature(b))
            for a, b in zip(rivals[::2], rivals[1::2], strict=True)
        ),
        tuple(instanced),
        tuple(ordinary)[len(ordinary) * (depth - 1) // depth :],
        frozenset(spare),
    )


def _plan_ordinary(options: Options, names: list[str]) -> dict[str, PlannedFeature]:
    rng = random_part(options, "features")
    edges = list(sample_pairs(rng, len(names), options.depends))
    depends = {high: tuple(names[low] for other, low in edges if other == high) for high, _ in edges}
    depth = min(options.include_depth, len(names)) or 1
    bounds = [len(names) * level // depth for level in range(depth + 1)]
    planned = {}
    for level in range(depth):
        below = tuple(names[bounds[level - 1] : bounds[level]]) if level else ()
        for number in range(bounds[level], bounds[level + 1]):
            include = tuple(sample(rng, below, options.include_fanout))
            planned[names[number]] = PlannedFeature(names[number], include, depends.get(number, ()))
    return planned


# The groups of a random repository: which features each installs, and which are never together.


class PlannedGroup(msgspec.Struct, frozen=True):
    """A planned group; `rivals` are parameters that conflict with another group's of its kind."""

    name: str
    kind: int
    features: tuple[str, ...]
    rivals: tuple[PlannedParameter, ...]


def group_kinds(options: Options) -> int:
    """Return how many kinds of groups there are: a node is in one group of each."""
    return max(options.memberships, 1)


def plan_groups(options: Options, known: Features, declared: Parameters) -> tuple[PlannedGroup, ...]:
    """Decide every group's features, so that no node can have both sides of a conflict."""
    groups = []
    for number in range(options.groups):
        rng = random_part(options, "group's features", number)
        # Features of the top level in turn, so that as many as possible are in use, and some random ones.
        turn = [known.top[number % len(known.top)]] if known.top else []
        chosen = dict.fromkeys([*turn, *sample(rng, known.top, options.group_features)])
        features = known.closed(list(chosen)[: options.group_features])
        sides = [(pair, _find_side(options, number, pair)) for pair in range(options.conflicts)]
        own = [(pair, side) for pair, side in sides if side is not None]
        groups.append(
            PlannedGroup(
                f"group{number:03}",
                number % group_kinds(options),
                (*(known.rivals[pair][side].name for pair, side in own), *features),
                tuple(declared.rivals[pair][side] for pair, side in own),
            )
        )
    return tuple(groups)


def _find_side(options: Options, number: int, pair: int) -> int | None:
    """Return the group's side (0 or 1) of a conflict; None if it has neither.

    The two sides are neighboring groups of one kind.
    """
    alike = range(pair % group_kinds(options), options.groups, group_kinds(options))
    turn = pair // group_kinds(options)
    places = [alike[turn % len(alike)], alike[(turn + 1) % len(alike)]]
    return places.index(number) if number in places else None


# Random values and operations that fit a parameter.

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
    """Return a node's facts: one for each type of parameter that can take one."""
    return {key: _VALUES[type_](rng) for type_, key in FACTS.items()}


def draw_value(rng: Random, parameter: PlannedParameter) -> Any:
    """Return a plain value of the parameter's type, never an empty one."""
    return _VALUES[parameter.type](rng)


def draw_binding(rng: Random, parameter: PlannedParameter, operations: Operations) -> object:
    """Return the binding of a parameter in a layer: a plain value or an operation."""
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
    value = draw_value(rng, parameter)
    if parameter.type == "list" and rng.random() >= 0.5:
        # Text: one item, or several if the parameter has a separator.
        return value[0] if parameter.separator is None else ", ".join(value)
    return value


@lru_cache(maxsize=256)
def _fitting(
    type_: str, must_change: bool, needed: bool, weights: tuple[float, ...]
) -> tuple[tuple[str, ...], tuple[float, ...]]:
    """Return the operations that keep the repository valid, with their weights."""
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


_VALUES: Mapping[str, Callable[[Random], Any]] = {
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


class Plan(msgspec.Struct, frozen=True):
    """The options with the parameters, features and groups that were drawn from them."""

    options: Options
    parameters: Parameters
    features: Features
    groups: tuple[PlannedGroup, ...]

    def bindings(self, rng: Random, count: int) -> dict[str, object]:
        """Return the bindings of one layer: `count` parameters, and those that they depend on."""
        chosen = sample(rng, tuple(self.parameters.ordinary), count)
        return self.bind(rng, (self.parameters.ordinary[name] for name in self.parameters.closed(chosen)))

    def bind(self, rng: Random, chosen: Iterable[PlannedParameter]) -> dict[str, object]:
        """Return a binding of each of these parameters."""
        return {one.name: draw_binding(rng, one, self.options.operations) for one in chosen}

    def any_features(self, rng: Random, count: int) -> list[str]:
        """Return `count` features, with what they depend on."""
        return self.features.closed(sample(rng, tuple(self.features.ordinary), count))

    def spare(self, members: Iterable[PlannedGroup]) -> tuple[str, ...]:
        """Return the features that a member of these groups has and that `without` may remove."""
        reached = self.features.reached(name for group in members for name in group.features)
        return tuple(name for name in reached if name in self.features.spare)


def plan_repository(options: Options) -> Plan:
    """Draw the parameters, features and groups at random."""
    declared = plan_parameters(options)
    known = plan_features(options)
    return Plan(options, declared, known, plan_groups(options, known, declared))
