"""The requests that a node makes of its server, and which of the answers it may believe."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from ..install.outcome import PackageError
from ..install.package import MAX_BYTES, Actions, Package, decode_json, parse_actions
from .client import Client
from .errors import Declined, Untrusted
from .secrets import open_package
from .signatures import Answer, Request

SCHEMA = "gitcfg.target/1"
NONE = "-"
_HASH = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


class Target(NamedTuple):
    """The commit that a node shall run. `sequence` rises; an older one counts only as a `rollback`.

    `again`: somebody wants what failed to be tried again now.
    """

    node: str
    commit: str
    digest: str
    sequence: int
    rollback: bool = False
    hold: Mapping[str, Any] | None = None
    again: bool = False


def parse_target(answer: Answer, node: str, newest: int) -> Target:
    """The target that an answer of the server names, for this node and no older than what it said before.

    Headers say it, because an answer without a body (304) has them too; a body must say the same.
    """
    headers = answer.headers
    target = Target(
        node=check_node(answer, node),
        commit=_hash(headers, "gitcfg-commit"),
        digest=_hash(headers, "gitcfg-digest"),
        sequence=_number(headers),
        rollback=headers.get("gitcfg-rollback", "").lower() in ("1", "true", "?1"),
    )
    if target.sequence < newest and not target.rollback:
        raise Untrusted(
            f"The server names an older target ({target.sequence}) than before ({newest}), and no rollback."
        )
    return target if answer.status == 304 else _check_body(target, answer.body)


def check_node(answer: Answer, node: str) -> str:
    """The node that an answer is about, which must be this one."""
    other = answer.headers.get("gitcfg-node", "")
    if other != node:
        raise Untrusted(f"The server's answer is about the node {other[:256]!r}, and this is {node}.")
    return node


def _check_body(target: Target, body: bytes) -> Target:
    try:
        data = json.loads(body)
    except (ValueError, RecursionError):
        data = None
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise Untrusted(f"The server's answer is not {SCHEMA}.")
    for key in ("node", "commit", "digest", "sequence", "rollback"):
        if data.get(key) != getattr(target, key):
            raise Untrusted(f"The server's answer says one {key} in its body and another in its headers.")
    hold = data.get("hold")
    return target._replace(hold=hold if isinstance(hold, dict) else None, again=data.get("again") is True)


def _hash(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name, NONE)
    if not _HASH.fullmatch(value):
        raise Untrusted(f"The server's answer has no {name}.")
    return value


def _number(headers: Mapping[str, str]) -> int:
    value = headers.get("gitcfg-sequence", NONE)
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise Untrusted("The server's answer has no sequence.")
    return int(value)


_UNKNOWN = (400, 404, 409, 410, 422)
_LARGE = 10
"""A package may take so much longer than other answers."""


def ask_target(client: Client, newest: int, etag: str, wait: float = 0.0, timeout: float = 0.0) -> Target:
    """What this node shall run; where that is still `etag`, only when `wait` seconds have passed."""
    path = f"/v1/nodes/{client.who.node}/config"
    known = (("if-none-match", f'"{etag}"'),) if etag else ()
    query = f"wait={int(wait)}" if wait >= 1 else ""
    answer = client.ask(Request("GET", path, query, headers=known), wait, timeout=timeout)
    return parse_target(answer, client.who.node, newest)


def check_in(client: Client, newest: int, body: bytes) -> Target:
    """Report, and hear what this node shall run."""
    path = f"/v1/nodes/{client.who.node}/checkin"
    headers = (("content-type", "application/json"),)
    return parse_target(
        client.ask(Request("POST", path, body=body, headers=headers)), client.who.node, newest
    )


def ask_package(client: Client, target: Target) -> Package:
    """The configuration that a target names: this node's, of that commit and that digest.

    The contents of its files that hold secrets are in memory alone.
    """
    node = client.who.node
    request = Request("GET", f"/v1/commits/{target.commit}/nodes/{node}")
    answer = client.ask(request, most=MAX_BYTES, timeout=_LARGE * client.settings.timeout)
    check_node(answer, node)
    package = open_package(answer.body, client.who)
    received = (package.node, package.commit, package.digest)
    if received != (node, target.commit, target.digest):
        raise Untrusted(
            f"The server sent the configuration {received[1][:10]} of {received[0]}, which was not asked for."
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
    check_node(answer, client.who.node)
    data = decode_json(answer.body)
    if not isinstance(data, dict) or data.get("schema") != "gitcfg.changes/1":
        raise PackageError("The server's answer is not gitcfg.changes/1.")
    known = (None, before.commit) if before else (None,)
    if (data.get("node"), data.get("to")) != (client.who.node, target.commit) or data.get(
        "from"
    ) not in known:
        raise Untrusted("The server sent other changes than were asked for.")
    return parse_actions(data)
