"""Features from the common parts of hosts: each setting as steps, and the hosts that share a step."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from itertools import count
from pathlib import PurePath

import msgspec

from gitcfg.compile.values import find_unfit, join_list, split_list
from gitcfg.convert.condor.host import Host, Setting, apply_value, find_own_macros, split_addition

_LISTS = re.compile(
    r"(?:DC_)?DAEMON_LIST|(?:\w+\.)?(?:ALLOW|DENY|HOSTALLOW|HOSTDENY)_\w+|\w+_(?:ATTRS|EXPRS|METHODS|JOBLIST)"
    r"|FLOCK_(?:TO|FROM)|QUEUE_SUPER_USERS|JOB_ROUTER_ROUTE_NAMES|\w+_NAMES|SHADOW_LIST|STARTER_LIST",
    re.IGNORECASE,
)
"""Names of lists that HTCondor splits at blanks and commas alike."""
_BLANKS = " \t\v\f\r"  # what HTCondor removes at the ends, and a file cannot contain
_ODD = re.compile(r"""[<>=!&|?;'"\[\]{}\\]|(?:^|\s)[-+]""")
COMMON = "Common"


class Action(StrEnum):
    """The action of a step."""

    SET = "set"
    APPEND = "$append"
    PREPEND = "$prepend"


class Step(msgspec.Struct, frozen=True):
    """A step: its action, its text, and the feature that it is in."""

    act: Action
    text: str
    feature: str
    default: bool = False


class Chain(msgspec.Struct, frozen=True):
    """A setting of a host: its steps, its final text, and the file that sets it last."""

    name: str
    steps: tuple[Step, ...]
    text: str
    file: str


Hosts = frozenset[str]
Chains = Mapping[str, Mapping[str, Chain]]
"""The chains of each host by name in lower case."""


class Feature(msgspec.Struct, frozen=True):
    """A feature: the hosts that have it, and its steps by setting."""

    name: str
    hosts: Hosts
    steps: Mapping[str, tuple[Step, ...]]


class _Element(msgspec.Struct, frozen=True):
    key: str
    step: Step


def build_chains(host: Host) -> dict[str, Chain]:
    """Return the chain of each setting of a host, by name in lower case."""
    found: dict[str, list[Setting]] = {}
    for setting in host.settings:
        found.setdefault(setting.key, []).append(setting)
    return {key: _build_chain(settings) for key, settings in found.items()}


def _build_chain(settings: Sequence[Setting]) -> Chain:
    steps: list[Step] = []
    text: str | None = None
    for setting in settings:
        addition = split_addition(setting.name, setting.value)
        own = find_own_macros(setting.name, setting.value)
        if text is None and (addition.after or addition.before):
            steps = [Step(Action.SET, f"$({setting.name})", "")]
        text = apply_value(setting.name, setting.value, text, setting.line)
        if addition.after is not None:
            steps.append(Step(Action.APPEND, addition.after, setting.feature))
        elif addition.before is not None:
            steps.append(Step(Action.PREPEND, addition.before, setting.feature))
        else:
            default = setting.default and not own
            steps = [Step(Action.SET, text.strip(_BLANKS), setting.feature, default)]
    return Chain(settings[0].name, tuple(steps), (text or "").strip(_BLANKS), settings[-1].line.file)


def infer_separator(name: str, found: Iterable[Chain]) -> str | None:
    """Return the separator of a list; None if the setting may not be one."""
    given = tuple(found)
    if all(len(chain.steps) == 1 for chain in given):
        return None
    texts = [text for chain in given for text in (chain.text, *(step.text for step in chain.steps))]
    if not _LISTS.fullmatch(name) and any(map(_ODD.search, texts)):
        return None
    for each in ("comma", "blank-or-comma"):
        if all(_fits_separator(chain, each) for chain in given):
            commas = any("," in text for text in texts)
            if each == "comma" or not commas or _LISTS.fullmatch(name):
                return each
    return None


def _fits_separator(chain: Chain, each: str) -> bool:
    """Return whether the items of a chain's steps are those of its final text."""
    items = compose_items(chain.steps, each)
    whole = split_list(chain.text, each)
    if items != whole or find_unfit(whole, each) is not None:
        return False
    joined, written = (re.sub(r"\s*,\s*", ",", text).strip() for text in (join_list(whole, each), chain.text))
    return each == "blank-or-comma" or joined == written


def compose_items(steps: Iterable[Step], each: str) -> list[str]:
    """Return the items after some steps."""
    items: list[str] = []
    for step in steps:
        new = split_list(step.text, each)
        items = {Action.SET: new, Action.APPEND: [*items, *new], Action.PREPEND: [*new, *items]}[step.act]
    return items


def settle_chains(found: Mapping[str, Chain], separators: Mapping[str, str]) -> dict[str, Chain]:
    """Return the chains of a host, with one step, the final text, for each that is not a list."""
    result = {}
    for key, chain in found.items():
        last = Step(Action.SET, chain.text, chain.steps[-1].feature)
        stays = key in separators or len(chain.steps) == 1
        result[key] = chain if stays else msgspec.structs.replace(chain, steps=(last,))
    return result


def factor_features(hosts: Chains, named: Mapping[str, Hosts], texts: Iterable[Hosts]) -> list[Feature]:
    """Return the features, lowest first: each has the steps that exactly its hosts share.

    `named` are the hosts of features in annotations, `texts` the hosts of each text that stays.
    """
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
    names = _choose_names(groups, hosts)
    order = sorted(groups, key=lambda group: (-len(group[1]), group[0] != "", names[group]))
    return [Feature(names[group], group[1], _select_steps(groups[group], hosts, group[1])) for group in order]


def _find_holders(hosts: Chains) -> dict[_Element, Hosts]:
    """Return the hosts of each step; of a step that a host has twice, the second belongs to its rest."""
    found: dict[_Element, list[str]] = {}
    for host in sorted(hosts):
        for key in sorted(hosts[host]):
            for step in dict.fromkeys(hosts[host][key].steps):
                found.setdefault(_Element(key, step), []).append(host)
    return {element: frozenset(who) for element, who in found.items()}


def _select_steps(elements: list[_Element], hosts: Chains, who: Hosts) -> dict[str, tuple[Step, ...]]:
    """Return the steps of a feature in the order of its first host."""
    first = hosts[min(who)]
    known = set(elements)
    return {
        key: tuple(step for step in first[key].steps if _Element(key, step) in known)
        for key in sorted({element.key for element in elements})
    }


def _choose_names(
    groups: Mapping[tuple[str, Hosts], list[_Element]], hosts: Chains
) -> dict[tuple[str, Hosts], str]:
    """Return a name for each group: from its annotation, or after the one file that all of it is from."""
    taken = {name.lower() for name, _ in groups if name}
    result = {}
    for name, who in sorted(groups, key=lambda group: (group[0] == "", -len(group[1]), sorted(group[1]))):
        free = name
        if not name:
            base = COMMON if len(who) == len(hosts) else _name_after_file(groups[name, who], hosts, who)
            names = (f"{base}{number if number > 1 else ''}" for number in count(1))
            free = next(one for one in names if one.lower() not in taken)
        taken.add(free.lower())
        result[name, who] = free
    return result


def _name_after_file(elements: list[_Element], hosts: Chains, who: Hosts) -> str:
    files = {PurePath(hosts[host][element.key].file).stem for element in elements for host in who}
    words = re.findall(r"[A-Za-z][A-Za-z0-9]*", files.pop()) if len(files) == 1 else []
    return "".join(word[0].upper() + word[1:] for word in words)[:60] or "Shared"
