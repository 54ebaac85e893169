"""The nodes that `gitcfg wait` waits for, and what they are known to run."""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from gitcfg.cli.node_keys import named
from gitcfg.cli.nodes import chosen
from gitcfg.cli.session import Session
from gitcfg.git.refs import Refs
from gitcfg.library import Fleet
from gitcfg.model import GitcfgError
from gitcfg.model.nodeset import abridged
from gitcfg.model.text import ABBREVIATED, counted, safe

if TYPE_CHECKING:
    from gitcfg.state import NodeState

_STUCK = {
    "halted": "`gitcfg release resume` lets it go on; a newer commit overtakes it.",
    "aborted": "What was before it holds again; push another commit.",
}
"""How a release goes no further, and what to do then."""


class Awaited:
    """Nodes at a commit. One runs it if it runs what comes after it, too, or what is just the same."""

    def __init__(self, session: Session, revision: str, words: Sequence[str], where: str | None) -> None:
        """GitcfgError: there is no such revision, or no such node."""
        self._source = session.open()
        self._fleet = self._source.at(revision)
        self._refs = Refs(self._source.repository)
        self.commit = str(self._fleet.commit)
        self.names = _named(self._fleet, words, where)
        self._after: dict[str, bool] = {}

    def late(self, nodes: "Iterable[NodeState]") -> list[str]:
        """Those that do not run it yet, in order of name."""
        told = {one.node: one for one in nodes}
        return [name for name in self.names if name not in told or not self._runs(told[name])]

    def stuck(self, releases: Iterable[Mapping[str, Any]]) -> tuple[str, str] | None:
        """Why nobody else gets it, and what to do; None: they may. `releases`: of `gitcfg.releases/1`.

        Where a release went wrong, nodes get the one before it, which may have the commit as well.
        """
        following = [one for one in releases if self._follows(one["commit"])]
        standing = [one for one in following if one["status"] != "aborted"] or following
        if not standing or standing[0]["status"] not in _STUCK:
            return None
        if any(one["status"] == "done" for one in standing):
            return None
        found = standing[0]
        why = f": {safe(found['why'])}" if found["why"] else ""
        said = f"The release of {safe(found['commit'][:ABBREVIATED])} is {found['status']}{why}."
        return said, _STUCK[found["status"]]

    def shows(self, late: Sequence[str]) -> str:
        """Who is late."""
        verb = "does" if len(late) == 1 else "do"
        return f"{counted(len(late), 'node')} of {len(self.names)} {verb} not run it yet: {abridged(late)}."

    def _runs(self, node: "NodeState") -> bool:
        if node.commit is None or node.stuck:
            return False
        return self._follows(node.commit) or (
            node.digest is not None and node.digest == self._digests.get(node.node)
        )

    def _follows(self, commit: str) -> bool:
        if commit not in self._after:
            known = self._refs.commit(commit) is not None
            self._after[commit] = known and self._refs.includes(commit, self.commit)
        return self._after[commit]

    @cached_property
    def _digests(self) -> Mapping[str, str | None]:
        from gitcfg.inventory.guests import guest_digests

        fleet, today = self._fleet, self._source.today
        guests = guest_digests(fleet, [name for name in self.names if name not in fleet], today)
        return {name: fleet[name].digest if name in fleet else guests[name] for name in self.names}

    def __enter__(self) -> "Awaited":
        return self

    def __exit__(self, *error: object) -> None:
        self._fleet.close()


def _named(fleet: Fleet, words: Sequence[str], where: str | None) -> tuple[str, ...]:
    """The nodes that are meant. Where nodes walk in, a name need not be described."""
    settings = fleet.model.settings
    if settings.walk_in is None:
        return chosen(fleet, words, where)
    plain = named(settings.max_nodes, (word for word in words if not word.startswith("@")))
    guests = [name for name in plain if name not in fleet]
    if guests and where is not None:
        raise GitcfgError(f"git says nothing of {guests[0]}, so --where cannot ask of it.", "Leave one out.")
    groups = [word for word in words if word.startswith("@")]
    described = [*groups, *(name for name in plain if name in fleet)]
    found = chosen(fleet, described, where) if described or not guests else ()
    return tuple(sorted({*found, *guests}))
