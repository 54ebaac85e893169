"""What is known of nodes beside git: check-ins, releases, tokens, events; in SQLite or PostgreSQL.

The records do without a database's library: who asks a server over HTTP needs none.
"""

from typing import TYPE_CHECKING, Any

from gitcfg.state.records import Checkin, Deployed, Event, NodeState, Result, Role, StoredRelease, Token

if TYPE_CHECKING:
    from gitcfg.state.state import State, connect, looked

__all__ = [
    "Checkin",
    "Deployed",
    "Event",
    "NodeState",
    "Result",
    "Role",
    "State",
    "StoredRelease",
    "Token",
    "connect",
    "looked",
]


def __getattr__(name: str) -> Any:
    if name not in ("State", "connect", "looked"):
        raise AttributeError(f"module {__name__} has no attribute {name}")
    from gitcfg.state import state

    return getattr(state, name)
