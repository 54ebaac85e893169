"""Expressions that came to no end: what depends on them is known of no node, and nothing is made of it."""

from typing import Self

from gitcfg.cel import CelStopped
from gitcfg.model import GitcfgError, Ref


class Stopped(GitcfgError):
    """An expression was stopped: `what` it is in words, whose it is, and where it stands, if in a file."""

    def __init__(self, what: str, problem: CelStopped, owner: str = "", at: Ref | None = None) -> None:
        hint = f"{problem.hint[:1].upper()}{problem.hint[1:]}."
        place = f" ({at.origin})" if at is not None else ""
        super().__init__(f"{what} fails: {problem.message}{place}.", *([hint] if problem.hint else []))
        self.what, self.owner, self.at = what, owner, at
        self.problem = CelStopped(*problem.args)  # without the frames that it came through

    def named(self, what: str, owner: str, at: Ref | None = None) -> Self:
        """The same, once it is known whose the expression is; one of which that is known stays as it is."""
        return self if self.owner else type(self)(what, self.problem, owner, at)
