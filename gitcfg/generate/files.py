"""The files of a random repository, made from its plan."""

import base64
import json
from collections import ChainMap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from random import Random

from gitcfg.generate.options import Options
from gitcfg.generate.plan import (
    A_FILE,
    Plan,
    PlannedFeature,
    PlannedGroup,
    PlannedParameter,
    T,
    draw_facts,
    draw_value,
    group_kinds,
    random_part,
    sample,
)


def to_yaml(content: Mapping[str, object]) -> str:
    """Format a mapping as YAML, without the empty collections in it."""
    return "".join(_entry(key, value) for key, value in content.items() if value not in ((), [], {}))


def _entry(key: str, value: object) -> str:
    if not isinstance(value, Mapping):
        return f"{key}: {json.dumps(value)}\n"
    return f"{key}:\n" + "".join(f"  {json.dumps(name)}: {json.dumps(value[name])}\n" for name in value)


# Features with several instances, each instance with parameters of its own name.

_TYPES = {"SLOTS": "integer", "DIR": "path", "START": "expression", "NAME": "string", "ARGS": "list"}


def _declare_instances(feature: str) -> dict[str, object]:
    """Return declarations of the parameters that instances of the feature bind."""
    return {
        f"{feature.upper()}_*_{key}": {"description": f"{key.title()} of one {feature}.", "type": type_}
        for key, type_ in _TYPES.items()
    }


def _instance_params(plan: Plan) -> dict[str, object]:
    """Return what such a feature binds: its own parameters, and a list that each instance adds itself to."""
    params: dict[str, object] = {
        "${as}_SLOTS": "${with.slots}",
        "${as}_DIR": "${with.dir}/${as}",
        "${as}_START": "Cpus >= ${with.slots}",
        "${as}_NAME": "${as}",
        "${as}_ARGS": ["-name", "${as}"],
    }
    for one in plan.parameters.ordinary.values():
        if one.type == "list" and not one.depends and not one.must_change:
            return params | {one.name: {"$append": "${as}"}}
    return params


def _install_instances(plan: Plan, features: Iterable[str], rng: Random) -> list[object]:
    """Return entries of a list of features: all instances of each."""
    count = plan.options.instance_count
    numbers = "1" if count == 1 else f"[1-{count}]"
    return [
        {
            "feature": feature,
            "as": f"{feature.upper()}_{numbers}",
            "with": {"slots": rng.randint(1, 8), "dir": f"/srv/{feature}"},
        }
        for feature in features
    ]


def _share(features: Sequence[str], places: Sequence[T], place: T) -> list[str]:
    """Return the features of a place, if features are dealt to all places in turn."""
    return [one for number, one in enumerate(features) if places and places[number % len(places)] == place]


# The files of declarations: settings, parameters, families of instances' parameters, subsystems.

_MAX_NODES = 200_000
_SCHEMAS: Mapping[str, Mapping[str, object]] = {"integer": {"minimum": 0}, "string": {"minLength": 1}}


def settings(options: Options) -> tuple[str, str]:
    """Return gitcfg.yaml."""
    limit = f"max_nodes: {options.nodes}\n" if options.nodes > _MAX_NODES else ""
    return "gitcfg.yaml", f"format: 1\n{limit}"


def parameter_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Return every parameter's declaration, with many in each file."""
    rivals = [one for pair in plan.parameters.rivals for one in pair]
    every = [*plan.parameters.ordinary.values(), *rivals]
    for start in range(0, len(every), A_FILE):
        declared = {one.name: _declaration(plan, one) for one in every[start : start + A_FILE]}
        yield f"parameters/p{start // A_FILE:03}.yaml", to_yaml({"parameters": declared})
    instances = [_declare_instances(name) for name in plan.features.instanced]
    if instances:
        yield "parameters/instances.yaml", to_yaml({"parameters": dict(ChainMap(*instances))})


def _declaration(plan: Plan, one: PlannedParameter) -> dict[str, object]:
    rng = random_part(plan.options, "declaration", one.name)
    declaration: dict[str, object] = {
        "description": f"Decides about {one.name.lower().replace('_', ' ')}.",
        "type": one.type if one.type != "any" else None,
        "schema": _SCHEMAS.get(one.type),
        "unique": one.type == "list" and rng.random() < 0.2,
    }
    if one.default:
        declaration["default"] = draw_value(rng, one)
    declaration |= {
        "restart": rng.random() < 0.2,
        "separator": one.separator,
        "must_change": one.must_change,
        "depends": one.depends,
        "conflicts": one.conflicts,
        "secret": bool(one.secrets),
    }
    return {key: value for key, value in declaration.items() if value or key == "default"}


def subsystem_file(plan: Plan) -> Iterator[tuple[str, str]]:
    """Return all subsystems, in one file: each has some parameters by name and some by their family."""
    rng = random_part(plan.options, "subsystems")
    subsystems: dict[str, object] = {}
    for number in range(plan.options.subsystems):
        name = f"subsystem{number:02}"
        subsystems[name] = {
            "description": f"Process {number}.",
            "params": [*sample(rng, tuple(plan.parameters.ordinary), 8), f"*_{rng.randrange(100):02}?"],
            "reload": ["/bin/true", "reload", name],
            "restart": ["/bin/true", "restart", name],
        }
    if subsystems:
        yield "subsystems/subsystems.yaml", to_yaml({"subsystems": subsystems})


# The files of features and groups: what nodes share.

_FORMATS = ("condor", "json", "env", "yaml", "ini", "toml")
_NESTING = ("json", "yaml", "toml")


def feature_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield one file for each feature."""
    rivals = [one for pair in plan.features.rivals for one in pair]
    for one in [*plan.features.ordinary.values(), *rivals]:
        yield f"features/{one.name}.yaml", _feature(plan, one)
    for name in plan.features.instanced:
        content = {"description": f"{name}, several on a machine.", "params": _instance_params(plan)}
        yield f"features/{name}.yaml", to_yaml(content)


def _feature(plan: Plan, one: PlannedFeature) -> str:
    rng = random_part(plan.options, "feature", one.name)
    # The first feature with instances is on all nodes; half of the others are in features of the top level.
    instances = _share(plan.features.instanced[1::2], plan.features.top, one.name)
    return to_yaml(
        {
            "description": f"What makes a machine a {one.name}.",
            "include": [*_install_instances(plan, instances, rng), *one.include],
            "depends": one.depends,
            "conflicts": one.conflicts,
            "after": one.depends[:1],
            "params": plan.bindings(rng, plan.options.feature_params),
        }
    )


def group_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield the default group, then one file for each group."""
    yield "groups/default.yaml", _default(plan)
    for number, one in enumerate(plan.groups):
        yield f"groups/{one.name}.yaml", _group(plan, number, one)


def _default(plan: Plan) -> str:
    rng = random_part(plan.options, "default group")
    several = _install_instances(plan, plan.features.instanced[:1], rng)
    return to_yaml(
        {
            "description": "What every node has.",
            "features": [*several, *plan.any_features(rng, plan.options.default_features)],
            "params": plan.bindings(rng, plan.options.group_params),
            "files": dict(_file_entry(number) for number in range(plan.options.files)),
        }
    )


def _file_entry(number: int) -> tuple[str, dict[str, object]]:
    """Return a file with all parameters that its format can carry."""
    name = _FORMATS[number % len(_FORMATS)]
    params = ["*"] if name in _NESTING else ["*", "!MAP_*"]
    return f"/etc/generated/{number}.{name}", {"format": name, "params": params}


def _group(plan: Plan, number: int, one: PlannedGroup) -> str:
    rng = random_part(plan.options, "group", number)
    instances = _share(plan.features.instanced[2::2], range(plan.options.groups), number)
    return to_yaml(
        {
            "description": f"Machines of kind {one.kind}.",
            "features": [*_install_instances(plan, instances, rng), *one.features],
            "params": plan.bindings(rng, plan.options.group_params) | plan.bind(rng, one.rivals),
        }
    )


# The files of nodes and node sets.


def host(options: Options, number: int | str) -> str:
    """Return a node's host name. Numbers count from 1; a text is in the notation of node sets."""
    return f"node{number if isinstance(number, str) else digits(options, number)}.example.com"


def digits(options: Options, number: int) -> str:
    """Return a node's number as in host names: all have the same width."""
    return f"{number:0{max(5, len(str(options.nodes)))}}"


def node_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield node sets with the files that some members have of their own, then a file for each other node."""
    in_sets = round(plan.options.sets * plan.options.nodes)
    for first in range(1, in_sets + 1, plan.options.set_size):
        yield from _set(plan, range(first, min(first + plan.options.set_size, in_sets + 1)))
    for number in range(in_sets + 1, plan.options.nodes + 1):
        rng = random_part(plan.options, "node", number)
        yield f"nodes/{host(plan.options, number)}.yaml", to_yaml(_machine(plan, rng))


def _machine(plan: Plan, rng: Random) -> dict[str, object]:
    """Return the definition of a node or a node set."""
    groups = [
        rng.choice(plan.groups[kind :: group_kinds(plan.options)]) for kind in range(plan.options.memberships)
    ]
    own = rng.random() < plan.options.identity
    without = rng.random() < plan.options.without
    return {
        "groups": [group.name for group in groups],
        "features": plan.any_features(rng, plan.options.identity_features) if own else [],
        "without": sample(rng, plan.spare(groups), 1) if without else [],
        "params": plan.bindings(rng, plan.options.identity_params) if own else {},
        "labels": [rng.choice(("server", "workstation")), rng.choice(("ssd", "disk"))],
        "facts": draw_facts(rng),
    }


def _set(plan: Plan, numbers: range) -> Iterator[tuple[str, str]]:
    rng = random_part(plan.options, "node set", numbers.start)
    content = _machine(plan, rng)
    span = "-".join(digits(plan.options, number) for number in dict.fromkeys((numbers[0], numbers[-1])))
    members = host(plan.options, f"[{span}]" if len(numbers) > 1 else span)
    yield f"nodesets/set{digits(plan.options, numbers.start)}.yaml", to_yaml({"nodes": members} | content)
    for number in numbers:
        if rng.random() < plan.options.set_files:
            yield f"nodes/{host(plan.options, number)}.yaml", _member(plan, rng, content["features"])


def _member(plan: Plan, rng: Random, given: object) -> str:
    """Return the own file of a node set's member: some values, and a feature that the set does not have."""
    assert isinstance(given, list)
    more = [name for name in plan.any_features(rng, plan.options.identity_features) if name not in given]
    return to_yaml(
        {
            "features": {"$append": more} if more else {},
            "params": plan.bindings(rng, max(plan.options.identity_params, 1)),
            "facts": {"cores": rng.randrange(1000)},
        }
    )


# The files of overrides: what one node has for some time.

END = "2999-12-31"


def override_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Return overrides, each of a random node; none ever ends."""
    for number in range(plan.options.overrides if plan.options.nodes else 0):
        rng = random_part(plan.options, "override", number)
        content = {
            "nodes": host(plan.options, rng.randint(1, plan.options.nodes)),
            "reason": f"maintenance, ticket {rng.randrange(1000, 10000)}",
            "until": END,
            "params": plan.bindings(rng, 2),
        }
        yield f"overrides/o{number:04}.yaml", to_yaml(content)


# The secrets of a random repository, in files that look encrypted without the key.

RECIPIENT = "age17gzwvlp9c22965equw8cfwjudn8gq4w5vf85c8ncpygug9c93fxqy0wh68"
_LINE = 64  # letters of a line of armor


def secret_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Yield two files for each secret, which every node may have."""
    for name in plan.parameters.secrets:
        rng = random_part(plan.options, "secret", name)
        yield from secret(name, rng.randrange(1, 10), rng.randbytes(160))


def secret(name: str, version: int, noise: bytes, condition: str = "true") -> Iterator[tuple[str, str]]:
    """Yield the files of a secret for the nodes for which `condition` holds; `noise` are 160 random bytes."""
    content = {
        "description": f"What only {name} opens.",
        "for": condition,
        "version": version,
        "recipients": [f"{RECIPIENT} nobody"],
    }
    yield f"secrets/{name}.yaml", to_yaml(content)
    yield f"secrets/{name}.age", _encrypt_nothing(noise)


def _encrypt_nothing(noise: bytes) -> str:
    """Return a file for one recipient, as age writes it; only its key shows that it contains nothing."""
    share, key, mac = (_base64(noise[start : start + 32]).rstrip("=") for start in (0, 32, 64))
    header = f"age-encryption.org/v1\n-> X25519 {share}\n{key}\n--- {mac}\n"
    text = _base64(header.encode() + noise[96:])
    lines = [text[start : start + _LINE] for start in range(0, len(text), _LINE)]
    return "\n".join(("-----BEGIN AGE ENCRYPTED FILE-----", *lines, "-----END AGE ENCRYPTED FILE-----", ""))


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
