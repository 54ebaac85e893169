"""What rules leave open, decided for the work tree as it lies there or for a draft."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from gitcfg.edit.allocations import put_allocations
from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree, changed_paths
from gitcfg.load.repository import load
from gitcfg.model import GitcfgError, Model
from gitcfg.model.folders import LAYERS, SETTINGS
from gitcfg.model.names import shown
from gitcfg.model.rules import Allocation
from gitcfg.model.text import install_hint
from gitcfg.solve import Exhausted
from gitcfg.solve.fleet import Cause, Change, Failing, Solved, decide, difference

if TYPE_CHECKING:
    from datetime import date

    from gitcfg.edit.draft import Draft
    from gitcfg.git.tree import Tree


class Decision(msgspec.Struct, frozen=True):
    """What would change, or why nothing can be decided: demands, the nodes concerned, and a way out.

    `aside` are rules that are wrong themselves, and so were not asked. `problem` is what is wrong with the
    one demand that failed, where it is not that several disagree.
    """

    changes: tuple[Change, ...] = ()
    aside: tuple[str, ...] = ()
    causes: tuple[Cause, ...] = ()
    nodes: tuple[str, ...] = ()
    suggestion: Cause | None = None
    problem: str = ""

    @property
    def holds(self) -> bool:
        """Whether there is an answer."""
        return not self.causes


def decide_worktree(model: Model, tree: "Tree", today: "date") -> Decision:
    """Return what would be decided for the files of a tree as they are."""
    return _decide(model, tree, today)[0]


def decide_draft(draft: "Draft", today: "date") -> Decision:
    """Decide for a draft what rules leave open, and write it into the draft if there is an answer."""
    model = load(draft.tree)  # the draft's own model does not follow its edits
    decision, allocations = _decide(model, draft.tree, today)
    if decision.holds:
        put_allocations(draft, model.allocations, allocations)
    return decision


def _decide(model: Model, tree: "Tree", today: "date") -> tuple[Decision, Mapping[str, Allocation]]:
    _refuse_unread(model)
    try:
        found = decide(model, tree, today)
    except Failing as failing:
        return Decision(causes=(failing.cause,), nodes=failing.nodes, problem=str(failing)), {}
    except Exhausted as exhausted:
        raise GitcfgError(str(exhausted), "Say less in one rule, or place some of it by hand.") from None
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "ortools":
            raise
        message = "The rules meet so closely that OR-Tools has to choose, and it is not installed."
        raise GitcfgError(message, install_hint("solve")) from None
    if not isinstance(found, Solved):
        return Decision(causes=found.causes, nodes=found.nodes, suggestion=found.suggestion), {}
    changes = tuple(difference(model.rules, model.allocations, found.allocations))
    return Decision(changes, found.aside), found.allocations


def _refuse_unread(model: Model) -> None:
    """Raise GitcfgError if a rule, or what was decided for it, cannot be read."""
    for folder in ("rules", "allocations"):
        for name in sorted(model.unread.get(folder, ())):
            raise GitcfgError(f"{folder}: {name} cannot be understood.", "See `gitcfg check`.", code=1)


_SOURCES = (SETTINGS, "parameters", *LAYERS, "rules")
"""What a decision follows from."""


def refuse_uncommitted(repository: Repository) -> None:
    """Raise GitcfgError if a commit of the decision alone would follow from what is not committed."""
    tree = repository.worktree()
    paths = sorted(changed_paths(repository.before(tree) or DictTree({}), tree, _SOURCES))
    if paths:
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        named = ", ".join(map(shown, paths[:3])) + more
        raise GitcfgError(
            f"What is decided follows from what is not committed: {named}.",
            "Commit both together: leave out --commit, then `git add` and `git commit`.",
        )
