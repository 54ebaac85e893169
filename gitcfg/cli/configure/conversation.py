"""A conversation's state: what was there, what was done, and what it would be now."""

from enum import Enum
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cache import Scratch
from gitcfg.check.results import PLACES
from gitcfg.cli.configure.seen import Seen
from gitcfg.cli.configure.talk import Talk
from gitcfg.cli.console import Pager
from gitcfg.edit.configure import Step, Target, Work, find_target
from gitcfg.git.tree import changed_paths
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.cli.session import Session
    from gitcfg.git.tree import Tree
    from gitcfg.library import Fleet, Source


class Written(Enum):
    """How far it got, as it is told to who leaves."""

    NOTHING = "Nothing was changed."
    BEGUN = "It was just being written: `git status` tells how far; the next edit finishes what was begun."
    WHOLE = "What was written stays."


class Conversation:
    """Somebody configures something. Nothing is written here: what is done is done to a draft."""

    def __init__(
        self, session: "Session", source: "Source", talk: Talk, what: Target, fleet: "Fleet"
    ) -> None:
        self.session = msgspec.structs.replace(session, pager=Pager(""))  # a pager would hide what was said
        self.source = source
        self.talk = talk
        self.target = what
        self.work = Work(fleet.tree)
        self.base = Seen(fleet, what, source.today)
        self.now = self.base
        self._scratch = Scratch(source.cache)
        self._made: list[Fleet] = []
        self.written = Written.NOTHING

    def do(self, step: Step) -> bool:
        """Do a thing; False if it makes no difference. GitcfgError: it cannot be done."""
        done = self.work.take(step)
        if done:
            self._look()
        return done

    def back(self) -> Step:
        """Take back the last thing."""
        step = self.work.back()
        self._look()
        return step

    def anew(self) -> tuple[tuple[Step, GitcfgError], ...]:
        """Do everything to the repository as it is now; what can no longer be done, and why.

        GitcfgError: what is configured is gone.
        """
        tree = self.source.repository.worktree()
        self.base = self._seen(tree)
        found = find_target(self.base.fleet.model, self.target.entity)
        failed = self.work.onto(tree)
        assert found == self.target
        self._look()
        return failed

    def stale(self) -> tuple[str, ...]:
        """What has changed since in the repository, in order of path."""
        now = self.source.repository.worktree()
        return tuple(sorted(changed_paths(self.base.fleet.tree, now, PLACES)))

    def settled(self) -> None:
        """Nobody asks any more about what was before the last step, but for the beginning."""
        kept = (id(self.base.fleet), id(self.now.fleet))  # to compare fleets would compile all their nodes
        for fleet in self._made:
            if id(fleet) not in kept:
                fleet.close()
        self._made = [fleet for fleet in self._made if id(fleet) in kept]

    def close(self) -> None:
        """End what answers for drafts."""
        for fleet in self._made:
            fleet.close()

    def _look(self) -> None:
        """See what it would be now. What was before may be asked about still."""
        self.now = self._seen(self.work.draft.tree) if self.work.steps else self.base

    def _seen(self, tree: "Tree") -> Seen:
        from gitcfg.library import Fleet

        before = self.source.repository.before(self.source.repository.worktree())
        # What the first check finds out is kept, so that the next conversation looks only at what is other
        # then (4 s at 10,000 nodes); all that comes later is forgotten.
        cache = self._scratch if self.work.steps[1:] else self.source.cache
        self._made.append(Fleet(tree, before, self.source.today, cache))
        return Seen(self._made[-1], self.target, self.source.today)
