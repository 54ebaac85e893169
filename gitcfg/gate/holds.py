"""Holds that lead nowhere: findings are about one tree, and which commits there are is said by refs."""

from collections.abc import Callable, Iterator

from gitcfg.library import Fleet
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED

Why = Callable[[str], str]
"""What is wrong with a commit, in words that go on after it; nothing: nodes can be held there."""


def describe_stray_holds(fleet: Fleet, why: Why) -> Iterator[str]:
    """A sentence for each hold that still counts and keeps its nodes at a commit that they cannot get."""
    if not has_holds(fleet):
        return
    for name, hold in sorted(fleet.model.holds.items()):
        wrong = why(hold.commit.name) if fleet.compiled.today <= hold.until else ""
        if wrong:
            commit = shown(hold.commit.name)[:ABBREVIATED]
            yield f"The hold {name} keeps its nodes at {commit}, {wrong}."


def has_holds(fleet: Fleet) -> bool:
    """Are there any? The folder says it: what else the fleet says need not be read, where all is known."""
    return any(fleet.tree.entries("holds"))
