"""Holds that lead nowhere. Findings are about one tree; which commits exist is a matter of refs."""

from collections.abc import Callable, Iterator

from gitcfg.library import Fleet
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED

Why = Callable[[str], str]
"""What is wrong with a commit, in words that go on after it; nothing: nodes can be held there."""


def describe_stray_holds(fleet: Fleet, why: Why) -> Iterator[str]:
    """Yield a sentence for each hold in force at a commit that its nodes cannot get; `why` says what is
    wrong with it.
    """
    if not has_holds(fleet):
        return
    for name, hold in sorted(fleet.model.holds.items()):
        wrong = why(hold.commit.name) if fleet.compiled.today <= hold.until else ""
        if wrong:
            commit = shown(hold.commit.name)[:ABBREVIATED]
            yield f"The hold {name} keeps its nodes at {commit}, {wrong}."


def has_holds(fleet: Fleet) -> bool:
    """Return whether there are any by the folder alone: where the cache knows all, the fleet need not be
    read.
    """
    return any(fleet.tree.entries("holds"))
