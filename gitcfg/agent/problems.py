"""What goes wrong between a node and its server, each kind with the exit code that it means."""

from __future__ import annotations

USAGE, REVERTED, REFUSED, NO_TIME = 2, 3, 4, 5


class AgentError(Exception):
    """Why something cannot be, in one sentence; `hints` say what to do; `code` is the exit code."""

    code = USAGE

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints

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


class Dropped(Unreachable):
    """A connection that was kept is dead, as it is when a server was started anew."""


class Untrusted(AgentError):
    """An answer that is not the pinned server's answer to this very request: nothing in it counts."""

    code = REFUSED


class Declined(AgentError):
    """The server's own answer is no. `kind` is the problem's type, its last word: `pending`."""

    code = REFUSED

    def __init__(self, status: int, kind: str, message: str, *hints: str) -> None:
        super().__init__(message, *hints)
        self.status = status
        self.kind = kind
