"""What is decided for the work tree as it lies there, or for a draft."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import msgspec

from gitcfg.cli.console import install_hint
from gitcfg.cli.session import Session
from gitcfg.edit.allocations import put_allocations
from gitcfg.load.repository import load
from gitcfg.model import GitcfgError, Model
from gitcfg.model.rules import Allocation
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
        """Is there an answer?"""
        return not self.causes


Made = tuple[Decision, Mapping[str, Allocation]]


def decide_worktree(session: Session) -> Decision:
    """What would be decided for the files as they lie there."""
    source = session.open()
    with source.worktree() as fleet:
        return _decide(fleet.compiled.model, fleet.compiled.tree, source.today)[0]


def decide_draft(draft: "Draft", today: "date") -> Decision:
    """What is decided for a draft, written into it where there is an answer."""
    model = load(draft.tree)  # the draft's own knows who is there, not all that its files say by now
    decision, made = _decide(model, draft.tree, today)
    if decision.holds:
        put_allocations(draft, model.allocations, made)
    return decision


def _decide(model: Model, tree: "Tree", today: "date") -> Made:
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
    """GitcfgError: it is not known what rules say, or what was decided for them."""
    for kind in ("rules", "allocations"):
        for name in sorted(model.unread.get(kind, ())):
            raise GitcfgError(f"{kind}: {name} cannot be understood.", "See `gitcfg check`.", code=1)
