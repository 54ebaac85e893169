"""Checks whose answers are kept: the same question is answered once, and a new one from the last answer."""

from collections.abc import Sized
from datetime import date
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from gitcfg.cache import Cache, NoCache
from gitcfg.check.checked import PLACES, Checked, as_told, checked, question, same_nodes
from gitcfg.git.tree import Tree, fingerprint
from gitcfg.load.root import is_repository
from gitcfg.model import Finding, Model

if TYPE_CHECKING:  # what is remembered needs none of these
    from gitcfg.check.judge import Judge
    from gitcfg.check.run import Examined
    from gitcfg.compile.concerned import Version
    from gitcfg.compile.fleet import Fleet
    from gitcfg.compile.nodes import Roster
    from gitcfg.render.templates import TemplateEngine


class Subject(Sized, Protocol):
    """What is checked, each part of it made when it is asked for. Its length is its number of nodes."""

    @property
    def model(self) -> Model: ...

    @property
    def roster(self) -> "Roster": ...

    @property
    def version(self) -> "Version": ...

    @property
    def compiled(self) -> "Fleet": ...

    @property
    def engine(self) -> "TemplateEngine": ...

    def is_compiled(self) -> bool:
        """Is everything compiled already, so that looking at all of it costs little more?"""
        ...


class Checks:
    """Checks of one tree. `before` is what was there before, for nodes that are gone.

    What the tree says is handed in with each question: it keeps these, so that they do not keep it.
    """

    def __init__(self, tree: Tree, before: Tree | None, today: date, cache: Cache) -> None:
        self._tree = tree
        self._before = before
        self._today = today
        self._cache = cache

    def checked(self, subject: Subject, judged_by: str = "", judge: "Judge | None" = None) -> Checked:
        """The findings; `judged_by` names the judge and all that its verdicts depend on."""
        known = self.known(judged_by)
        if known is not None:
            return known
        return as_told(self._check(subject, judged_by, judge), self._today, bool(judged_by))

    def known(self, judged_by: str) -> Checked | None:
        """Return what is kept of such a check; None: it has to be made."""
        found = self._cache.get(self._question(judged_by), Checked)
        return as_told(found, self._today, bool(judged_by)) if found is not None else None

    def _question(self, judged_by: str) -> str:
        return question(self._tree, self._earlier, self._today, judged_by)

    def _check(self, subject: Subject, judged_by: str, judge: "Judge | None") -> Checked:
        """Check what changed since the last check, or everything."""
        from gitcfg.check.again import State, again, places_of, state
        from gitcfg.check.run import concluded, examine

        last = f"state 7 {judged_by}"
        prior = None if subject.is_compiled() else self._cache.get(last, State)
        places = places_of(self._tree)
        taken = again(prior, places, subject.version, subject.roster, self._today, judge) if prior else None
        fleet = taken.fleet if taken else subject.compiled
        examined = taken.examined if taken else examine(fleet, subject.engine, judge)
        found = concluded(fleet, examined, self._previous(), subject.roster)
        if not isinstance(self._cache, NoCache) and examined.traces is not None:
            if taken is None:
                subject.version.mentions()  # all nodes are known now; the next change asks who mentions what
            left = state(fleet, places, examined, prior if taken else None)
            if left is not None:
                self._cache.put(last, left)
                if left.untyped:
                    self._cache.put(self._implied, left.implied)
        return self._keep(subject, found, examined, judged_by)

    def _keep(
        self, subject: Subject, found: "list[Finding]", examined: "Examined", judged_by: str
    ) -> Checked:
        """Keep the answer, and with it what a check without parsers gives: all that none of them said."""
        from gitcfg.check.causes import with_causes
        from gitcfg.check.fold import folded

        model = subject.model
        alone = with_causes(model, folded(found))
        findings = with_causes(model, folded([*found, *examined.parsed])) if examined.parsed else alone
        answer = checked(subject.model, len(subject), findings, bool(examined.unjudged))
        self._cache.put(self._question(judged_by), answer)
        if judged_by:
            self._cache.put(self._question(""), checked(subject.model, len(subject), alone))
        return answer

    def implied(self) -> dict[str, str] | None:
        """The types that all definitions imply of parameters without one, if a check has found them."""
        return self._cache.get(self._implied, dict[str, str])

    @property
    def _implied(self) -> str:
        return f"implied 1 {fingerprint(self._tree, PLACES)}"

    @cached_property
    def _earlier(self) -> Tree | None:
        """What was there before, if nodes were that may be gone."""
        if self._before is None or not is_repository(self._before):
            return None
        return None if same_nodes(self._tree, self._before) else self._before

    def _previous(self) -> "Roster | None":
        """Who was there before, if any may be gone."""
        from gitcfg.compile.nodes import Roster
        from gitcfg.load.repository import load_nodes_only

        return None if self._earlier is None else Roster(load_nodes_only(self._earlier, self._cache))
