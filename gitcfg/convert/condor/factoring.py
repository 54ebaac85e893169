"""What hosts have in common: features of settings that equal sets of hosts share, and each host's rest."""

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePath

import msgspec

from gitcfg.convert.condor.chains import Chain, Step

COMMON = "Common"
Hosts = frozenset[str]
Chains = Mapping[str, Mapping[str, Chain]]
"""Each host's settings by name in lower case."""


class Feature(msgspec.Struct, frozen=True):
    """A feature: the hosts that have it, and its steps by setting."""

    name: str
    hosts: Hosts
    steps: Mapping[str, tuple[Step, ...]]


class _Element(msgspec.Struct, frozen=True):
    key: str
    step: Step


def factor_features(hosts: Chains, named: Mapping[str, Hosts], texts: Iterable[Hosts]) -> list[Feature]:
    """The features, lowest first. `named` are the hosts of annotated ones, `texts` the hosts of each text."""
    holders = _find_holders(hosts)
    groups: dict[tuple[str, Hosts], list[_Element]] = {(name, who): [] for name, who in named.items()}
    for element, who in holders.items():
        name = element.step.feature
        if named.get(name) == who:
            groups[name, who].append(element)
        elif len(who) > 1 or len(hosts) == 1:
            groups.setdefault(("", who), []).append(element)
    for who in texts:
        if len(who) > 1 or len(hosts) == 1:
            groups.setdefault(("", who), [])
    called = _choose_names(groups, hosts)
    order = sorted(groups, key=lambda group: (-len(group[1]), group[0] != "", called[group]))
    return [
        Feature(called[group], group[1], _select_steps(groups[group], hosts, group[1])) for group in order
    ]


def _find_holders(hosts: Chains) -> dict[_Element, Hosts]:
    """Which hosts have a step of a setting; a step twice on a host counts for its own rest."""
    found: dict[_Element, list[str]] = {}
    for host in sorted(hosts):
        for key in sorted(hosts[host]):
            for step in dict.fromkeys(hosts[host][key].steps):
                found.setdefault(_Element(key, step), []).append(host)
    return {element: frozenset(who) for element, who in found.items()}


def _select_steps(elements: list[_Element], hosts: Chains, who: Hosts) -> dict[str, tuple[Step, ...]]:
    """A feature's steps, in the order that its first host has them."""
    first = hosts[min(who)]
    wanted = set(elements)
    return {
        key: tuple(step for step in first[key].steps if _Element(key, step) in wanted)
        for key in sorted({element.key for element in elements})
    }


def _choose_names(
    groups: Mapping[tuple[str, Hosts], list[_Element]], hosts: Chains
) -> dict[tuple[str, Hosts], str]:
    """A name for each group: the annotation's, or after the one file that all of it is from."""
    taken = {name.lower() for name, _ in groups if name}
    result = {}
    for name, who in sorted(groups, key=lambda group: (group[0] == "", -len(group[1]), sorted(group[1]))):
        called = name
        if not name:
            called = COMMON if len(who) == len(hosts) else _name_after_file(groups[name, who], hosts, who)
            called = _free_name(called, taken)
        taken.add(called.lower())
        result[name, who] = called
    return result


def _free_name(name: str, taken: set[str]) -> str:
    number, free = 2, name
    while free.lower() in taken:
        free, number = f"{name}{number}", number + 1
    return free


def _name_after_file(elements: list[_Element], hosts: Chains, who: Hosts) -> str:
    files = {PurePath(hosts[host][element.key].file).stem for element in elements for host in who}
    words = re.findall(r"[A-Za-z][A-Za-z0-9]*", files.pop()) if len(files) == 1 else []
    return "".join(word[0].upper() + word[1:] for word in words)[:60] or "Shared"
