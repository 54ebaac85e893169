"""Orders: what is sent to nodes. A single thread makes each one when it knows what is on the node."""

import re
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from functools import cached_property

import msgspec

from gitcfg.comparison.comparison import Consequences
from gitcfg.delivery.configuration import find_consequences, find_node_change, make_configuration
from gitcfg.deploy.approval import AGENT, AGENT_HINT
from gitcfg.deploy.messages import NO_AGENT, Hello, Order
from gitcfg.install.package import Actions
from gitcfg.library import Fleet, Source, compare
from gitcfg.model import REFUSED, GitcfgError

_COMMIT = re.compile(r"[0-9a-f]{40}")
_TOGETHER = 200
"""The number of nodes that together take as long as one alone: 60 to 100 ms, and 3 s for 10,000."""
_OLDER = 8
_MANY = 4
"""The factor by which the fleet must be larger than a part for the part to be compiled alone."""


class Changes:
    """The actions on nodes that go from their installed commit to a fleet. For one thread at a time."""

    def __init__(self, source: Source, fleet: Fleet, names: Collection[str]) -> None:
        """Compare with `fleet`, which has the nodes and stays open."""
        self._source = source
        self._fleet = fleet
        self._names = names
        self._older: OrderedDict[str, _Older] = OrderedDict()

    def actions(self, name: str, commit: str | None) -> Actions:
        """Return the actions for a node with an installed commit; an unknown commit counts as None."""
        older = self._find_older(commit) if commit is not None and _COMMIT.fullmatch(commit) else None
        return older.actions(name) if older is not None else _compare_node(None, self._fleet, name)

    def _find_older(self, commit: str) -> "_Older | None":
        """Return None if that commit is unknown here, or its tree cannot be loaded."""
        if commit not in self._older:
            if not self._source.repository.knows(commit):
                return None
            try:
                fleet = self._source.at(commit)
            except GitcfgError:
                return None
            self._older[commit] = _Older(fleet, self._fleet, self._names)
        self._older.move_to_end(commit)
        while len(self._older) > _OLDER:
            self._older.popitem(last=False)[1].close()
        return self._older[commit]

    def close(self) -> None:
        """Close the fleets of other commits."""
        while self._older:
            self._older.popitem()[1].close()


class _Older:
    """A commit that some nodes have. After all nodes are compared, only the result is kept."""

    def __init__(self, fleet: Fleet, new: Fleet, names: Collection[str]) -> None:
        self._fleet = fleet
        self._new = new
        self._names = names
        self._requests = 0
        self._known: Mapping[str, Actions] | None = None

    def actions(self, name: str) -> Actions:
        self._requests += 1
        if self._known is None and self._requests * _TOGETHER > len(self._names):
            self._known = self._compare()
            self._fleet.close()
        if self._known is None:
            return _compare_node(self._fleet, self._new, name)
        return self._known[name] if name in self._known else _compare_node(None, self._new, name)

    def close(self) -> None:
        self._fleet.close()

    def _compare(self) -> Mapping[str, Actions]:
        """Return the actions of all nodes that the commit has, also of those without changes."""
        names = [name for name in self._names if name in self._fleet]
        found = dict.fromkeys(names, Actions())
        for change in compare(self._fleet, self._new, names).changes:
            found |= dict.fromkeys(change.nodes, Actions(change.restart, change.reload, change.stop))
        return found


def _compare_node(old: Fleet | None, new: Fleet, name: str) -> Actions:
    change = find_node_change(old, new, name)
    return Actions(change.restart, change.reload, change.stop)


class OrderOptions(msgspec.Struct, frozen=True):
    """Options of orders: `who` is shown to others; `held` nodes may be changed in spite of an agent."""

    who: str
    dry: bool = False
    held: Collection[str] = ()
    hidden: Callable[[Fleet, str], Mapping[str, str]] | None = None


class Orders:
    """Orders for the nodes of one commit. For one thread at a time, as is a fleet."""

    def __init__(self, source: Source, fleet: Fleet, names: Collection[str], options: OrderOptions) -> None:
        """Make orders from `fleet`, which is of a commit and stays open, for the nodes `names`."""
        self._source = source
        self._whole = fleet
        self._names = names
        self._options = options

    def of(self, name: str, hello: Hello) -> Order:
        """Make the order for a node that sent a Hello. Raise GitcfgError if the node must not be touched."""
        options = self._options
        if hello.agent != NO_AGENT and name not in options.held:
            raise GitcfgError(AGENT, AGENT_HINT, code=REFUSED)
        found = make_configuration(self._fleet, name, self._consequences)
        return Order(
            msgspec.to_builtins(found),
            # With an equal digest, nothing changes.
            Actions() if hello.digest == found.digest else self._changes.actions(name, hello.commit),
            options.hidden(self._fleet, name) if options.hidden is not None else {},
            options.dry,
            hello.agent != NO_AGENT,
            options.who,
        )

    def close(self) -> None:
        """Close the fleets of other commits."""
        self._changes.close()

    @cached_property
    def _fleet(self) -> Fleet:
        """The nodes that get orders, compiled together, with only what they are made from.

        Alone, each node took a process of its own for its templates, and 100 ms.
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
        """The consequences of changes, computed once for what nodes have in common."""
        return find_consequences(self._fleet)
