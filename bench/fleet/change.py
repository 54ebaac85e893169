"""The change that is measured: some parameters of one group get other values."""

from random import Random

import msgspec

from bench.fleet.model import DEFAULT, Fleet, Group
from bench.fleet.values import another

CHANGED = 5
"""So many parameters of the group change."""


def changed(fleet: Fleet) -> Fleet:
    """The fleet after the change; everything else is the same."""
    group = _group(fleet)
    rng = Random(f"{fleet.options.seed}/change")
    names = [name for name in group.params if name in fleet.common][:CHANGED]
    new = {name: another(rng, fleet.parameters[name].type, group.params[name]) for name in names}
    after = msgspec.structs.replace(group, params={**group.params, **new})
    return msgspec.structs.replace(fleet, groups={**fleet.groups, group.name: after})


def members(fleet: Fleet) -> tuple[str, ...]:
    """The nodes of the group that changes."""
    name = _group(fleet).name
    return tuple(one.name for one in fleet.nodes.values() if name in one.groups)


def _group(fleet: Fleet) -> Group:
    """The first group of the kind that stands highest."""
    return next(one for one in fleet.groups.values() if one.kind == 0 and one.name != DEFAULT)
