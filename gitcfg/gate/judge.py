"""Judges a push: what each ref that moves brings, and whether it may."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from gitcfg.cache import Cache
from gitcfg.check.results import Checked, Known, checked, counting
from gitcfg.gate.astray import astray
from gitcfg.gate.copied import copied
from gitcfg.gate.key_changes import key_changes
from gitcfg.gate.policy import Administrator, Policy
from gitcfg.gate.push import Update
from gitcfg.gate.reach import beside, secret_reach
from gitcfg.gate.refusals import (
    DELETED,
    NO_COMMIT,
    NO_SETTINGS,
    NO_SIGNERS,
    reserved,
    rewound,
    unread,
    unsigned,
    unsound,
    wrong,
)
from gitcfg.gate.ruling import Refusal, Ruling, Seen
from gitcfg.gate.secret_changes import secret_changes
from gitcfg.gate.secret_words import secret_lines
from gitcfg.gate.secrets import Before, given_away, withheld
from gitcfg.gate.settings import settings_changes
from gitcfg.gate.standing import Standing
from gitcfg.gate.unless_stopped import unless_stopped
from gitcfg.git.fsck import unsound_entries
from gitcfg.git.repository import Repository
from gitcfg.git.signatures import Signers
from gitcfg.git.tree import Tree
from gitcfg.library import Fleet, compare
from gitcfg.model import Finding
from gitcfg.sandbox import progress

if TYPE_CHECKING:
    from gitcfg.comparison.comparison import Comparison

_Ends = tuple[str | None, str | None]


class Gate:
    """Judges pushes to a repository whose refs have not moved yet. Nothing is written but to the cache.

    Signatures are judged at `now`; `revoked` lists keys that may sign no more. `pusher` are the names of who
    pushes: none where it is not known, and None where nobody is charged with it.
    """

    def __init__(
        self,
        repository: Repository,
        said: Administrator,
        cache: Cache,
        now: datetime,
        revoked: Path | None = None,
        today: date | None = None,
        pusher: tuple[str, ...] | None = None,
    ) -> None:
        self._standing = Standing(repository, said)
        self._said = said
        self._cache = cache
        self._now = now
        self._revoked = revoked
        self._signers: dict[bytes, Signers] = {}
        self._today = today or now.date()
        self._pusher = pusher

    @contextmanager
    def rulings(self, updates: Iterable[Update]) -> Iterator[Iterator[Ruling]]:
        """Refs that move between the same commits are judged once. A ruling's trees last until the next."""
        alike: dict[_Ends, list[str]] = {}
        for update in updates:
            alike.setdefault((update.old, update.new), []).append(update.ref)
        with ExitStack() as opened:
            yield self._rulings(alike, opened)

    def _rulings(self, alike: dict[_Ends, list[str]], opened: ExitStack) -> Iterator[Ruling]:
        for (old, new), refs in alike.items():
            yield self._ruling(tuple(refs), old, new, opened)
            opened.close()

    def _ruling(self, refs: tuple[str, ...], old: str | None, new: str | None, opened: ExitStack) -> Ruling:
        standing = self._standing
        names = (name for ref in refs for name in (ref, standing.refs.moved(ref)))
        if barred := next(filter(None, map(reserved, names)), None):
            return Ruling(refs, (), barred=(barred,))
        before = standing.refs.commit_or_error(old) if old is not None else None
        demanded = standing.policy(before)
        protected = tuple(ref for ref in refs if standing.protects(demanded, ref))
        ruling = Ruling(refs, protected, unreadable=demanded.unreadable)
        if new is None:
            return ruling if self._said.deletion else replace(ruling, refusals=(DELETED,))
        commit = standing.refs.commit(new)
        if commit is None:
            return replace(ruling, refusals=(NO_COMMIT,))
        ruling = replace(ruling, commit=commit)
        if not protected and standing.is_known(commit):
            return ruling
        progress.note("looking at the trees of", commit)
        found = next(unsound_entries(standing.repository, standing.new(commit)), None)
        if found is not None:
            return replace(ruling, barred=(unsound(found),))
        refusals = tuple(self._formal(demanded, before, commit)) if protected else ()
        if standing.tree(commit) is None:
            return replace(ruling, refusals=(*refusals, NO_SETTINGS))
        base = before if standing.tree(before) is not None else standing.parted(commit)
        return self._seen(replace(ruling, refusals=refusals, base=base), demanded, before, commit, opened)

    def _formal(self, demanded: Policy, before: str | None, commit: str) -> Iterator[Refusal]:
        """Refusals whatever the configuration says."""
        standing = self._standing
        if before is not None and not self._said.rewind and not standing.refs.includes(commit, before):
            yield rewound(before, commit)
        if demanded.permits.unreadable:
            yield unread(demanded.permits.unreadable)
        if not demanded.signed:
            return
        signers = self._signers_of(demanded)
        if signers.nobody:
            yield NO_SIGNERS
            return
        added = standing.unjudged(before, commit, demanded, lambda other: other.signed)
        progress.note("verifying signatures")
        yield from unsigned(added, signers.of(*added))

    def _signers_of(self, demanded: Policy) -> Signers:
        new = Signers(self._standing.repository, demanded.signers, self._revoked, self._now)
        return self._signers.setdefault(demanded.signers, new)

    def _breaches(
        self, demanded: Policy, before: str | None, ruling: Ruling, commit: str
    ) -> dict[str, tuple[Finding, ...]]:
        """GC405 by commit: what signers may not change, and of the last one what who pushes may not."""
        if not (ruling.protected and demanded.permits.rules):
            return {}
        from gitcfg.gate.permits.inheritance import inherits_alike
        from gitcfg.gate.permits.push import Judged

        standing, signers = self._standing, self._signers_of(demanded)
        judged = Judged(demanded.permits, standing.repository, lambda id: signers.of(id)[0])
        start, law = standing.start(before, ruling.base, demanded)
        ruled = standing.tree(law if law is not None else start)

        def judges_alike(head: Policy) -> bool:
            """Has the branch of HEAD judged what stands on it by the same rules?"""
            if (head.permits, head.signers) != (demanded.permits, demanded.signers):
                return False
            tip = standing.tree(standing.refs.tip(standing.refs.head))
            return inherits_alike(demanded.permits.rules, ruled, tip)

        added = standing.unjudged(before, commit, demanded, judges_alike)
        return judged.all(added, (start, commit), self._pusher, law)

    def _seen(
        self, ruling: Ruling, demanded: Policy, before: str | None, commit: str, opened: ExitStack
    ) -> Ruling:
        """The ruling with what is found at the new commit, and on the way there if that counts."""
        progress.note("judging", commit)
        old = self._fleet(ruling.base, None, opened)
        new = self._fleet(commit, old.tree if old is not None else None, opened)
        assert new is not None
        # Once for all commits, and only if something is found: most pushes bring nothing that is wrong.
        known = cache(lambda: Known(self._checked(old).findings if old is not None else ()))
        looked = partial(self._look, known, demanded.ratchet)
        each = demanded.each and ruling.protected
        added = self._standing.added(before, commit, demanded, lambda other: other.each) if each else ()
        earlier = tuple(self._failing(added, commit, looked))
        was, secrets = self._befores(demanded, before, ruling)
        if secrets is not None and ruling.protected:
            passed = self._standing.added(before, commit, demanded, lambda _: True)
            earlier += tuple(self._failing(passed, commit, partial(given_away, secrets)))
        breached = self._breaches(demanded, before, ruling, commit)
        earlier += tuple(self._only(id, found) for id, found in breached.items() if id != commit)
        more = (*(withheld(secrets, new) if secrets is not None else ()), *breached.get(commit, ()))
        seen = looked(new).plus(more)
        changes = unless_stopped(partial(_compared, old, new)) if old is not None else None
        without = ruling.base if demanded.ratchet else None
        refusals = [wrong(found, without) for found in (*earlier, seen) if found.errors]
        return replace(
            ruling,
            refusals=(*ruling.refusals, *refusals),
            earlier=earlier,
            seen=seen,
            changes=changes,
            beside=unless_stopped(partial(beside, changes, new)) or () if changes is not None else (),
            gate=(
                *(settings_changes(old.tree, new.tree, self._kept(ruling)) if old is not None else ()),
                *(unless_stopped(partial(_of_secrets, old, new)) or () if old is not None else ()),
                *(unless_stopped(partial(secret_reach, changes)) or () if changes is not None else ()),
                *(copied(was, new) if was is not None else ()),
                *(unless_stopped(partial(key_changes, old, new)) or () if old is not None else ()),
                *astray(new, lambda held: self._unheld(demanded, commit, held)),
            ),
        )

    def _kept(self, ruling: Ruling) -> str:
        """The branch of HEAD, if it moves and is protected whatever gitcfg.yaml says."""
        head = self._standing.refs.head
        return head if self._said.protected is None and head in ruling.refs else ""

    def _befores(
        self, demanded: Policy, before: str | None, ruling: Ruling
    ) -> tuple[Before | None, Before | None]:
        """The secrets with which those of a push are compared, and by which a protected ref's are judged."""
        repository, base = self._standing.repository, ruling.base
        tips = self._standing.kept(before, base, demanded) if ruling.protected else ()
        was = Before(repository, base, (tip for tip in tips if tip != base)) if base is not None else None
        return was, was if not tips or tips[0] == base else Before(repository, tips[0], tips[1:])

    def _unheld(self, demanded: Policy, commit: str, held: str) -> str:
        """What is wrong with a commit at which nodes are to be held."""
        refs = self._standing.refs
        found = refs.commit(held)
        tips = (refs.tip(name) for name in refs.names() if demanded.protects(name))
        if found is not None and any(refs.includes(tip, found) for tip in (commit, *tips) if tip is not None):
            return ""
        return "which no protected branch has"

    def _failing(self, commits: Iterable[str], last: str, looked: Callable[[Fleet], Seen]) -> Iterator[Seen]:
        """Commits before the last one that have errors; what has no settings is no configuration yet."""
        for commit in commits:
            seen = self._alone(commit, looked) if commit != last else None
            if seen is not None and seen.errors:
                yield seen

    def _only(self, commit: str, found: tuple[Finding, ...]) -> Seen:
        """Nothing but what is wrong with what a commit changes."""
        tree = self._standing.repository.at(commit)

        def size(fleet: Fleet) -> Seen:
            return Seen(commit, tree, checked(fleet.model, len(fleet), ()), ())

        return (self._alone(commit, size) or Seen(commit, tree, Checked((), 0, 0, 0, 0), ())).plus(found)

    def _alone(self, commit: str, looked: Callable[[Fleet], Seen]) -> Seen | None:
        """What is found at a commit, whose fleet ends before there is another one."""
        with ExitStack() as opened:
            fleet = self._fleet(commit, None, opened)
            return None if fleet is None else looked(fleet)

    def _look(self, known: Callable[[], Known], ratchet: bool, fleet: Fleet) -> Seen:
        """What is wrong, but for warnings that are known, and with a ratchet errors that are."""
        checked = self._checked(fleet)
        wrong = counting(checked.findings, known, ratchet)
        return Seen(fleet.commit or "", fleet.tree, checked, wrong)

    def _checked(self, fleet: Fleet) -> Checked:
        return fleet.all_checked if self._said.parsers else fleet.checked

    def _fleet(self, commit: str | None, before: Tree | None, opened: ExitStack) -> Fleet | None:
        tree = self._standing.tree(commit)
        if tree is None:
            return None
        before = before or self._standing.repository.before(tree)
        return opened.enter_context(Fleet(tree, before, self._today, self._cache))


def _compared(old: Fleet, new: Fleet) -> "Comparison":
    found = compare(old, new)
    _ = found.changes  # all that it asks is asked here
    return found


def _of_secrets(old: Fleet, new: Fleet) -> tuple[str, ...]:
    return tuple(secret_lines(secret_changes(old, new)))
