"""What is sent to a node: made when its turn comes, from what stands there, by one thread."""

from collections.abc import Callable, Collection, Mapping
from functools import cached_property

import msgspec

from gitcfg.comparison.comparison import Consequences
from gitcfg.delivery.configuration import Configuration, find_consequences, make_configuration
from gitcfg.deploy.changes import Changes
from gitcfg.deploy.hosts import AGENT, AGENT_HINT
from gitcfg.deploy.messages import NO_AGENT, Hello, Order
from gitcfg.install.package import Actions
from gitcfg.library import Fleet, Source
from gitcfg.model import REFUSED, GitcfgError

_MANY = 4
"""A part of the fleet is compiled by itself where all of it has so many times more nodes."""


class Sending(msgspec.Struct, frozen=True):
    """How orders are made: `who` is named to others, `held` are nodes that an agent does not keep from it."""

    who: str
    dry: bool = False
    held: Collection[str] = ()
    hidden: Callable[[Fleet, str], Mapping[str, str]] | None = None


class Orders:
    """Orders for the nodes of one commit. Not for several threads at once: a fleet is used by one."""

    def __init__(self, source: Source, fleet: Fleet, names: Collection[str], sending: Sending) -> None:
        """`fleet` is of a commit and stays open; `names` are the nodes that orders will be asked for."""
        self._source = source
        self._whole = fleet
        self._names = names
        self._sending = sending

    def of(self, name: str, hello: Hello) -> Order:
        """The order for a node on which this stands. GitcfgError: it may not be touched, or none is made."""
        sending = self._sending
        if hello.agent != NO_AGENT and name not in sending.held:
            raise GitcfgError(AGENT, AGENT_HINT, code=REFUSED)
        found = make_configuration(self._fleet, name, self._consequences)
        return Order(
            msgspec.to_builtins(found),
            self._actions(found, hello),
            sending.hidden(self._fleet, name) if sending.hidden is not None else {},
            sending.dry,
            hello.agent != NO_AGENT,
            sending.who,
        )

    def close(self) -> None:
        """Close the fleets of other commits."""
        self._changes.close()

    @cached_property
    def _fleet(self) -> Fleet:
        """All nodes that orders are asked for, compiled together: only what they are made from is read.

        One by one each had a process of its own for its templates, and cost 100 ms.
        """
        few = len(self._names) * _MANY < len(self._whole)
        part = self._whole.valued(self._names) if few else self._whole
        _ = part.compiled.classes
        return part

    @cached_property
    def _changes(self) -> Changes:
        return Changes(self._source, self._fleet, self._names)

    @cached_property
    def _consequences(self) -> Consequences:
        """What nodes have in common is judged once."""
        return find_consequences(self._fleet)

    def _actions(self, found: Configuration, hello: Hello) -> Actions:
        """As the change from what is in force asks for; where the digest is the same nothing changes."""
        return Actions() if hello.digest == found.digest else self._changes.actions(found.node, hello.commit)
