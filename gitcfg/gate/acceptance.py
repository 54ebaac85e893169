"""What follows when a push was accepted: the note why, and the cache filled for the next push."""

from collections.abc import Iterable, Mapping
from datetime import date

from gitcfg.cache import Cache
from gitcfg.gate.policy import Administrator
from gitcfg.gate.push import Bypass, Update, find_pusher
from gitcfg.gate.rulings import NOTES
from gitcfg.gate.view import RepositoryView
from gitcfg.git.program import Git
from gitcfg.git.refs import append_note
from gitcfg.git.repository import Repository
from gitcfg.git.tree import Tree
from gitcfg.library import Fleet
from gitcfg.model.text import safe


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
    return "".join(f"{safe(line)}\n" for line in lines)  # the pusher chose the words


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
        """Compute what pre-receive asks, so that the next one finds it in the cache."""
        for commit, old in self._tips():
            tree = self._view.tree(commit)
            if tree is None:
                continue
            # As it was judged, and as the next push asks what had been wrong before it.
            for before in (self._view.tree(old), self._repository.before(tree)):
                self._ask(tree, before, cache, today)

    def _ask(self, tree: Tree, before: Tree | None, cache: Cache, today: date) -> None:
        with Fleet(tree, before or self._repository.before(tree), today, cache) as fleet:
            _ = fleet.all_checked if self._administrator.parsers else fleet.checked
            _ = fleet.mentions

    def _tips(self) -> Iterable[tuple[str, str | None]]:
        """Return new commits with those that were there before; those of protected refs last.

        The last check is what the next one continues from, and there is only one.
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
