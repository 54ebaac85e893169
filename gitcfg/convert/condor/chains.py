"""A setting's history on a host as steps: a value, and what is appended and prepended to it."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

import msgspec

from gitcfg.compile import values as lists
from gitcfg.convert.condor.host import Host, Setting
from gitcfg.convert.condor.selves import apply_value, find_own_macros, split_addition

_LISTS = re.compile(
    r"(?:DC_)?DAEMON_LIST|(?:\w+\.)?(?:ALLOW|DENY|HOSTALLOW|HOSTDENY)_\w+|\w+_(?:ATTRS|EXPRS|METHODS|JOBLIST)"
    r"|FLOCK_(?:TO|FROM)|QUEUE_SUPER_USERS|JOB_ROUTER_ROUTE_NAMES|\w+_NAMES|SHADOW_LIST|STARTER_LIST",
    re.IGNORECASE,
)
"""Lists that HTCondor splits at blanks and commas alike."""


_BLANKS = " \t\v\f\r"  # what HTCondor takes off at the ends, and a file cannot carry
_ODD = re.compile(r"""[<>=!&|?;'"\[\]{}\\]|(?:^|\s)[-+]""")


class Action(StrEnum):
    """What a step does."""

    SET = "set"
    APPEND = "$append"
    PREPEND = "$prepend"


class Step(msgspec.Struct, frozen=True):
    """One step: what it does, with which text, in which feature."""

    act: Action
    text: str
    feature: str
    default: bool = False


class Chain(msgspec.Struct, frozen=True):
    """A setting on a host: its steps, its final text, and the file that it was last set in."""

    name: str
    steps: tuple[Step, ...]
    text: str
    file: str


def build_chains(host: Host) -> dict[str, Chain]:
    """Each setting of a host by its name in lower case."""
    found: dict[str, list[Setting]] = {}
    for setting in host.settings:
        found.setdefault(setting.key, []).append(setting)
    return {key: _build_chain(settings) for key, settings in found.items()}


def _build_chain(settings: Sequence[Setting]) -> Chain:
    steps: list[Step] = []
    text: str | None = None
    for setting in settings:
        said = split_addition(setting.name, setting.value)
        own = find_own_macros(setting.name, setting.value)
        if text is None and (said.after or said.before):
            steps = [Step(Action.SET, f"$({setting.name})", "")]
        text = apply_value(setting.name, setting.value, text, setting.line)
        if said.after is not None:
            steps.append(Step(Action.APPEND, said.after, setting.feature))
        elif said.before is not None:
            steps.append(Step(Action.PREPEND, said.before, setting.feature))
        else:
            default = setting.default and not own
            steps = [Step(Action.SET, text.strip(_BLANKS), setting.feature, default)]
    last = settings[-1]
    return Chain(settings[0].name, tuple(steps), (text or "").strip(_BLANKS), last.line.file)


def infer_separator(name: str, found: Iterable[Chain]) -> str | None:
    """How the items of a list are told apart; None: it is none, or it is not certain that it is one."""
    given = tuple(found)
    if all(len(chain.steps) == 1 for chain in given):
        return None
    texts = [text for chain in given for text in (chain.text, *(step.text for step in chain.steps))]
    if not _LISTS.fullmatch(name) and any(map(_is_prose, texts)):
        return None
    for each in ("comma", "blank-or-comma"):
        if all(_fits_separator(chain, each) for chain in given):
            commas = any("," in text for text in texts)
            if each == "comma" or not commas or _LISTS.fullmatch(name):
                return each
    return None


def _is_prose(text: str) -> bool:
    """Does a text hold what an expression, a command or a sentence has, and a list of names has not?"""
    return _ODD.search(text) is not None


def _fits_separator(chain: Chain, each: str) -> bool:
    """Are a chain's items, each by itself and all together, what its text says?"""
    items = compose_items(chain.steps, each)
    whole = lists.split(chain.text, each)
    if items != whole or lists.unfit(whole, each) is not None:
        return False
    return each == "blank-or-comma" or _equal_lists(lists.join(whole, each), chain.text)


def _equal_lists(one: str, other: str) -> bool:
    return re.sub(r"\s*,\s*", ",", one).strip() == re.sub(r"\s*,\s*", ",", other).strip()


def compose_items(steps: Iterable[Step], each: str) -> list[str]:
    """The items that steps give, one after the other."""
    items: list[str] = []
    for step in steps:
        said = lists.split(step.text, each)
        items = {Action.SET: said, Action.APPEND: [*items, *said], Action.PREPEND: [*said, *items]}[step.act]
    return items


def settle(found: Mapping[str, Chain], separators: Mapping[str, str]) -> dict[str, Chain]:
    """The chains of a host, where those that are no lists have one step: their final text."""
    return {
        key: chain
        if key in separators or len(chain.steps) == 1
        else Chain(
            chain.name, (Step(Action.SET, chain.text, chain.steps[-1].feature),), chain.text, chain.file
        )
        for key, chain in found.items()
    }
