"""The gate's repository before a push is accepted: policies, and which commits a push brings."""

from collections.abc import Callable, Iterator

from gitcfg.gate.policy import Administrator, Policy, load_policy
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Repository
from gitcfg.git.tree import Tree
from gitcfg.load.repository import is_repository


class RepositoryView:
    """Refs that have not moved yet, and commits, those that are pushed too."""

    def __init__(self, repository: Repository, administrator: Administrator) -> None:
        self.repository = repository
        self.refs = Refs(repository)
        self._administrator = administrator

    def policy(self, tip: str | None) -> Policy:
        """Return what counts for a ref: what its tip demands, else what the branch of HEAD does.

        Raise GitcfgError if the ref's object cannot be read, because then it is unknown what counts.
        """
        tips = (tip, self.refs.tip_or_error(self.refs.head))
        ruling = next((tree for tree in map(self.tree, tips) if tree is not None), None)
        return load_policy(ruling, self.refs.head, self._administrator)

    def protects(self, demanded: Policy, ref: str) -> bool:
        """Return whether a ref is protected, or the one that moves with it."""
        return demanded.protects(ref) or demanded.protects(self.refs.moved(ref))

    def tree(self, commit: str | None) -> Tree | None:
        """Return the configuration of a commit, or None if it is none."""
        tree = self.repository.at(commit) if commit is not None else None
        return tree if tree is not None and is_repository(tree) else None

    def fork_point(self, commit: str) -> str | None:
        """Return where a commit left the branch of HEAD, if there is a configuration."""
        tip = self.refs.tip(self.refs.head)
        base = self.refs.base(tip, commit) if tip is not None else None
        return base if self.tree(base) is not None else None

    def secret_bases(self, before: str | None, base: str | None, demanded: Policy) -> tuple[str, ...]:
        """Return the commits whose secrets count for a protected ref, the one that decides first.

        For a new one, as with all settings, that is the branch of HEAD: whoever makes it chooses where it
        parts from that, and could go back to when less was kept from nodes.
        """
        head = self.refs.tip(self.refs.head)
        first = next((tip for tip in (before, head, base) if self.tree(tip) is not None), None)
        tips = (self.refs.tip(ref) for ref in self.refs.names() if demanded.protects(ref))
        found = (tip for tip in (first, head, *tips) if tip is not None and self.tree(tip) is not None)
        return tuple(dict.fromkeys(found)) if first is not None else ()

    def is_known(self, commit: str) -> bool:
        """Return whether a ref leads to a commit already."""
        return not self.new_commits(commit)

    def new_commits(self, commit: str) -> tuple[str, ...]:
        """Return the commits up to one to which no ref leads yet, itself included; parents first."""
        return self.refs.between(self._tips(self.refs.names()), commit)

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
        """Return the commits up to a new one that were not judged by what counts; parents first.

        Only the branch of HEAD is trusted to have judged its commits, if it demands as much: others can begin
        at a commit from before it was demanded, and demand it in the end.
        """
        head = self.refs.tip(self.refs.head) if demanded.protects(self.refs.head) else None
        known = [head] if head is not None and alike(self.policy(head)) else []
        return self.refs.between([*known, *([tip] if tip is not None else [])], commit)

    def starting_points(
        self, before: str | None, base: str | None, demanded: Policy
    ) -> tuple[str | None, str | None]:
        """Return where the pusher's change begins and, for a new ref, the commit whose rules count.

        A new ref begins where it left the branch of HEAD, if that was judged.
        """
        if self.tree(before) is not None:
            return before, None
        head = self.refs.tip(self.refs.head)
        law = head if self.tree(head) is not None else None
        return base if demanded.protects(self.refs.head) else None, law

    def _tips(self, refs: list[str] | tuple[str, ...]) -> Iterator[str]:
        return (tip for tip in map(self.refs.tip, refs) if tip is not None)
