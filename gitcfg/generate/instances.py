"""Features that are installed several times over, each instance with parameters of its own name."""

from random import Random

from gitcfg.generate.plan import Plan

_TYPES = {"SLOTS": "integer", "DIR": "path", "START": "expression", "NAME": "string", "ARGS": "list"}


def family(feature: str) -> str:
    """What the names of the feature's instances begin with."""
    return feature.upper()


def families(feature: str) -> dict[str, object]:
    """Declarations of the parameters that instances of the feature bind."""
    return {
        f"{family(feature)}_*_{key}": {"description": f"{key.title()} of one {feature}.", "type": type_}
        for key, type_ in _TYPES.items()
    }


def instance_params(plan: Plan) -> dict[str, object]:
    """What such a feature binds; beside its own parameters, each instance adds itself to a list."""
    said: dict[str, object] = {
        "${as}_SLOTS": "${with.slots}",
        "${as}_DIR": "${with.dir}/${as}",
        "${as}_START": "Cpus >= ${with.slots}",
        "${as}_NAME": "${as}",
        "${as}_ARGS": ["-name", "${as}"],
    }
    lists = (one for one in plan.parameters.ordinary.values() if one.type == "list")
    for one in lists:
        if not one.depends and not one.must_change:
            return said | {one.name: {"$append": "${as}"}}
    return said


def install_instances(plan: Plan, feature: str, rng: Random) -> dict[str, object]:
    """An entry of a list of features: all instances of one."""
    count = plan.options.instance_count
    numbers = "1" if count == 1 else f"[1-{count}]"
    attributes = {"slots": rng.randint(1, 8), "dir": f"/srv/{feature}"}
    return {"feature": feature, "as": f"{family(feature)}_{numbers}", "with": attributes}


def default_instances(plan: Plan) -> tuple[str, ...]:
    """Instanced features that every node has: the first."""
    return plan.features.instanced[:1]


def feature_instances(plan: Plan, feature: str) -> tuple[str, ...]:
    """Those that a feature of the top level includes: every second of the others."""
    return _turns(plan.features.instanced[1::2], plan.features.top, feature)


def group_instances(plan: Plan, group: int) -> tuple[str, ...]:
    """Those that a group installs: the rest."""
    return _turns(plan.features.instanced[2::2], tuple(map(str, range(plan.options.groups))), str(group))


def _turns(features: tuple[str, ...], places: tuple[str, ...], place: str) -> tuple[str, ...]:
    """The features that fall to a place, if all the places take turns."""
    return tuple(one for n, one in enumerate(features) if places and places[n % len(places)] == place)
