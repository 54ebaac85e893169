"""Which nodes a deploy may touch: not those that a hold keeps elsewhere, and not those with an agent."""

from collections.abc import Callable, Collection, Iterable, Mapping

import msgspec

from gitcfg.model import Hold
from gitcfg.model.text import ABBREVIATED, safe

AGENT = "An agent keeps this node at what its server says, and would take this back."
AGENT_HINT = (
    "`gitcfg hold add NEW NODES --commit-id REV --until YYYY-MM-DD --reason TEXT` keeps it at a commit for"
    " some time; once that is reviewed, a deploy may bring it there."
)
_FIRST = (
    "It is the commit that counts for these nodes: deploy it, or end the hold with `gitcfg hold lift {}`."
)


class Spared(msgspec.Struct, frozen=True):
    """Why a node is left alone."""

    message: str
    hint: str = ""


class Chosen(msgspec.Struct, frozen=True):
    """The nodes of a deploy: those to touch, and those that are left alone.

    `held` are nodes that a hold keeps at just this commit: it may be brought there even where an agent is.
    """

    nodes: tuple[str, ...]
    spared: Mapping[str, Spared]
    held: frozenset[str]


def chosen(
    names: Iterable[str],
    commit: str,
    held: Mapping[str, Hold],
    resolved: Callable[[str], str | None],
    agents: Collection[str],
) -> Chosen:
    """What may be touched; `resolved` is the commit that a hold names, `agents` are nodes that have one."""
    nodes: list[str] = []
    spared: dict[str, Spared] = {}
    here = set()
    for name in names:
        hold = held.get(name)
        if hold is not None and resolved(hold.commit.name) != commit:
            spared[name] = _kept(hold)
        elif hold is None and name in agents:
            spared[name] = Spared(AGENT, AGENT_HINT)
        else:
            nodes.append(name)
            here |= {name} if hold is not None else set()
    return Chosen(tuple(nodes), spared, frozenset(here))


def _kept(hold: Hold) -> Spared:
    at = safe(hold.commit.name[:ABBREVIATED])
    message = f"The hold {hold.name} keeps it at {at} until {hold.until}: {safe(hold.reason)}"
    return Spared(message.rstrip(".") + ".", _FIRST.format(hold.name))
