"""A fleet in gitcfg's own format: a file a feature, group, node and node set; a hundred parameters a file."""

import json
from collections.abc import Iterator
from itertools import chain
from random import Random

from bench.fleet.model import DEFAULT, Feature, Fleet, Group, Node, Parameter, Scalar
from bench.fleet.text import bound, listed

A_FILE = 100
_MAX_NODES = 200_000
_CONDOR = '  /etc/condor/config.d/50-gitcfg.config: {format: condor, params: ["*"], mode: "0644"}\n'


def files(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """Path and text of every file."""
    count = fleet.options.sets * fleet.options.set_size
    yield "gitcfg.yaml", "format: 1\n" + (f"max_nodes: {count}\n" if count > _MAX_NODES else "")
    yield from _parameters(fleet)
    yield "subsystems/condor.yaml", _subsystems(fleet)
    yield from ((f"features/{one.name}.yaml", _feature(one)) for one in fleet.features.values())
    yield from ((f"groups/{one.name}.yaml", _group(one)) for one in fleet.groups.values())
    yield from ((f"nodes/{one.name}.yaml", _node(one)) for one in fleet.nodes.values())
    for one in fleet.sets:
        head = f"nodes: {one.nodes}\n" + listed("groups", one.groups)
        yield f"nodesets/{one.name}.yaml", head + bound("params", one.params)


def _parameters(fleet: Fleet) -> Iterator[tuple[str, str]]:
    every = list(fleet.parameters.values())
    for first in range(0, len(every), A_FILE):
        text = "".join(map(_parameter, every[first : first + A_FILE]))
        yield f"parameters/p{first // A_FILE:02}.yaml", f"parameters:\n{text}"


def _parameter(one: Parameter) -> str:
    said: dict[str, object] = {
        "description": f"Decides about {one.name.lower().replace('_', ' ')}.",
        "type": one.type,
        "schema": one.schema,
        "default": one.default,
        "must_change": one.must_change or None,
        "restart": True if len(one.depends) or one.must_change else None,
        "depends": one.depends or None,
        "conflicts": one.conflicts or None,
    }
    written = (f"    {key}: {json.dumps(value)}\n" for key, value in said.items() if value is not None)
    return f"  {one.name}:\n" + "".join(written)


def _subsystems(fleet: Fleet) -> str:
    """Three daemons that care for a third of the parameters each, by their names' beginnings."""
    daemons = {
        "master": ["STRING_*"],
        "startd": ["EXPRESSION_*", "INTEGER_*"],
        "schedd": ["PATH_*", "BOOLEAN_*"],
    }
    said = {
        name: {"description": f"The {name}.", "params": globs, "reload": ["condor_reconfig", "-daemon", name]}
        for name, globs in daemons.items()
    }
    return "subsystems:\n" + "".join(f"  {name}: {json.dumps(one)}\n" for name, one in said.items())


def _feature(one: Feature) -> str:
    lists = chain([("include", one.include)], [("depends", one.depends)], [("conflicts", one.conflicts)])
    head = f"description: What makes a machine a {one.name}.\n"
    return head + "".join(listed(key, names) for key, names in lists) + bound("params", one.params)


def _group(one: Group) -> str:
    text = f"description: The machines of {one.name}.\n" + listed("features", one.features)
    text += bound("params", one.params)
    return text + (f"files:\n{_CONDOR}" if one.name == DEFAULT else "")


def _node(one: Node) -> str:
    rng = Random(one.name)
    text = listed("groups", one.groups) + listed("features", one.features) + bound("params", one.params)
    facts: dict[str, Scalar] = {"site": f"site-{rng.randrange(20)}", "cores": rng.randrange(8, 129)}
    return text + listed("labels", [rng.choice(("server", "workstation"))]) + bound("facts", facts)
