"""A commit of what was decided alone belongs to what is committed: nothing else may lie in the work tree."""

from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree, changed_paths
from gitcfg.model import GitcfgError
from gitcfg.model.folders import LAYERS, SETTINGS
from gitcfg.model.names import shown

_PLACES = (SETTINGS, "parameters", *LAYERS, "rules")
"""What a decision follows from."""
_SHOWN = 3


def refuse_uncommitted(repository: Repository) -> None:
    """GitcfgError: what is decided would follow from changes that are not committed."""
    tree = repository.worktree()
    paths = sorted(changed_paths(repository.before(tree) or DictTree({}), tree, _PLACES))
    if paths:
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        named = ", ".join(map(shown, paths[:_SHOWN])) + more
        raise GitcfgError(
            f"What is decided follows from what is not committed: {named}.",
            "Commit both together: leave out --commit, then `git add` and `git commit`.",
        )
