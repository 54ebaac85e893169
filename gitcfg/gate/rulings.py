"""What the gate says of refs that move between the same commits."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from gitcfg.git.fsck import Unsound
from gitcfg.git.signatures import Flaw, Signed
from gitcfg.load.repository import FILE
from gitcfg.model import Finding
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED, counted

if TYPE_CHECKING:
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


# Why refs may not move, in words: each is a contract with who reads it in a terminal.

NOTES = "refs/notes/gitcfg"
"""Where it is noted why a push was made: `git log --notes=gitcfg` shows it."""
_REPLACE = "refs/replace/"
DELETED = Refusal(
    "it is protected and may not be deleted.",
    "The server's administrator allows it with `git config gitcfg.allowDeletion true`.",
)
NO_COMMIT = Refusal("it is protected and must lead to a commit.")
NO_SETTINGS = Refusal(
    f"there is no {FILE} at the root of what is pushed.", "`gitcfg init` makes a repository."
)
NO_SIGNERS = Refusal(
    "commits must be signed, and nobody may sign.",
    "The server's administrator names who may in a file: `git config gitcfg.allowedSigners FILE`.",
)


def refuse_reserved_ref(ref: str) -> Refusal | None:
    """Why nobody may push to a ref, if nobody may."""
    if ref.casefold() == NOTES:
        return Refusal("only the server writes this ref.")
    if ref.casefold().startswith(_REPLACE):
        return Refusal("git would read these objects in place of others, so no push may add them.")
    return None


def refuse_unsound_tree(found: Unsound) -> Refusal:
    """A commit has a tree that git does not check out everywhere as it was read here."""
    wrong = "two entries named" if found.double else "an entry that git refuses to check out:"
    return Refusal(
        f"{found.commit[:ABBREVIATED]} has {wrong} {shown(found.path)}.",
        "Remove it from every commit of the push; `git fsck` lists such trees.",
    )


def refuse_unreadable_rules(places: Iterable[str]) -> Refusal:
    """Rules cannot be understood as they were before: they might forbid anything."""
    return Refusal(
        f"who may change what cannot be read, as it was: {', '.join(places)}.",
        "The server's administrator opens the gate for what mends it: `git config gitcfg.bypass`.",
    )


def refuse_rewind(before: str, commit: str) -> Refusal:
    """What is pushed does not come after what was there."""
    return Refusal(
        f"{commit[:ABBREVIATED]} does not come after {before[:ABBREVIATED]}.",
        "Merge what was pushed before. The server's administrator allows rewinding with "
        "`git config gitcfg.allowRewind true`.",
    )


def refuse_errors(seen: CommitFindings, base: str | None) -> Refusal:
    """A commit has errors; `base` is what does not have them, if only new ones count."""
    new = f" that {base[:ABBREVIATED]} did not have" if base is not None else ""
    number = counted(seen.errors, "error")
    return Refusal(f"{seen.commit[:ABBREVIATED]} has {number}{new}.")


def refuse_unsigned(commits: Iterable[str], signed: Iterable[Signed]) -> Iterator[Refusal]:
    """Commits whose signatures do not count: all with one flaw of one key together, in order of the first."""
    alike: dict[Signed, list[str]] = {}
    for commit, found in zip(commits, signed, strict=True):
        if found.flaw is not None:
            alike.setdefault(found, []).append(commit[:ABBREVIATED])
    for found, ids in alike.items():
        flaw = found.flaw or Flaw.NONE
        key = f" ({found.key})" if found.key else ""
        yield Refusal(f"{', '.join(ids)} {'is' if len(ids) == 1 else 'are'} {flaw.value}{key}.", _hint(found))


def _hint(found: Signed) -> str:
    hint, unread = _HINTS.get(found.flaw, ""), found.unread
    if not unread:
        return hint
    if len(unread) == 1:
        return f"{hint} Its line {unread[0]} cannot be read."
    return f"{hint} {len(unread)} of its lines cannot be read, the first is line {unread[0]}."


_SIGN = (
    "`git config gpg.format ssh` and `git config user.signingkey FILE`; then "
    "`git commit --amend --no-edit -S` signs the last commit, `git rebase -f -S BASE` all after BASE."
)
_HINTS: dict[Flaw | None, str] = {
    Flaw.NONE: _SIGN,
    Flaw.FOREIGN: _SIGN,
    Flaw.LARGE: "Only smaller commits are judged.",
    Flaw.BROKEN: "Sign it anew: `git commit --amend --no-edit -S`.",
    Flaw.PURPOSE: "Sign it with git: `git commit --amend --no-edit -S`.",
    Flaw.UNKNOWN: "Who may sign is told by allowed_signers, as it was before this push, or by the server's "
    "own list.",
    Flaw.UNTIMELY: "It counts when a commit is pushed, not when it was made: sign it anew with another key.",
    Flaw.CERTIFICATE: "It must not have expired, and must be for somebody whom allowed_signers names.",
    Flaw.NAMESPACE: 'Its line in allowed_signers must allow the namespace "git".',
    Flaw.REVOKED: "The server's gpg.ssh.revocationFile says so, or cannot be understood.",
}
