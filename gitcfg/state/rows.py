"""Check-ins as rows of the tables, and back."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from sqlalchemy import Row

from gitcfg.state.records import Checkin, Deployed, NodeState, OtherKey, Result
from gitcfg.state.tables import NODES

SAID = (
    "key",
    "commit",
    "digest",
    "since",
    "drift",
    "facts",
    "version",
    "clock_offset",
    "interval",
    "address",
)
"""What each check-in says anew."""
BY_AGENT = ("via",)
"""What is nothing where a node speaks for itself."""
IF_SAID = ("result", "failed_commit", "failed_at")
"""What stays where a check-in does not say it."""
NONCE_SECONDS = 600.0
COLUMNS = tuple(NODES.c[name] for name in NodeState.__struct_fields__ if name != "claims")
"""What is read of a node's row: all that its record has but for what has a table of its own."""
_RESULT = msgspec.json.Decoder(Result)
_OTHER = msgspec.json.Decoder(OtherKey)
_ANY = msgspec.json.Decoder()


def node_row(said: Checkin) -> dict[str, Any]:
    """A check-in as the row of its node."""
    result = said.result
    failed = result if result is not None and result.failed else None
    return {
        "node": said.node,
        "first": said.at,
        "last": said.at,
        "present": said.at,
        **{name: getattr(said, name) for name in SAID},
        **dict.fromkeys(BY_AGENT),
        "drift": _json(said.drift),
        "facts": _json(said.facts),
        "result": None if result is None else _json(result),
        "failed_commit": None if failed is None else failed.commit,
        "failed_at": None if failed is None else failed.at,
    }


def deployed_row(said: Deployed) -> dict[str, Any]:
    """An installation by a deploy as the row of a node that is known by nothing else."""
    known = Checkin(
        said.node,
        said.result.at,
        commit=said.commit,
        digest=said.digest,
        since=said.result.at if said.commit is not None else None,
        result=said.result,
    )
    return node_row(known) | {"via": said.result.by, "deployed": said.result.at}


def result_rows(said: Iterable[Checkin | Deployed]) -> list[dict[str, Any]]:
    """The results in what is said of nodes as rows."""
    return [
        {"node": one.node, "at": one.result.at, "result": _json(one.result)} for one in said if one.result
    ]


def nonce_rows(checkins: Sequence[Checkin]) -> list[dict[str, Any]]:
    """The nonces in check-ins as rows, in order: two servers that write the same wait for each other once."""
    asked = {(one.key, one.nonce): one.at for one in checkins if one.nonce}
    return [
        {"key": key, "nonce": nonce, "until": at + NONCE_SECONDS}
        for (key, nonce), at in sorted(asked.items())
    ]


def node_state(row: Row[Any]) -> NodeState:
    """What COLUMNS of a node's row say. By position: names took as long as all the rest."""
    said = list(row)
    for place, read in _READ:
        said[place] = read(said[place])
    return NodeState(*said)


def result(text: str) -> Result:
    """A result as it is kept."""
    return _RESULT.decode(text)


def _result(text: str | None) -> Result | None:
    return None if text is None else _RESULT.decode(text)


def _other(text: str | None) -> OtherKey | None:
    return None if text is None else _OTHER.decode(text)


def _json(value: Any) -> str:
    return msgspec.json.encode(value).decode()


_place = NodeState.__struct_fields__.index
_READ: tuple[tuple[int, Callable[[Any], Any]], ...] = (
    (_place("result"), _result),
    (_place("drift"), lambda text: tuple(_ANY.decode(text))),
    (_place("facts"), _ANY.decode),
    (_place("other"), _other),
)
