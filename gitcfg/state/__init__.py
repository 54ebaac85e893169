"""What is known of nodes beside git: check-ins, releases, tokens, events; in SQLite or PostgreSQL."""

from gitcfg.state.records import Checkin, Event, NodeState, Result, Role, StoredRelease, Token
from gitcfg.state.state import State, connect

__all__ = [
    "Checkin",
    "Event",
    "NodeState",
    "Result",
    "Role",
    "State",
    "StoredRelease",
    "Token",
    "connect",
]
