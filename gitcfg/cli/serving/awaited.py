"""The nodes that `gitcfg wait` waits for, and what they are known to run."""

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from gitcfg.cli.nodes import chosen
from gitcfg.cli.plain import counted
from gitcfg.cli.serving.place import database
from gitcfg.cli.serving.remote import ask
from gitcfg.cli.session import Session
from gitcfg.git.refs import Refs
from gitcfg.model import GitcfgError
from gitcfg.nodeset import fold

Runs = tuple[str | None, str | None]
"""The commit and the digest that a node runs."""


class Awaited:
    """Nodes at a commit. One runs it if it runs what comes after it, too, or what is just the same."""

    def __init__(self, session: Session, revision: str, words: Sequence[str]) -> None:
        """GitcfgError: there is no such revision, or no such node."""
        self._source = session.open()
        self._fleet = self._source.at(revision)
        self._refs = Refs(self._source.repository)
        self.names = chosen(self._fleet, words)
        self._after: dict[str, bool] = {}

    def late(self, told: Mapping[str, Runs]) -> list[str]:
        """Those that do not run it yet, in order of name."""
        return [name for name in self.names if not self._runs(name, *told.get(name, (None, None)))]

    def ran_out(self, late: Sequence[str], code: int) -> GitcfgError:
        """Time ran out before these came."""
        message = f"{counted(len(late), 'node')} of {len(self.names)} did not come to run it: {fold(late)}."
        return GitcfgError(message, "`gitcfg release status` says how far it has got.", code=code)

    def _runs(self, name: str, commit: str | None, digest: str | None) -> bool:
        if commit is None:
            return False
        return self._follows(commit) or (digest is not None and digest == self._digests.get(name))

    def _follows(self, commit: str) -> bool:
        if commit not in self._after:
            wanted = self._fleet.commit
            known = wanted is not None and self._refs.commit(commit) is not None
            self._after[commit] = known and self._refs.includes(commit, str(wanted))
        return self._after[commit]

    @cached_property
    def _digests(self) -> Mapping[str, str]:
        return {name: self._fleet[name].digest for name in self.names}

    def __enter__(self) -> "Awaited":
        return self

    def __exit__(self, *error: object) -> None:
        self._fleet.close()


@contextlib.contextmanager
def reports(
    session: Session, server: str | None, token: str | None, url: str | None, state: str | None
) -> Iterator[Callable[[], dict[str, Runs]]]:
    """What asks what nodes run: a server, or the database."""
    if server is not None:
        yield lambda: _told(server, token)
        return
    with database(session, url, state) as opened:
        yield lambda: {known.node: (known.commit, known.digest) for known in opened.checkins.nodes()}


def _told(server: str, token: str | None) -> dict[str, Runs]:
    found = {}
    for node in ask(server, token, "/v1/nodes")["nodes"]:
        running = node.get("running") or {}
        found[node["node"]] = (running.get("commit"), running.get("digest"))
    return found
