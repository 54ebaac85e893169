"""What is wrong with conditions: those that cannot be read (GC102), and nodes on which one fails (GC408)."""

from collections.abc import Iterator
from typing import Any

from gitcfg.cel import CelProblem
from gitcfg.check.fold import of
from gitcfg.compile.selection import Selection
from gitcfg.compile.stopped import Stopped
from gitcfg.git.tree import Tree
from gitcfg.load.inside import inside_of
from gitcfg.model import Finding, Ref


def unreadable(tree: Tree, where: Ref, problem: CelProblem) -> Finding:
    """A condition that says nothing."""
    message = f"The condition cannot be read: {problem.message}"
    place = inside_of(tree, where, problem.line, problem.column)
    return of("GC102", where.origin.file, message, [place], hint=problem.hint)


def stopped(tree: Tree, found: Stopped) -> Finding:
    """An expression that came to no end: of which nodes it is true is not known."""
    message = f"{found.what} fails: {found.problem.message}"
    places = [] if found.at is None else [inside_of(tree, found.at, found.problem.line, found.problem.column)]
    return of("GC408", found.owner, message, places, hint=found.problem.hint)


def failing(tree: Tree, owner: str, where: Ref, selection: Selection) -> Iterator[Finding]:
    """The nodes on which the condition of an override or a hold cannot be evaluated."""
    alike: dict[tuple[Any, ...], list[str]] = {}  # finding the place takes longer than anything else here
    for name, problem in selection.failed.items():
        alike.setdefault(problem.args, []).append(name)
    for (said, line, column, hint), names in alike.items():
        place = inside_of(tree, where, line, column)
        yield of("GC408", owner, f"The condition of {owner} fails: {said}", [place], names, hint)
