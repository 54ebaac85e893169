"""What a node shall run, as the server says it; and which of that it may believe."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from .problems import Untrusted
from .verifying import Answer

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


def target_of(answer: Answer, node: str, newest: int) -> Target:
    """The target that an answer of the server names, for this node and no older than what it said before.

    Headers say it, because an answer without a body (304) has them too; a body must say the same.
    """
    said = answer.headers
    target = Target(
        node=meant_for(answer, node),
        commit=_hash(said, "gitcfg-commit"),
        digest=_hash(said, "gitcfg-digest"),
        sequence=_number(said),
        rollback=said.get("gitcfg-rollback", "").lower() in ("1", "true", "?1"),
    )
    if target.sequence < newest and not target.rollback:
        raise Untrusted(
            f"The server names an older target ({target.sequence}) than before ({newest}), and no rollback."
        )
    return target if answer.status == 304 else _agreed(target, answer.body)


def meant_for(answer: Answer, node: str) -> str:
    """The node that an answer is about, which must be this one."""
    other = answer.headers.get("gitcfg-node", "")
    if other != node:
        raise Untrusted(f"The server's answer is about the node {other[:256]!r}, and this is {node}.")
    return node


def _agreed(target: Target, body: bytes) -> Target:
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        said = None
    if not isinstance(said, dict) or said.get("schema") != SCHEMA:
        raise Untrusted(f"The server's answer is not {SCHEMA}.")
    for key in ("node", "commit", "digest", "sequence", "rollback"):
        if said.get(key) != getattr(target, key):
            raise Untrusted(f"The server's answer says one {key} in its body and another in its headers.")
    hold = said.get("hold")
    return target._replace(hold=hold if isinstance(hold, dict) else None, again=said.get("again") is True)


def _hash(said: Mapping[str, str], name: str) -> str:
    value = said.get(name, NONE)
    if not _HASH.fullmatch(value):
        raise Untrusted(f"The server's answer has no {name}.")
    return value


def _number(said: Mapping[str, str]) -> int:
    value = said.get("gitcfg-sequence", NONE)
    if not (value.isascii() and value.isdigit() and len(value) < 19):
        raise Untrusted("The server's answer has no sequence.")
    return int(value)
