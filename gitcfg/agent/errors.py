"""The errors of an agent, each with its exit code."""

from __future__ import annotations

USAGE, REVERTED, REFUSED, NO_TIME = 2, 3, 4, 5


PENDING = "pending"
"""The server's word for a node that git does not know."""
UNAUTHORIZED = "unauthorized"
"""Its word for a signature that is not by the key that it knows."""
SECRETS = "secrets"
"""Its word for contents that it cannot hand over; only what is fetched meets it, no check-in."""
BUSY = (429, 502, 503, 504)
"""What a server, or a proxy before it, answers that will have an answer later."""


class AgentError(Exception):
    """Why something cannot be, in one sentence; `hints` say what to do; `code` is the exit code.

    `kind` is its one word for programs; `after` are the seconds that a server asks to be left alone.
    """

    code = USAGE
    kind = "node"

    def __init__(self, message: str, *hints: str, after: float = 0.0) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints
        self.after = after

    def __str__(self) -> str:
        return " ".join((self.message, *self.hints))


class SettingsError(AgentError):
    """agent.toml is missing, says something wrong, or could have been written by somebody else."""


class Forbidden(AgentError):
    """Something on this node is in the way: another agent, a key that others can read."""

    code = REFUSED


class Unreachable(AgentError):
    """No server gave an answer, or none that ended in time."""

    code = NO_TIME
    kind = "unreachable"


class Dropped(Unreachable):
    """A connection that was kept is dead, as it is when a server was started anew."""


class Untrusted(AgentError):
    """An answer that is not the pinned server's answer to this very request: nothing in it counts."""

    code = REFUSED
    kind = "untrusted"


class Declined(AgentError):
    """The server's own answer is no. `kind` is the problem's type, its last word: `pending`."""

    def __init__(self, status: int, kind: str, message: str, *hints: str, after: float = 0.0) -> None:
        super().__init__(message, *hints, after=after)
        self.code = NO_TIME if status in BUSY else REFUSED
        self.status = status
        self.kind = kind or "declined"
