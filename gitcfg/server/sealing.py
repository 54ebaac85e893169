"""The one way that secrets leave the server: opened for one request, sealed to the key of the node that asks.

Nothing of it is kept: not in a cache, not in the database, not in a log.
"""

import base64
from collections.abc import Iterator, Mapping
from logging import Logger

import msgspec

from gitcfg.delivery import Configuration, revealed_files
from gitcfg.delivery.revealing import kept_from
from gitcfg.library import Fleet
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown
from gitcfg.secrets import Identities, opened, sealed
from gitcfg.server.fleets import Fleets
from gitcfg.server.problems import Problem
from gitcfg.server.proxies import Origin
from gitcfg.server.signed import Signed

SECRETS = "secrets"
"""The kind of problem that a node hears which does not get them."""
_PAUSE = 60.0
_MOST = 1000


class Asking(msgspec.Struct, frozen=True):
    """A node that asks for what it gets at a commit, and from where. `judge` is a commit by which it must
    have its secrets too: None where that very commit is what it is to run."""

    who: Signed
    origin: Origin
    judge: str | None


class Withheld(Problem):
    """A node does not get its secrets. `hints` are for who runs the server."""

    def __init__(self, why: str, *hints: str) -> None:
        super().__init__(SECRETS, why)
        self.hints = hints


class Sealing:
    """`identities` are the keys with which the server opens secrets."""

    def __init__(self, identities: Identities) -> None:
        self._identities = identities

    def sealed(self, fleets: Fleets, found: Configuration, asking: Asking) -> Configuration:
        """What a node gets, with the contents of its secret files sealed. Withheld: it cannot get them."""
        if not asking.who.known:
            raise Withheld("git has no key of this node. `gitcfg node accept` accepts its key.")
        if not asking.origin.private:
            raise Withheld("Secrets are sent over TLS alone.")
        fleet, name = fleets.at(found.commit), found.node
        try:
            if asking.judge is not None:
                _judged(fleet, fleets.at(asking.judge), name)
            contents = revealed_files(fleet, name, lambda secret: self._opened(fleet, secret))
            return found.sealing(dict(_sealed(found, contents, asking.who.key)))
        except GitcfgError as error:
            raise Withheld(error.message, *error.hints) from None

    def _opened(self, fleet: Fleet, secret: str) -> str:
        return opened(fleet.tree, fleet.model.secrets[secret], self._identities)


def _judged(fleet: Fleet, counts: Fleet, name: str) -> None:
    """What a node is not to run, it may still run: then the secrets must be its own by now, too."""
    for secret in kept_from(counts, name, sorted(set(fleet.compiled[name].secrets.values()))):
        raise GitcfgError(f"The secret {shown(secret)} is not for {name} any more.")


def _sealed(found: Configuration, contents: Mapping[str, str], key: str) -> Iterator[tuple[str, str]]:
    for path in found.holding:
        if path not in contents:
            raise GitcfgError(f"{path} cannot be made with its secrets.")
        yield path, base64.b64encode(sealed(contents[path], [key])).decode()


class Refusals:
    """Tells of secrets that a node does not get: the same of a node once a minute at most."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._told: dict[tuple[str, str], float] = {}

    def note(self, node: str, commit: str, problem: Withheld, now: float) -> None:
        """One more refusal."""
        if now - self._told.get((node, problem.detail), 0.0) < _PAUSE:
            return
        if len(self._told) >= _MOST:
            self._told.clear()
        self._told[node, problem.detail] = now
        said = {"node": node, "commit": commit, "error": problem.detail, "hint": " ".join(problem.hints)}
        self._log.error("secrets cannot be handed over", extra={"said": said})
