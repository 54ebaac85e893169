"""Why a deploy did not come to an outcome on one node; `kind` is one word of a run's summary."""

from gitcfg.model import GitcfgError

NO_PYTHON, SUDO, FULL, BUSY, LOST, REFUSED = "no-python", "sudo", "full", "busy", "lost", "refused"
SOME_FAILED = 3


class FarError(GitcfgError):
    """The far end could not do what it was asked for, and nothing was touched."""

    def __init__(self, kind: str, message: str, *hints: str) -> None:
        super().__init__(message, *hints, code=SOME_FAILED)
        self.kind = kind


class Unreadable(FarError):
    """What the node says is not what the far end of a deploy says."""

    def __init__(self, why: str = "") -> None:
        super().__init__(REFUSED, " ".join(("The node's answer cannot be read.", why)).rstrip())


class Noisy(FarError):
    """The node's login writes without an end, so that the far end is not heard."""

    def __init__(self) -> None:
        hint = "Without a terminal a login must write nothing: see what its shell reads when it starts."
        super().__init__(REFUSED, "The node's login writes so much that nothing else can be heard.", hint)


class NoPython(FarError):
    """There is no Python on the node that could run the far end."""

    def __init__(self, message: str, *hints: str) -> None:
        super().__init__(NO_PYTHON, message, *hints)


class LineLost(FarError):
    """The line ended too early.

    `after` is the last step that was heard of, "" where the installation cannot have begun: a node is as it
    was then. Otherwise it goes on by itself, and the next `Hello` has its report.
    """

    def __init__(self, message: str, *hints: str, after: str = "") -> None:
        super().__init__(LOST, message, *hints)
        self.after = after
