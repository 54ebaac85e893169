"""ansible-inventory: features and groups are groups of hosts, variables in group_vars and host_vars.

Ansible lays variables of groups by depth, then priority: an included feature is a parent of its includer,
and all groups are equally deep, since each has a feature of the highest level.
"""

from collections import defaultdict
from collections.abc import Iterator

import msgspec

from bench.fleet import DEFAULT, Fleet
from bench.fleet.text import lines
from bench.peers.peer import Peer


def files(fleet: Fleet) -> Iterator[tuple[str, str]]:
    """hosts.yml with what is below what, and a file of variables for each group and host that has some."""
    yield "hosts.yml", _hosts(fleet)
    for one in (*fleet.features.values(), *fleet.groups.values()):
        yield f"group_vars/{one.name}.yml", lines(one.params)
    for node in fleet.nodes.values():
        if node.params:
            yield f"host_vars/{node.name}.yml", lines(node.params)


def _hosts(fleet: Fleet) -> str:
    children: dict[str, list[str]] = defaultdict(list)
    hosts: dict[str, list[str]] = defaultdict(list)
    for feature in fleet.features.values():
        for other in feature.include:
            children[other].append(feature.name)
    for group in fleet.groups.values():
        for name in group.features:
            children[name].append(group.name)
    for node in fleet.nodes.values():
        for name in (DEFAULT, *node.groups, *node.features):
            hosts[name].append(node.name)
    names = (*fleet.features, *fleet.groups)
    return "all:\n  children:\n" + "".join(_group(fleet, name, children[name], hosts[name]) for name in names)


def _group(fleet: Fleet, name: str, children: list[str], hosts: list[str]) -> str:
    text = f"    {name}:\n"
    if name in fleet.groups:
        text += f"      vars: {{ansible_group_priority: {10 - fleet.groups[name].kind}}}\n"
    for key, members in (("children", children), ("hosts", hosts)):
        if members:
            text += f"      {key}:\n" + "".join(f"        {one}: {{}}\n" for one in members)
    return text


class _Meta(msgspec.Struct):
    hostvars: dict[str, msgspec.Raw]


class _Inventory(msgspec.Struct):
    meta: _Meta = msgspec.field(name="_meta")


PEER = Peer(
    name="ansible-inventory",
    requirements=("ansible-core",),
    files=files,
    everything=lambda tool, folder: [tool.program("ansible-inventory"), "-i", str(folder), "--list"],
    one=lambda tool, folder, node: [tool.program("ansible-inventory"), "-i", str(folder), "--host", node],
    answers=lambda printed: msgspec.json.decode(printed, type=_Inventory).meta.hostvars,
    says="ansible-inventory -i DIR --list",
)
