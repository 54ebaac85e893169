"""The one exception: what makes a command impossible."""

REFUSED = 4
"""The exit code of what is not done because something is in the way."""


class GitcfgError(Exception):
    """What makes a command impossible, with its exit code (interfaces: 2 usage, 4 refused, ...)."""

    def __init__(self, message: str, *hints: str, code: int = 2) -> None:
        super().__init__(message)
        self.message = message
        self.hints = hints
        self.code = code
