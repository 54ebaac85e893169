"""The state of `gitcfg configure`: its view of the fleet, and the steps that were done."""

from datetime import date
from enum import Enum
from functools import cached_property
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cache import Scratch
from gitcfg.check.results import PLACES
from gitcfg.cli.configure.terminal import Talk
from gitcfg.cli.console import Pager
from gitcfg.edit.configure import (
    IMAGINED_NODE,
    Step,
    Target,
    Work,
    check_imagined,
    find_definition,
    find_nodes,
    find_target,
    imagine_fleet,
)
from gitcfg.edit.draft import Draft
from gitcfg.git.tree import changed_paths
from gitcfg.model import Finding, GitcfgError, Group, Node

if TYPE_CHECKING:
    from gitcfg.cli.session import Session
    from gitcfg.comparison.comparison import Comparison
    from gitcfg.compile import fleet as whole
    from gitcfg.compile.node_class import NodeClass
    from gitcfg.git.tree import Tree
    from gitcfg.library import Fleet, Source


class TargetView:
    """A fleet, restricted to what one definition affects: nothing else is read."""

    def __init__(self, fleet: "Fleet", target: Target, today: date) -> None:
        self.fleet = fleet
        self._today = today
        self.target = target

    @property
    def definition(self) -> Node | Group | None:
        """The definition in the repository; None if it does not exist."""
        return find_definition(self.fleet.model, self.target)

    @cached_property
    def nodes(self) -> tuple[str, ...]:
        """The nodes of the definition."""
        return find_nodes(self.fleet.model, self.target, lambda: self.fleet.mentions)

    @cached_property
    def narrow(self) -> "Fleet":
        """The fleet restricted to these nodes."""
        return self.fleet.valued(self.nodes)

    @cached_property
    def compiled(self) -> "whole.Fleet":
        """The compiled fleet of these nodes; for a group without nodes, with an imagined member."""
        return self.narrow.compiled if self.nodes else self._imagined

    @cached_property
    def classes(self) -> tuple["NodeClass", ...]:
        """The classes of these nodes."""
        found = (self.compiled[name].node_class for name in self.nodes or (IMAGINED_NODE,))
        return tuple({id(one): one for one in found}.values())

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """All findings; for a group without nodes, also those of an imagined member."""
        return self.fleet.findings if self.nodes else (*self.fleet.findings, *check_imagined(self._imagined))

    @cached_property
    def _imagined(self) -> "whole.Fleet":
        fleet = self.fleet
        return imagine_fleet(fleet.model, fleet.tree, self._today, self.target.name, lambda: fleet.compiled)

    def since(self, before: "TargetView") -> "Comparison":
        """Return the changes on these nodes since an earlier view."""
        from gitcfg.library import compare

        return compare(before.narrow, self.narrow, sorted({*before.nodes, *self.nodes}))


class WriteResult(Enum):
    """How far writing got, with the message for a user who leaves."""

    NOTHING = "Nothing was changed."
    BEGUN = "Writing was interrupted: `git status` shows how far it got; the next edit finishes it."
    WHOLE = "What was written is kept."


class Conversation:
    """A dialog that configures a definition. All steps change a draft; nothing is written here."""

    def __init__(
        self, session: "Session", source: "Source", talk: Talk, what: Target, fleet: "Fleet"
    ) -> None:
        self.session = msgspec.structs.replace(session, pager=Pager(""))  # a pager would hide the dialog
        self.source = source
        self.talk = talk
        self.target = what
        self.work = Work(fleet.tree)
        self.base = TargetView(fleet, what, source.today)
        self.now = self.base
        self._scratch = Scratch(source.cache)
        self._made: list[Fleet] = []
        self.written = WriteResult.NOTHING

    def do(self, step: Step) -> bool:
        """Do a step; return False if it changes nothing. Raise GitcfgError if it is impossible."""
        done = self.work.take(step)
        if done:
            self._look()
        return done

    def back(self) -> Step:
        """Undo the last step."""
        step = self.work.back()
        self._look()
        return step

    def start_again(self) -> tuple[tuple[Step, GitcfgError], ...]:
        """Do all steps on the repository as it is now; return those that are no longer possible, and why.

        Raise GitcfgError if the definition no longer exists.
        """
        tree = self.source.repository.worktree()
        self.base = self._seen(tree)
        found = find_target(self.base.fleet.model, self.target.entity)
        failed = self.work.onto(tree)
        assert found == self.target
        self._look()
        return failed

    def find_changed(self) -> tuple[str, ...]:
        """Return the paths that have changed in the repository in the meantime, in order."""
        now = self.source.repository.worktree()
        return tuple(sorted(changed_paths(self.base.fleet.tree, now, PLACES)))

    def find_written(self) -> WriteResult:
        """Return how far writing got; if it was interrupted, compare the files themselves."""
        if self.written is not WriteResult.BEGUN:
            return self.written
        found, draft = Draft(self.source.repository.worktree()), self.work.draft
        now = {path: found.original(path) for path in draft.files}
        if now == draft.files:
            return WriteResult.WHOLE
        is_old = all(text == draft.original(path) for path, text in now.items())
        return WriteResult.NOTHING if is_old else WriteResult.BEGUN

    def close_past(self) -> None:
        """Close the fleets from before the last step, except the first: they are no longer needed."""
        kept = (id(self.base.fleet), id(self.now.fleet))  # comparing fleets would compile all their nodes
        for fleet in self._made:
            if id(fleet) not in kept:
                fleet.close()
        self._made = [fleet for fleet in self._made if id(fleet) in kept]

    def close(self) -> None:
        """Close the fleets of drafts."""
        for fleet in self._made:
            fleet.close()

    def _look(self) -> None:
        """Update the present view. The view before it may still be used."""
        self.now = self._seen(self.work.draft.tree) if self.work.steps else self.base

    def _seen(self, tree: "Tree") -> TargetView:
        from gitcfg.library import Fleet

        before = self.source.repository.before(self.source.repository.worktree())
        # Results of the first check are kept, so that the next dialog checks only what differs then (4 s at
        # 10,000 nodes). Later results are discarded.
        cache = self._scratch if self.work.steps[1:] else self.source.cache
        self._made.append(Fleet(tree, before, self.source.today, cache))
        return TargetView(self._made[-1], self.target, self.source.today)
