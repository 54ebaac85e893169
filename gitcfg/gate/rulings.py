"""The gate's rulings about refs that move between the same commits, and the reasons of refusals."""

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

import msgspec

from gitcfg.git.fsck import UnsoundEntry
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
    """Why refs may not move, as the end of a sentence after their names and a colon."""

    why: str
    hint: str = ""


class CommitFindings(msgspec.Struct, frozen=True):
    """What is wrong at a commit, and how much of it was wrong before.

    `wrong` are the findings that count: new warnings, and all errors, or with a ratchet only new ones.
    """

    commit: str
    tree: "Tree"
    checked: "Checked"
    wrong: tuple[Finding, ...]

    @property
    def errors(self) -> int:
        """The number of errors that count."""
        return sum(finding.is_error for finding in self.wrong)

    def plus(self, more: tuple[Finding, ...]) -> "CommitFindings":
        """Return the findings with more of them."""
        if not more:
            return self
        from gitcfg.check.findings import folded

        checked = msgspec.structs.replace(self.checked, findings=folded((*self.checked.findings, *more)))
        return msgspec.structs.replace(self, checked=checked, wrong=folded((*self.wrong, *more)))


class Ruling(msgspec.Struct, frozen=True):
    """The gate's ruling about refs.

    `protected` are those of the refs that it guards; without refusals they may move. `barred` says why none
    of the refs may move, protected or not. `at_tip` has the findings at the new `commit`, compared with
    `base`. `earlier` are commits before it that have errors; `gate` describes changes of the gate's own
    settings, one per line, and `further` the reach of the push besides nodes that change. If nothing had to
    be judged, `at_tip` is None; without a base there are no changes.
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
        """Return the ruling without the parts that take much memory."""
        errors = self.at_tip.errors if self.at_tip is not None else 0
        return msgspec.structs.replace(self, at_tip=None, earlier=(), changes=None, errors=errors)

    def shows_same_as(self, other: "Ruling") -> bool:
        """Return whether it shows nothing that the other ruling does not show."""
        same = (self.base, self.commit) == (other.base, other.commit)
        return same and not self.earlier and self.unreadable == other.unreadable

    @property
    def refused(self) -> bool:
        """Whether the refs may not move."""
        return bool(self.barred or (self.protected and self.refusals))


# Refusals: people read these texts in terminals and rely on them.

NOTES = "refs/notes/gitcfg"
"""The ref of notes with the reasons of pushes: `git log --notes=gitcfg` shows them."""
_REPLACE = "refs/replace/"
DELETED = Refusal(
    "it is protected and cannot be deleted.",
    "The server's administrator can allow it: `git config gitcfg.allowDeletion true`.",
)
NO_COMMIT = Refusal("it is protected and must point to a commit.")
NO_SETTINGS = Refusal(
    f"the pushed commit has no {FILE} at its root.", "Run `gitcfg init` to create a repository."
)
NO_SIGNERS = Refusal(
    "commits must be signed, but no one may sign.",
    "The server's administrator can name the signers in a file: `git config gitcfg.allowedSigners FILE`.",
)


def refuse_reserved_ref(ref: str) -> Refusal | None:
    """Return why a ref accepts no pushes, or None if it does."""
    if ref.casefold() == NOTES:
        return Refusal("only the server writes this ref.")
    if ref.casefold().startswith(_REPLACE):
        return Refusal("git would read these objects in place of others, so pushes cannot add them.")
    return None


def refuse_unsound_tree(found: UnsoundEntry) -> Refusal:
    """Refuse a commit with a tree that git may check out differently from how it was read here."""
    wrong = "two entries named" if found.double else "an entry that git refuses to check out:"
    return Refusal(
        f"{found.commit[:ABBREVIATED]} has {wrong} {shown(found.path)}.",
        "Remove it from every commit of the push; `git fsck` lists such trees.",
    )


def refuse_unreadable_rules(places: Iterable[str]) -> Refusal:
    """Refuse everything if rules cannot be read as they were before: they might forbid anything."""
    return Refusal(
        f"the permission rules before this push cannot be read: {', '.join(places)}.",
        "The server's administrator can open the gate for a fix: `git config gitcfg.bypass`.",
    )


def refuse_rewind(before: str, commit: str) -> Refusal:
    """Refuse a commit that is not a descendant of the previous one."""
    return Refusal(
        f"{commit[:ABBREVIATED]} is not a descendant of {before[:ABBREVIATED]}.",
        "Merge what was pushed before. The server's administrator can allow rewinding: "
        "`git config gitcfg.allowRewind true`.",
    )


def refuse_errors(seen: CommitFindings, base: str | None) -> Refusal:
    """Refuse a commit with errors; `base` is the commit without them, if only new ones count."""
    new = f" that {base[:ABBREVIATED]} did not have" if base is not None else ""
    number = counted(seen.errors, "error")
    return Refusal(f"{seen.commit[:ABBREVIATED]} has {number}{new}.")


def refuse_unsigned(commits: Iterable[str], signed: Iterable[Signed]) -> Iterator[Refusal]:
    """Yield refusals of commits whose signatures do not count, one for each flaw and key, in order."""
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
    "Run `git config gpg.format ssh` and `git config user.signingkey FILE`. Then sign the last commit with "
    "`git commit --amend --no-edit -S`, or all commits after BASE with `git rebase -f -S BASE`."
)
_HINTS: dict[Flaw | None, str] = {
    Flaw.NONE: _SIGN,
    Flaw.FOREIGN: _SIGN,
    Flaw.LARGE: "The gate judges only smaller commits.",
    Flaw.BROKEN: "Sign it again: `git commit --amend --no-edit -S`.",
    Flaw.PURPOSE: "Sign it with git: `git commit --amend --no-edit -S`.",
    Flaw.UNKNOWN: "The allowed signers are those of allowed_signers before this push, or of the server's own "
    "list.",
    Flaw.UNTIMELY: "The key must be valid when a commit is pushed, not when it was made. "
    "Sign it again with another key.",
    Flaw.CERTIFICATE: "The certificate must not have expired, and must be for a name in allowed_signers.",
    Flaw.NAMESPACE: 'Its line in allowed_signers must allow the namespace "git".',
    Flaw.REVOKED: "The server's gpg.ssh.revocationFile lists the key, or cannot be parsed.",
}
