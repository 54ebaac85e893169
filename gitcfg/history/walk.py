"""The commits that changed a result: each compared with every one of its parents."""

from collections.abc import Generator
from contextlib import closing
from typing import Any

import msgspec

from gitcfg.git.history import History
from gitcfg.history.effect import Effect, Step
from gitcfg.history.question import Question, Result, result
from gitcfg.history.snapshot import Snapshot, followed


class State(msgspec.Struct, frozen=True):
    """A commit's tree, its files, and what is known of the result there."""

    tree: bytes | None
    snapshot: Snapshot
    known: Any


Steps = Generator[Step, None, None]
"""Close it if you do not go to its end."""


def steps(history: History, question: Question, tip: str, known: str | None = None) -> Steps:
    """The commits whose result is another than each of their parents', newest first.

    The first commit of all changed the result if the thing is there. Without those that `known` is or
    comes after.
    """
    with closing(result(history, question)) as answers:
        walk = Walk(history, answers)
        for commit in history.walk(tip, known):
            effect = walk.visit(commit)
            if effect is not None:
                yield Step(commit, effect)


class Walk:
    """Goes from commits to their parents; states are kept only until their commit has been visited."""

    def __init__(self, history: History, answers: Result) -> None:
        self._history = history
        self._answers = answers
        self._states: dict[str, State] = {}

    def visit(self, commit: str) -> Effect | None:
        """What a commit changed, compared to its first parent; None if it changed nothing."""
        state = self._states.pop(commit, None) or self._at(commit, None)
        parents: list[State | None] = [self._parent(each, state) for each in self._history.parents(commit)]
        effects = [self._effect(parent, state) for parent in parents or [None]]
        return effects[0] if all(effect is not None for effect in effects) else None

    def _parent(self, commit: str, child: State) -> State:
        if commit not in self._states:
            self._states[commit] = self._at(commit, child)
        return self._states[commit]

    def _at(self, commit: str, neighbour: State | None) -> State:
        tree = self._history.root(commit)
        if neighbour is not None and neighbour.tree == tree:
            return neighbour
        before = neighbour or State(None, Snapshot(), None)
        changes = self._history.trees.changed(before.tree, tree)
        snapshot, keys = followed(before.snapshot, changes)
        if neighbour is not None and not keys and snapshot.settings == before.snapshot.settings:
            return State(tree, snapshot, before.known)
        return State(tree, snapshot, self._answers.follow(before.known, snapshot, keys))

    def _effect(self, old: State | None, new: State) -> Effect | None:
        if old is not None and old.known is new.known:
            return None
        return self._answers.effect(old.known if old else None, new.known)
