"""What must happen on nodes that go from what is in force there to the commit of a deploy."""

import re
from collections import OrderedDict
from collections.abc import Collection, Mapping

from gitcfg.delivery.configuration import find_steps
from gitcfg.install.package import Actions
from gitcfg.library import Fleet, Source, compare
from gitcfg.model import GitcfgError

_COMMIT = re.compile(r"[0-9a-f]{40}")
_TOGETHER = 200
"""To compare one node alone takes as long as so many together: 60 to 100 ms, and 3 s for 10,000."""
_OLDER = 8
_NOTHING = Actions()


class Changes:
    """Of some nodes, to the commit of a fleet. Not for several threads at once: a fleet is used by one."""

    def __init__(self, source: Source, fleet: Fleet, names: Collection[str]) -> None:
        """`fleet` knows the nodes, and stays open."""
        self._source = source
        self._fleet = fleet
        self._names = names
        self._older: OrderedDict[str, _Older] = OrderedDict()

    def actions(self, name: str, commit: str | None) -> Actions:
        """For a node on which this commit is in force; one that is not here counts as none (None)."""
        older = self._at(commit) if commit is not None and _COMMIT.fullmatch(commit) else None
        return older.actions(name) if older is not None else _alone(None, self._fleet, name)

    def _at(self, commit: str) -> "_Older | None":
        """None: that commit is not here, or says nothing of any nodes."""
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
    """A commit that is in force somewhere, until all nodes were compared: then that is all that is kept."""

    def __init__(self, fleet: Fleet, new: Fleet, names: Collection[str]) -> None:
        self._fleet = fleet
        self._new = new
        self._names = names
        self._asked = 0
        self._known: Mapping[str, Actions] | None = None

    def actions(self, name: str) -> Actions:
        self._asked += 1
        if self._known is None and self._asked * _TOGETHER > len(self._names):
            self._known = self._compared()
            self._fleet.close()
        if self._known is None:
            return _alone(self._fleet, self._new, name)
        return self._known[name] if name in self._known else _alone(None, self._new, name)

    def close(self) -> None:
        self._fleet.close()

    def _compared(self) -> Mapping[str, Actions]:
        """All nodes that were there before, also those that it changes nothing for."""
        there = [name for name in self._names if name in self._fleet]
        found = dict.fromkeys(there, _NOTHING)
        for change in compare(self._fleet, self._new, there).changes:
            due = Actions(change.restart, change.reload, change.stop)
            found |= dict.fromkeys(change.nodes, due)
        return found


def _alone(old: Fleet | None, new: Fleet, name: str) -> Actions:
    due = find_steps(old, new, name)
    return Actions(due.restart, due.reload, due.stop)
