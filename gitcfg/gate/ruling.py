"""What the gate says of refs that move between the same commits."""

from typing import TYPE_CHECKING

import msgspec

from gitcfg.model import Finding

if TYPE_CHECKING:  # a push of nothing to judge needs none of these
    from gitcfg.check.results import Checked
    from gitcfg.comparison.comparison import Comparison
    from gitcfg.git.tree import Tree


class Refusal(msgspec.Struct, frozen=True):
    """Why refs may not move, in words that go on after their names and a colon."""

    why: str
    hint: str = ""


class CommitFindings(msgspec.Struct, frozen=True):
    """What was found wrong at a commit, and how much of it had been wrong before.

    `wrong` are the findings that count: warnings that were not there before, and errors, with a ratchet
    only those that were not.
    """

    commit: str
    tree: "Tree"
    checked: "Checked"
    wrong: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """How many errors count."""
        return sum(finding.is_error for finding in self.wrong)

    def plus(self, more: tuple[Finding, ...]) -> "CommitFindings":
        """The same with more that is wrong."""
        if not more:
            return self
        from gitcfg.check.base import folded

        checked = msgspec.structs.replace(self.checked, findings=folded((*self.checked.findings, *more)))
        return msgspec.structs.replace(self, checked=checked, wrong=folded((*self.wrong, *more)))


class Ruling(msgspec.Struct, frozen=True):
    """`protected` are those of the refs that the gate guards; without refusals they may move. `barred` is why
    none of the refs may, protected or not.

    `base` is the commit that what is `at_tip` at the new one, `commit`, is compared with; `earlier` are
    commits on the way there that have errors; `gate` tells what changes of the gate's own settings, a line
    each, and `further` whom it reaches beside nodes that change. Where nothing had to be judged there is
    nothing seen, and without a base there are no changes.
    """

    refs: tuple[str, ...]
    protected: tuple[str, ...]
    refusals: tuple[Refusal, ...] = ()
    commit: str | None = None
    base: str | None = None
    earlier: tuple[CommitFindings, ...] = ()
    at_tip: CommitFindings | None = None
    changes: "Comparison | None" = None
    gate: tuple[str, ...] = ()
    further: tuple[str, ...] = ()
    unreadable: bool = False
    errors: int = 0
    barred: tuple[Refusal, ...] = ()

    def brief(self) -> "Ruling":
        """The same without what takes memory: what it says of refs."""
        errors = self.at_tip.errors if self.at_tip is not None else 0
        return msgspec.structs.replace(self, at_tip=None, earlier=(), changes=None, errors=errors)

    def shows_same_as(self, other: "Ruling") -> bool:
        """Does it show nothing else than another one does?"""
        same = (self.base, self.commit) == (other.base, other.commit)
        return same and not self.earlier and self.unreadable == other.unreadable

    @property
    def refused(self) -> bool:
        """May the refs not move?"""
        return bool(self.barred or (self.protected and self.refusals))
