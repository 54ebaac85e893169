"""The errors of an agent, each with its exit code."""

from __future__ import annotations

USAGE, REVERTED, REFUSED, NO_TIME = 2, 3, 4, 5


PENDING = "pending"
"""The server's word for a node that is not in git."""
UNAUTHORIZED = "unauthorized"
"""The server's word for a signature that does not match the key in git."""
SECRETS = "secrets"
"""The server's word for contents that it cannot provide. Only fetches get it, not check-ins."""
BUSY = (429, 502, 503, 504)
"""The statuses of a server, or a proxy before it, that may answer later."""


class AgentError(Exception):
    """A failure, in one sentence. `hints` are what to do, `code` is the exit code.

    `kind` is a word for programs. `after` is how many seconds the server asks to wait.
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
    """agent.toml is missing or invalid, or other users could have written it."""


class Forbidden(AgentError):
    """Something on this node prevents the agent's work: another agent, or a key that others can read."""

    code = REFUSED


class Unreachable(AgentError):
    """No server answered, or no answer was complete in time."""

    code = NO_TIME
    kind = "unreachable"


class Dropped(Unreachable):
    """A kept connection is dead, for example because the server restarted."""


class Untrusted(AgentError):
    """The answer is not the pinned server's answer to this very request: nothing in it counts."""

    code = REFUSED
    kind = "untrusted"


class Declined(AgentError):
    """The server itself rejected the request. `kind` is the last word of the problem's type: `pending`."""

    def __init__(self, status: int, kind: str, message: str, *hints: str, after: float = 0.0) -> None:
        super().__init__(message, *hints, after=after)
        self.code = NO_TIME if status in BUSY else REFUSED
        self.status = status
        self.kind = kind or "declined"
