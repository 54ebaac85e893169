"""The gate: judge a push by what each ref update adds, before any ref is updated."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from datetime import date, datetime
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from msgspec.structs import replace

import gitcfg.progress as progress
from gitcfg.cache import Cache
from gitcfg.check.results import Checked, Known, checked, counting
from gitcfg.compile.selection import Stopped
from gitcfg.gate.changes import (
    describe_key_changes,
    describe_secret_changes,
    describe_settings_changes,
    find_secret_changes,
)
from gitcfg.gate.policy import Administrator, Policy
from gitcfg.gate.push import RepositoryView, Update
from gitcfg.gate.reach import describe_further_reach, describe_secret_reach, describe_stray_holds
from gitcfg.gate.rulings import (
    DELETED,
    NO_COMMIT,
    NO_SETTINGS,
    NO_SIGNERS,
    CommitFindings,
    Refusal,
    Ruling,
    refuse_errors,
    refuse_reserved_ref,
    refuse_rewind,
    refuse_unreadable_rules,
    refuse_unsigned,
    refuse_unsound_tree,
)
from gitcfg.gate.secrets import SecretsBefore, check_withheld, check_withheld_at, describe_copies
from gitcfg.git.fsck import find_unsound_entries
from gitcfg.git.repository import Repository
from gitcfg.git.signatures import Signers
from gitcfg.git.tree import Tree
from gitcfg.library import Fleet, compare
from gitcfg.model import Finding

if TYPE_CHECKING:
    from gitcfg.comparison.comparison import Comparison

T = TypeVar("T")


def _unless_stopped(compute: Callable[..., T], *fleets: Any) -> T | None:
    """Return a result, or None if an expression could not be evaluated, which findings report.

    A push that removes such an expression must be accepted.
    """
    try:
        return compute(*fleets)
    except Stopped:
        return None


_Ends = tuple[str | None, str | None]


class Gate:
    """Judge pushes to a repository whose refs are not updated yet. Only the cache is written.

    Signatures are judged at `now`; `revoked` lists keys that may no longer sign. `pusher` are the names of
    the pusher: empty if they are unknown, None if changes are not charged to a pusher.
    """

    def __init__(
        self,
        repository: Repository,
        administrator: Administrator,
        cache: Cache,
        now: datetime,
        revoked: Path | None = None,
        today: date | None = None,
        pusher: tuple[str, ...] | None = None,
    ) -> None:
        self._view = RepositoryView(repository, administrator)
        self._administrator = administrator
        self._cache = cache
        self._now = now
        self._revoked = revoked
        self._signers: dict[bytes, Signers] = {}
        self._today = today or now.date()
        self._pusher = pusher

    @contextmanager
    def rulings(self, updates: Iterable[Update]) -> Iterator[Iterator[Ruling]]:
        """Yield the rulings of a push. Refs that move between the same commits are judged once.

        A ruling's trees are usable until the next one.
        """
        alike: dict[_Ends, list[str]] = {}
        for update in updates:
            alike.setdefault((update.old, update.new), []).append(update.ref)
        with ExitStack() as opened:

            def judge_each() -> Iterator[Ruling]:
                for (old, new), refs in alike.items():
                    yield self._judge(tuple(refs), old, new, opened)
                    opened.close()

            yield judge_each()

    def _judge(self, refs: tuple[str, ...], old: str | None, new: str | None, opened: ExitStack) -> Ruling:
        view = self._view
        names = (name for ref in refs for name in (ref, view.refs.moved(ref)))
        if barred := next(filter(None, map(refuse_reserved_ref, names)), None):
            return Ruling(refs, (), barred=(barred,))
        before = view.refs.commit_or_error(old) if old is not None else None
        demanded = view.policy(before)
        protected = tuple(ref for ref in refs if view.protects(demanded, ref))
        ruling = Ruling(refs, protected, unreadable=demanded.unreadable)
        if new is None:
            return ruling if self._administrator.deletion else replace(ruling, refusals=(DELETED,))
        commit = view.refs.commit(new)
        if commit is None:
            return replace(ruling, refusals=(NO_COMMIT,))
        ruling = replace(ruling, commit=commit)
        if not protected and view.is_known(commit):
            return ruling
        progress.note("reading the trees of", commit)
        found = next(find_unsound_entries(view.repository, view.new_commits(commit)), None)
        if found is not None:
            return replace(ruling, barred=(refuse_unsound_tree(found),))
        refusals = tuple(self._refuse_form(demanded, before, commit)) if protected else ()
        if view.tree(commit) is None:
            return replace(ruling, refusals=(*refusals, NO_SETTINGS))
        base = before if view.tree(before) is not None else view.fork_point(commit)
        return self._examine(replace(ruling, refusals=refusals, base=base), demanded, before, commit, opened)

    def _refuse_form(self, demanded: Policy, before: str | None, commit: str) -> Iterator[Refusal]:
        """Yield refusals that do not depend on the configuration."""
        view = self._view
        if before is not None and not self._administrator.rewind and not view.refs.includes(commit, before):
            yield refuse_rewind(before, commit)
        if demanded.permits.unreadable:
            yield refuse_unreadable_rules(demanded.permits.unreadable)
        if not demanded.signed:
            return
        signers = self._signers_of(demanded)
        if signers.nobody:
            yield NO_SIGNERS
            return
        added = view.unjudged_commits(before, commit, demanded, lambda other: other.signed)
        progress.note("verifying signatures")
        yield from refuse_unsigned(added, signers.of(*added))

    def _signers_of(self, demanded: Policy) -> Signers:
        new = Signers(self._view.repository, demanded.signers, self._revoked, self._now)
        return self._signers.setdefault(demanded.signers, new)

    def _find_breaches(
        self, demanded: Policy, before: str | None, ruling: Ruling, commit: str
    ) -> dict[str, tuple[Finding, ...]]:
        """Return GC405 by commit: what signers may not change, and at the last one the pusher."""
        if not (ruling.protected and demanded.permits.rules):
            return {}
        from gitcfg.gate.permits.judge import PushJudge
        from gitcfg.gate.permits.rules import inherits_same

        view, signers = self._view, self._signers_of(demanded)
        judge = PushJudge(demanded.permits, view.repository, lambda id: signers.of(id)[0])
        start, law = view.starting_points(before, ruling.base, demanded)
        ruled = view.tree(law if law is not None else start)

        def judges_alike(head: Policy) -> bool:
            """Return whether the branch of HEAD has judged its commits by the same rules."""
            if (head.permits, head.signers) != (demanded.permits, demanded.signers):
                return False
            tip = view.tree(view.refs.tip(view.refs.head))
            return inherits_same(demanded.permits.rules, ruled, tip)

        added = view.unjudged_commits(before, commit, demanded, judges_alike)
        return judge.judge(added, (start, commit), self._pusher, law)

    def _examine(
        self, ruling: Ruling, demanded: Policy, before: str | None, commit: str, opened: ExitStack
    ) -> Ruling:
        """Return the ruling with the findings at the new commit, and at those before it if they count."""
        progress.note("judging", commit)
        old = self._fleet(ruling.base, None, opened)
        new = self._fleet(commit, old.tree if old is not None else None, opened)
        assert new is not None
        # Once for all commits, and only if there are findings: most pushes have none.
        known = cache(lambda: Known(self._checked(old).findings if old is not None else ()))
        check = partial(self._find_counting, known, demanded.ratchet)
        each = demanded.each and ruling.protected
        added = self._view.added_commits(before, commit, demanded, lambda other: other.each) if each else ()
        earlier = tuple(self._find_failing(added, commit, check))
        was, secrets = self._load_secrets_before(demanded, before, ruling)
        if secrets is not None and ruling.protected:
            passed = self._view.added_commits(before, commit, demanded, lambda _: True)
            earlier += tuple(self._find_failing(passed, commit, partial(check_withheld_at, secrets)))
        breached = self._find_breaches(demanded, before, ruling, commit)
        earlier += tuple(self._without_check(id, found) for id, found in breached.items() if id != commit)
        more = (*(check_withheld(secrets, new) if secrets is not None else ()), *breached.get(commit, ()))
        at_tip = check(new).plus(more)
        base = ruling.base if demanded.ratchet else None
        refusals = [refuse_errors(found, base) for found in (*earlier, at_tip) if found.errors]
        changes, further, gate = None, None, list[str]()
        if old is not None:
            changes = _unless_stopped(_compare, old, new)
            # The branch of HEAD is protected unless the administrator says which refs are.
            head = self._view.refs.head
            stays = self._administrator.protected is None and head in ruling.refs
            gate += describe_settings_changes(old.tree, new.tree, head if stays else "")
            gate += _unless_stopped(lambda: describe_secret_changes(find_secret_changes(old, new))) or ()
            if changes is not None:
                further = _unless_stopped(describe_further_reach, changes, new)
                gate += _unless_stopped(describe_secret_reach, changes) or ()
        if was is not None:
            gate += describe_copies(was, new)
        if old is not None:
            gate += _unless_stopped(describe_key_changes, old, new) or ()
        gate += describe_stray_holds(new, lambda held: self._find_hold_fault(demanded, commit, held))
        return replace(
            ruling,
            refusals=(*ruling.refusals, *refusals),
            earlier=earlier,
            at_tip=at_tip,
            changes=changes,
            further=further or (),
            gate=tuple(gate),
        )

    def _load_secrets_before(
        self, demanded: Policy, before: str | None, ruling: Ruling
    ) -> tuple[SecretsBefore | None, SecretsBefore | None]:
        """Return the secrets that a push is compared with, and those by which a protected ref is judged."""
        repository, base = self._view.repository, ruling.base
        tips = self._view.secret_bases(before, base, demanded) if ruling.protected else ()
        was = None
        if base is not None:
            was = SecretsBefore(repository, base, (tip for tip in tips if tip != base))
        return was, was if not tips or tips[0] == base else SecretsBefore(repository, tips[0], tips[1:])

    def _find_hold_fault(self, demanded: Policy, commit: str, held: str) -> str:
        """Return what is wrong with the commit of a hold, or ""."""
        refs = self._view.refs
        found = refs.commit(held)
        tips = (refs.tip(name) for name in refs.names() if demanded.protects(name))
        if found is not None and any(refs.includes(tip, found) for tip in (commit, *tips) if tip is not None):
            return ""
        return "which no protected branch has"

    def _find_failing(
        self, commits: Iterable[str], last: str, check: Callable[[Fleet], CommitFindings]
    ) -> Iterator[CommitFindings]:
        """Yield the findings of commits before the last one that have settings and errors."""
        for commit in commits:
            found = self._check_alone(commit, check) if commit != last else None
            if found is not None and found.errors:
                yield found

    def _without_check(self, commit: str, found: tuple[Finding, ...]) -> CommitFindings:
        """Return findings about a commit without a check of its configuration."""
        tree = self._view.repository.at(commit)

        def size(fleet: Fleet) -> CommitFindings:
            return CommitFindings(commit, tree, checked(fleet.model, len(fleet), ()), ())

        nothing = CommitFindings(commit, tree, Checked((), 0, 0, 0, 0), ())
        return (self._check_alone(commit, size) or nothing).plus(found)

    def _check_alone(self, commit: str, check: Callable[[Fleet], CommitFindings]) -> CommitFindings | None:
        """Return the findings at a commit, and close its fleet."""
        with ExitStack() as opened:
            fleet = self._fleet(commit, None, opened)
            return None if fleet is None else check(fleet)

    def _find_counting(self, known: Callable[[], Known], ratchet: bool, fleet: Fleet) -> CommitFindings:
        """Return what counts at a commit: new warnings, and errors; with a ratchet only new errors."""
        checked = self._checked(fleet)
        wrong = counting(checked.findings, known, ratchet)
        return CommitFindings(fleet.commit or "", fleet.tree, checked, wrong)

    def _checked(self, fleet: Fleet) -> Checked:
        return fleet.all_checked if self._administrator.parsers else fleet.checked

    def _fleet(self, commit: str | None, before: Tree | None, opened: ExitStack) -> Fleet | None:
        tree = self._view.tree(commit)
        if tree is None:
            return None
        before = before or self._view.repository.before(tree)
        return opened.enter_context(Fleet(tree, before, self._today, self._cache))


def _compare(old: Fleet, new: Fleet) -> "Comparison":
    found = compare(old, new)
    _ = found.changes  # evaluate everything before the fleet is closed
    return found
