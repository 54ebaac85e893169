"""The four questions that a node asks, and what their answers are worth."""

from __future__ import annotations

from ..install import Actions, Package, PackageError, read_actions
from ..install.reading import MAX_BYTES, decoded
from .client import Client
from .opening import opened_package
from .problems import Declined, Untrusted
from .signing import Request
from .target import Target, meant_for, target_of

_UNKNOWN = (400, 404, 409, 410, 422)
_LARGE = 10
"""A package may take so much longer than other answers."""


def ask_target(client: Client, newest: int, etag: str, wait: float = 0.0, timeout: float = 0.0) -> Target:
    """What this node shall run; where that is still `etag`, only when `wait` seconds have passed."""
    path = f"/v1/nodes/{client.who.node}/config"
    known = (("if-none-match", f'"{etag}"'),) if etag else ()
    query = f"wait={int(wait)}" if wait >= 1 else ""
    answer = client.ask(Request("GET", path, query, headers=known), wait, timeout=timeout)
    return target_of(answer, client.who.node, newest)


def check_in(client: Client, newest: int, body: bytes) -> Target:
    """Report, and hear what this node shall run."""
    path = f"/v1/nodes/{client.who.node}/checkin"
    headers = (("content-type", "application/json"),)
    return target_of(client.ask(Request("POST", path, body=body, headers=headers)), client.who.node, newest)


def ask_package(client: Client, target: Target) -> Package:
    """The configuration that a target names: this node's, of that commit and that digest.

    The contents of its files that hold secrets are in memory alone.
    """
    node = client.who.node
    request = Request("GET", f"/v1/commits/{target.commit}/nodes/{node}")
    answer = client.ask(request, most=MAX_BYTES, timeout=_LARGE * client.settings.timeout)
    meant_for(answer, node)
    package = opened_package(answer.body, client.who)
    told = (package.node, package.commit, package.digest)
    if told != (node, target.commit, target.digest):
        raise Untrusted(
            f"The server sent the configuration {told[1][:10]} of {told[0]}, which was not asked for."
        )
    return package


def ask_actions(client: Client, before: Package | None, target: Target) -> Actions:
    """What restarts, reloads and stops on the way to a target.

    Where the server does not know (any more) what is in force here, everything that runs is started anew.
    """
    path = f"/v1/nodes/{client.who.node}/changes"
    try:
        return _actions(client, path, f"from={before.commit}&" if before else "", before, target)
    except Declined as error:
        if before is None or error.status not in _UNKNOWN:
            raise
        return _actions(client, path, "", None, target)


def _actions(client: Client, path: str, query: str, before: Package | None, target: Target) -> Actions:
    answer = client.ask(Request("GET", path, f"{query}to={target.commit}"))
    meant_for(answer, client.who.node)
    said = decoded(answer.body)
    if not isinstance(said, dict) or said.get("schema") != "gitcfg.changes/1":
        raise PackageError("The server's answer is not gitcfg.changes/1.")
    known = (None, before.commit) if before else (None,)
    if (said.get("node"), said.get("to")) != (client.who.node, target.commit) or said.get(
        "from"
    ) not in known:
        raise Untrusted("The server sent other changes than were asked for.")
    return read_actions(said)
