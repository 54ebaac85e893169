"""The files that declare: settings, parameters, families of instances' parameters, subsystems."""

from collections import ChainMap
from collections.abc import Iterator, Mapping

from gitcfg.generate.chance import random_part, sample
from gitcfg.generate.emit import to_yaml
from gitcfg.generate.instances import families
from gitcfg.generate.options import Options
from gitcfg.generate.parameters import A_FILE, PlannedParameter
from gitcfg.generate.plan import Plan
from gitcfg.generate.values import draw_value

_MAX_NODES = 200_000
_SCHEMAS: Mapping[str, Mapping[str, object]] = {"integer": {"minimum": 0}, "string": {"minLength": 1}}


def settings(options: Options) -> tuple[str, str]:
    """gitcfg.yaml."""
    text = "format: 1\n"
    return "gitcfg.yaml", text + (f"max_nodes: {options.nodes}\n" if options.nodes > _MAX_NODES else "")


def parameter_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """Every parameter's declaration, many in a file."""
    rivals = [one for pair in plan.parameters.rivals for one in pair]
    every = [*plan.parameters.ordinary.values(), *rivals]
    for start in range(0, len(every), A_FILE):
        declared = {one.name: _declaration(plan, one) for one in every[start : start + A_FILE]}
        yield f"parameters/p{start // A_FILE:03}.yaml", to_yaml({"parameters": declared})
    instances = [families(name) for name in plan.features.instanced]
    if instances:
        yield "parameters/instances.yaml", to_yaml({"parameters": dict(ChainMap(*instances))})


def _declaration(plan: Plan, one: PlannedParameter) -> dict[str, object]:
    rng = random_part(plan.options, "declaration", one.name)
    said: dict[str, object] = {"description": f"Decides about {one.name.lower().replace('_', ' ')}."}
    if one.type != "any":
        said["type"] = one.type
    if one.type in _SCHEMAS:
        said["schema"] = _SCHEMAS[one.type]
    if one.type == "list" and rng.random() < 0.2:
        said["unique"] = True
    if one.default:
        said["default"] = draw_value(rng, one)
    if rng.random() < 0.2:
        said["restart"] = True
    written = {
        "separator": one.separator,
        "must_change": one.must_change,
        "depends": one.depends,
        "conflicts": one.conflicts,
        "secret": bool(one.secrets),
    }
    return said | {key: what for key, what in written.items() if what}


def subsystem_file(plan: Plan) -> Iterator[tuple[str, str]]:
    """All subsystems, in one file: each cares for some parameters by name and some by their family."""
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
