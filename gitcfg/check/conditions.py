"""What is wrong with conditions: those that cannot be read (GC102), and nodes on which one fails (GC408)."""

from collections.abc import Iterator

from gitcfg.cel import CelProblem
from gitcfg.check.fold import of
from gitcfg.compile.selection import Selection
from gitcfg.model import Finding, Ref


def unreadable(where: Ref, problem: CelProblem) -> Finding:
    """A condition that says nothing."""
    message = f"The condition cannot be read: {problem.message}"
    return of("GC102", where.origin.file, message, [where.origin], hint=problem.hint)


def failing(owner: str, where: Ref, selection: Selection) -> Iterator[Finding]:
    """The nodes on which the condition of an override or a hold cannot be evaluated."""
    for name, problem in selection.failed.items():
        message = f"The condition of {owner} fails: {problem.message}"
        yield of("GC408", owner, message, [where.origin], [name], problem.hint)
