"""The files of features and groups: what nodes share."""

from collections.abc import Iterator

from gitcfg.generate import instances
from gitcfg.generate.chance import random_part
from gitcfg.generate.emit import to_yaml
from gitcfg.generate.features import PlannedFeature
from gitcfg.generate.groups import PlannedGroup
from gitcfg.generate.plan import Plan

_FORMATS = ("condor", "json", "env", "yaml", "ini", "toml")
_NESTING = ("json", "yaml", "toml")


def feature_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """One file a feature."""
    rivals = [one for pair in plan.features.rivals for one in pair]
    for one in [*plan.features.ordinary.values(), *rivals]:
        yield f"features/{one.name}.yaml", _feature(plan, one)
    for name in plan.features.instanced:
        content = {"description": f"{name}, several on a machine.", "params": instances.instance_params(plan)}
        yield f"features/{name}.yaml", to_yaml(content)


def _feature(plan: Plan, one: PlannedFeature) -> str:
    rng = random_part(plan.options, "feature", one.name)
    several = [
        instances.install_instances(plan, other, rng) for other in instances.feature_instances(plan, one.name)
    ]
    return to_yaml(
        {
            "description": f"What makes a machine a {one.name}.",
            "include": [*several, *one.include],
            "depends": one.depends,
            "conflicts": one.conflicts,
            "after": one.depends[:1],
            "params": plan.bindings(rng, plan.options.feature_params),
        }
    )


def group_files(plan: Plan) -> Iterator[tuple[str, str]]:
    """The default group, then one file a group."""
    yield "groups/default.yaml", _default(plan)
    for number, one in enumerate(plan.groups):
        yield f"groups/{one.name}.yaml", _group(plan, number, one)


def _default(plan: Plan) -> str:
    rng = random_part(plan.options, "default group")
    several = [instances.install_instances(plan, name, rng) for name in instances.default_instances(plan)]
    return to_yaml(
        {
            "description": "What every node has.",
            "features": [*several, *plan.any_features(rng, plan.options.default_features)],
            "params": plan.bindings(rng, plan.options.group_params),
            "files": dict(_entry(number) for number in range(plan.options.files)),
        }
    )


def _entry(number: int) -> tuple[str, dict[str, object]]:
    """A file with all parameters that its format can carry."""
    name = _FORMATS[number % len(_FORMATS)]
    params = ["*"] if name in _NESTING else ["*", "!MAP_*"]
    return f"/etc/generated/{number}.{name}", {"format": name, "params": params}


def _group(plan: Plan, number: int, one: PlannedGroup) -> str:
    rng = random_part(plan.options, "group", number)
    several = [
        instances.install_instances(plan, name, rng) for name in instances.group_instances(plan, number)
    ]
    return to_yaml(
        {
            "description": f"Machines of kind {one.kind}.",
            "features": [*several, *one.features],
            "params": plan.bindings(rng, plan.options.group_params) | plan.bind(rng, one.rivals),
        }
    )
