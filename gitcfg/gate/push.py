"""A push: git's input to its hooks, the repository before the push, and the steps after it was accepted."""

import re
from collections.abc import Callable, Iterable, Mapping
from datetime import date, datetime

import msgspec

from gitcfg.cache import Cache
from gitcfg.gate.policy import Administrator, Policy, load_policy
from gitcfg.gate.rulings import NOTES
from gitcfg.git.program import Git
from gitcfg.git.refs import Refs, append_note
from gitcfg.git.repository import Config, Repository
from gitcfg.git.tree import Tree
from gitcfg.library import Fleet
from gitcfg.load.repository import is_repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.text import safe

# git's input to its hooks: refs that move, push options, the pusher.

REASON = "gitcfg.reason="
_ID = re.compile("[0-9a-f]{40}|[0-9a-f]{64}")
_PUSHERS = ("GITEA_PUSHER_NAME", "GL_USERNAME", "GL_USER", "REMOTE_USER")
"""The variables with the pusher in Gitea and Forgejo, GitLab, gitolite, and HTTP servers, in this order."""


class Update(msgspec.Struct, frozen=True):
    """A ref that is to move. `old` is None if it is new, `new` if it is deleted."""

    ref: str
    old: str | None
    new: str | None


def parse_updates(lines: Iterable[str]) -> tuple[Update, ...]:
    """Parse the input of pre-receive and post-receive, one line `OLD NEW REF` per ref.

    Raise GitcfgError if a line is not of this form.
    """
    return tuple(_parse_update(line.rstrip("\n")) for line in lines)


def _parse_update(line: str) -> Update:
    words = line.split(" ", 2)
    if len(words) != 3 or not all(map(_ID.fullmatch, words[:2])):
        raise GitcfgError(
            f"The line is not a ref update: {line!r}.", "git writes lines `OLD NEW REF` to its hooks."
        )
    old, new = (id if id.strip("0") else None for id in words[:2])
    return Update(words[2], old, new)


def find_reason(environment: Mapping[str, str]) -> str | None:
    """Return the reason of the push: `git push --push-option=gitcfg.reason=TEXT`."""
    count = environment.get("GIT_PUSH_OPTION_COUNT", "0")
    numbers = range(int(count) if count.isdigit() else 0)
    options = (environment.get(f"GIT_PUSH_OPTION_{number}", "") for number in numbers)
    reasons = [option.removeprefix(REASON) for option in options if option.startswith(REASON)]
    return "\n".join(reasons).strip() or None


def find_pusher(environment: Mapping[str, str], variable: str | None = None) -> tuple[str, ...] | None:
    """Return the pusher's name as the server knows it, or None if the server does not name one.

    With a variable, which the server's administrator names, only that one counts: if it is not set, the
    pusher is unknown.
    """
    if variable is not None:
        name = environment.get(variable, "")
        return (name,) if name else ()
    found = next((environment[name] for name in _PUSHERS if environment.get(name)), None)
    return (found,) if found is not None else None


# A bypass opens the gate for some time.

BYPASS = "gitcfg.bypass"


class Bypass(msgspec.Struct, frozen=True):
    """Until when every push is accepted with any content, and why."""

    until: datetime
    reason: str


def find_bypass(config: Config, now: datetime) -> Bypass | None:
    """Return the bypass in `git config gitcfg.bypass "2027-01-31T18:00 REASON"`, or None if there is none.

    A bypass that is over counts as none. A time without an offset is in the server's time zone. Raise
    GitcfgError if the end or the reason is missing.
    """
    setting = config.last(BYPASS)
    if setting is None:
        return None
    end, _, reason = setting.strip().partition(" ")
    try:
        until = datetime.fromisoformat(end).astimezone()
    except ValueError:
        until = None
    if until is None or not reason.strip():
        hint = f'Set an end and a reason: `git config {BYPASS} "2027-01-31T18:00 REASON"`, or unset it.'
        message = f"{BYPASS} has an invalid value in git's configuration of this repository: {setting!r}."
        raise GitcfgError(message, hint, code=REFUSED)
    return Bypass(until, reason.strip()) if now < until else None


# The repository before a push is accepted: policies, and the commits that the push adds.


class RepositoryView:
    """Refs that have not moved yet, and commits, including the pushed ones."""

    def __init__(self, repository: Repository, administrator: Administrator) -> None:
        self.repository = repository
        self.refs = Refs(repository)
        self._administrator = administrator

    def policy(self, tip: str | None) -> Policy:
        """Return the policy of a ref: that of its tip, or else that of the branch of HEAD.

        Raise GitcfgError if the ref's object cannot be read, because the policy is then unknown.
        """
        tips = (tip, self.refs.tip_or_error(self.refs.head))
        ruling = next((tree for tree in map(self.tree, tips) if tree is not None), None)
        return load_policy(ruling, self.refs.head, self._administrator)

    def protects(self, demanded: Policy, ref: str) -> bool:
        """Return whether a ref is protected, or the one that moves with it."""
        return demanded.protects(ref) or demanded.protects(self.refs.moved(ref))

    def tree(self, commit: str | None) -> Tree | None:
        """Return the configuration of a commit, or None if it has none."""
        tree = self.repository.at(commit) if commit is not None else None
        return tree if tree is not None and is_repository(tree) else None

    def fork_point(self, commit: str) -> str | None:
        """Return where a commit diverged from the branch of HEAD, if there is a configuration."""
        tip = self.refs.tip(self.refs.head)
        base = self.refs.base(tip, commit) if tip is not None else None
        return base if self.tree(base) is not None else None

    def secret_bases(self, before: str | None, base: str | None, demanded: Policy) -> tuple[str, ...]:
        """Return the commits whose secrets count for a protected ref, the deciding one first.

        For a new ref, as with all settings, that is the branch of HEAD: its creator chooses where it
        diverges, and could choose a commit from before secrets were restricted.
        """
        head = self.refs.tip(self.refs.head)
        first = next((tip for tip in (before, head, base) if self.tree(tip) is not None), None)
        tips = (self.refs.tip(ref) for ref in self.refs.names() if demanded.protects(ref))
        found = (tip for tip in (first, head, *tips) if tip is not None and self.tree(tip) is not None)
        return tuple(dict.fromkeys(found)) if first is not None else ()

    def is_known(self, commit: str) -> bool:
        """Return whether a commit is reachable from any ref."""
        return not self.new_commits(commit)

    def new_commits(self, commit: str) -> tuple[str, ...]:
        """Return the commits up to and including one that no ref reaches yet; parents first."""
        tips = map(self.refs.tip, self.refs.names())
        return self.refs.between((tip for tip in tips if tip is not None), commit)

    def added_commits(
        self, tip: str | None, commit: str, demanded: Policy, alike: Callable[[Policy], bool]
    ) -> tuple[str, ...]:
        """Return the commits up to a new one that no ref with an equal demand has accepted; parents first.

        Commits on other refs do not count: they were not judged, or not as strictly.
        """
        protected = {self.refs.tip(ref) for ref in self.refs.names() if demanded.protects(ref)}
        known = [found for found in protected if found is not None and alike(self.policy(found))]
        return self.refs.between([*known, *([tip] if tip is not None else [])], commit)

    def unjudged_commits(
        self, tip: str | None, commit: str, demanded: Policy, alike: Callable[[Policy], bool]
    ) -> tuple[str, ...]:
        """Return the commits up to a new one that were not judged by the policy that counts; parents first.

        Only the branch of HEAD is trusted to have judged its commits, if it demands as much. Other branches
        can begin at a commit from before the demand, and get the demand only in the end.
        """
        head = self.refs.tip(self.refs.head) if demanded.protects(self.refs.head) else None
        known = [head] if head is not None and alike(self.policy(head)) else []
        return self.refs.between([*known, *([tip] if tip is not None else [])], commit)

    def starting_points(
        self, before: str | None, base: str | None, demanded: Policy
    ) -> tuple[str | None, str | None]:
        """Return where the pusher's change begins and, for a new ref, the commit whose rules count.

        A new ref begins where it diverged from the branch of HEAD, if that was judged.
        """
        if self.tree(before) is not None:
            return before, None
        head = self.refs.tip(self.refs.head)
        law = head if self.tree(head) is not None else None
        return base if demanded.protects(self.refs.head) else None, law


# After a push was accepted: notes with the reason, and a cache that is filled for the next push.


def pusher_name(environment: Mapping[str, str], variable: str | None = None) -> str | None:
    """Return the pusher's name as the server or the system knows it."""
    return next(iter(find_pusher(environment, variable) or ()), environment.get("USER"))


def render_note(reason: str | None, opened: Bypass | None, who: str | None) -> str:
    """Return the text of the note about a push, empty for an ordinary one."""
    lines = [f"reason: {line}" for line in (reason or "").splitlines() if line.strip()]
    if opened is not None:
        lines.append(f"bypass until {opened.until.isoformat(' ', 'minutes')}: {opened.reason}")
    if not lines:
        return ""
    lines += [f"pushed by: {who}"] if who else []
    return "".join(f"{safe(line)}\n" for line in lines)  # the pusher wrote this text


class AcceptedPush:
    """Commits to which refs have moved."""

    def __init__(
        self, repository: Repository, administrator: Administrator, updates: Iterable[Update]
    ) -> None:
        self._repository = repository
        self._view = RepositoryView(repository, administrator)
        self._administrator = administrator
        self._updates = tuple(updates)

    def add_notes(self, git: Git, text: str) -> None:
        """Add a text to the notes of each commit that a ref has moved to. Raise GitcfgError if git fails."""
        moved = (self._view.refs.commit(update.new) for update in self._updates if update.new is not None)
        for commit in dict.fromkeys(moved):
            if commit is not None:
                append_note(git, NOTES, commit, text)

    def fill_cache(self, cache: Cache, today: date) -> None:
        """Compute the results that pre-receive needs, so that the next one finds them in the cache."""
        for commit, old in self._tips():
            tree = self._view.tree(commit)
            if tree is None:
                continue
            # As it was judged, and with the old findings that the next push needs.
            for before in (self._view.tree(old), self._repository.before(tree)):
                with Fleet(tree, before or self._repository.before(tree), today, cache) as fleet:
                    _ = fleet.all_checked if self._administrator.parsers else fleet.checked
                    _ = fleet.mentions

    def _tips(self) -> Iterable[tuple[str, str | None]]:
        """Return new commits with the previous commits of their refs; those of protected refs come last.

        The next check continues from the last one, and there is only one.
        """
        view = self._view
        found: dict[tuple[str, str | None], bool] = {}
        for update in self._updates:
            commit = view.refs.commit(update.new) if update.new is not None else None
            if commit is not None:
                old = view.refs.commit(update.old) if update.old is not None else None
                base = old if view.tree(old) is not None else view.fork_point(commit)
                protected = view.policy(old).protects(update.ref)
                found[commit, base] = found.get((commit, base), False) or protected
        return sorted(found, key=lambda ends: found[ends])
