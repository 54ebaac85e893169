"""Answers that are no: what a server says why, and when it wants to be asked again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from .clock import date_of
from .identity import Identity
from .problems import BUSY, PENDING, UNAUTHORIZED, Declined
from .verifying import Answer

MOST_AFTER = 300.0
"""Seconds that a node can be told to keep away: the header is not signed, and a node must stay in reach."""


def accepted(answer: Answer, who: Identity, now: float) -> Answer:
    """The answer, unless it is no (Declined)."""
    if answer.status in (200, 304):
        return answer
    said = _problem(answer)
    kind = str(said.get("type", "")).rpartition(":")[2]
    detail = str(said.get("detail") or said.get("title") or f"HTTP {answer.status}")[:1000]
    known = {PENDING: _pending, UNAUTHORIZED: _unauthorized}.get(kind)
    told = known(who, said) if known else (f"{_verb(answer.status)}: {detail.rstrip('.')}.",)
    raise Declined(answer.status, kind, *told, after=wanted_pause(answer, now))


def _verb(status: int) -> str:
    if status in BUSY:
        return "The server is not ready"
    return "The server declines"


def _pending(who: Identity, said: Mapping[str, Any]) -> tuple[str, ...]:
    """With a fingerprint it waits for its key to be accepted; without, git has its key, and no more."""
    if "fingerprint" not in said:
        return (str(said.get("detail") or "The node is not accepted yet.")[:1000],)
    return (
        "This node's key is not accepted yet.",
        f"`gitcfg node accept {who.node}` on a clone of the repository accepts {who.fingerprint}.",
    )


def _unauthorized(who: Identity, said: Mapping[str, Any]) -> tuple[str, ...]:
    """It has one answer for all that does not fit, so as to tell nobody more."""
    return (
        f"The server does not take this for {who.node}'s: it knows the node by another key, or the request"
        " was changed on its way.",
        f"If the node was set up anew, `gitcfg node accept {who.node} --replace` on a clone of the repository"
        f" accepts {who.fingerprint}.",
    )


def wanted_pause(answer: Answer, now: float) -> float:
    """Seconds that a busy server wants to be left alone, by its Retry-After; `now` is its clock."""
    said = answer.headers.get("retry-after", "") if answer.status in BUSY else ""
    if said.isascii() and said.isdigit():
        return min(float(said[:9]), MOST_AFTER)
    date = date_of(said)
    return 0.0 if date is None else min(max(0.0, date - now), MOST_AFTER)


def _problem(answer: Answer) -> Mapping[str, Any]:
    try:
        said = json.loads(answer.body)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}
