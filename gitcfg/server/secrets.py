"""The only way of secrets out of the server: decrypted for one request, and encrypted with the node's key."""

import base64
from logging import Logger

import msgspec

from gitcfg.delivery.configuration import Configuration, find_withheld, reveal_files
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown
from gitcfg.secrets.identities import Identities
from gitcfg.secrets.store import open_secret, seal
from gitcfg.server.fleets import FleetCache
from gitcfg.server.http import Origin, Problem
from gitcfg.server.signatures import SignedRequest

SECRETS_PROBLEM = "secrets"
"""The kind of problem that is sent to a node that does not get its secrets."""
_PAUSE = 60.0
_MOST = 1000


class SecretQuery(msgspec.Struct, frozen=True):
    """A node that asks for its package at a commit, with its origin.

    `judge` is another commit in which it must have its secrets, too. None: the package is of the commit that
    the node should run.
    """

    who: SignedRequest
    origin: Origin
    judge: str | None


class Withheld(Problem):
    """A node does not get its secrets. `hints` are for the log."""

    def __init__(self, why: str, *hints: str) -> None:
        super().__init__(SECRETS_PROBLEM, why)
        self.hints = hints


class SecretSealer:
    """Decryption of secrets with the server's identities, and encryption with a node's key."""

    def __init__(self, identities: Identities) -> None:
        self._identities = identities

    def seal(self, fleets: FleetCache, found: Configuration, query: SecretQuery) -> Configuration:
        """Return a package with the contents of its secret files encrypted.

        Raise Withheld if that is impossible.
        """
        if not query.who.known:
            raise Withheld("git has no key for this node. Run `gitcfg node accept` to accept its key.")
        if not query.origin.private:
            raise Withheld("Secrets are sent only over TLS.")
        fleet, name = fleets.at(found.commit), found.node
        secrets = fleet.model.secrets
        try:
            if query.judge is not None:
                own = sorted(set(fleet.compiled[name].secrets.values()))
                for secret in find_withheld(fleets.at(query.judge), name, own):
                    raise Withheld(f"The secret {shown(secret)} is no longer for {name}.")
            contents = reveal_files(
                fleet, name, lambda secret: open_secret(fleet.tree, secrets[secret], self._identities)
            )
            sealed = {}
            for path in found.holding:
                if path not in contents:
                    raise Withheld(f"Cannot render {path} with its secrets.")
                sealed[path] = base64.b64encode(seal(contents[path], [query.who.key])).decode()
            return found.sealing(sealed)
        except GitcfgError as error:
            raise Withheld(error.message, *error.hints) from None


class RefusalLog:
    """Log of secrets that a node does not get, with each reason once a minute."""

    def __init__(self, log: Logger) -> None:
        self._log = log
        self._logged: dict[tuple[str, str], float] = {}

    def log(self, node: str, commit: str, problem: Withheld, now: float) -> None:
        """Log a refusal."""
        if now - self._logged.get((node, problem.detail), 0.0) < _PAUSE:
            return
        if len(self._logged) >= _MOST:
            self._logged.clear()
        self._logged[node, problem.detail] = now
        fields = {"node": node, "commit": commit, "error": problem.detail, "hint": " ".join(problem.hints)}
        self._log.error("cannot deliver secrets", extra={"fields": fields})
