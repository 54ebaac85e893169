"""What rules leave open, decided for the work tree or a draft, and written as allocations."""

import re
from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec

from gitcfg.edit.draft import Draft
from gitcfg.edit.yaml.tree import from_json, to_yaml
from gitcfg.git.repository import Repository
from gitcfg.git.tree import DictTree, Tree, changed_paths
from gitcfg.load.repository import load
from gitcfg.model import GitcfgError, Model
from gitcfg.model.names import LAYERS, SETTINGS, shown
from gitcfg.model.rules import Allocation
from gitcfg.model.text import install_hint
from gitcfg.solve import Exhausted
from gitcfg.solve.fleet import Cause, Change, RuleFailure, Solved, decide, difference


class Decision(msgspec.Struct, frozen=True):
    """What would change, or why there is no solution: the conflicting demands, their nodes, and a suggestion.

    The rules in the second field have errors of their own and are left out. `problem` says what is wrong with
    a demand that cannot be met even alone.
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


def decide_worktree(model: Model, tree: Tree, today: date) -> Decision:
    """Return the decision for the files of a tree."""
    return _decide(model, tree, today)[0]


def decide_draft(draft: Draft, today: date) -> Decision:
    """Decide for a draft what rules leave open, and write it into the draft if there is a solution."""
    model = load(draft.tree)  # the draft's own model does not follow its edits
    decision, allocations = _decide(model, draft.tree, today)
    if decision.holds:
        put_allocations(draft, model.allocations, allocations)
    return decision


def _decide(model: Model, tree: Tree, today: date) -> tuple[Decision, Mapping[str, Allocation]]:
    for folder in ("rules", "allocations"):
        for name in sorted(model.unread.get(folder, ())):
            raise GitcfgError(f"{folder}: {name} has errors.", "Run `gitcfg check`.", code=1)
    try:
        found = decide(model, tree, today)
    except RuleFailure as failing:
        return Decision(causes=(failing.cause,), nodes=failing.nodes, problem=str(failing)), {}
    except Exhausted as exhausted:
        raise GitcfgError(
            str(exhausted), "Make the rules simpler, or place some of the instances by hand."
        ) from None
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != "ortools":
            raise
        message = "These rules together need OR-Tools, which is not installed."
        raise GitcfgError(message, install_hint("solve")) from None
    if not isinstance(found, Solved):
        return Decision(causes=found.causes, nodes=found.nodes, suggestion=found.suggestion), {}
    changes = tuple(difference(model.rules, model.allocations, found.allocations))
    return Decision(changes, found.aside), found.allocations


_SOURCES = (SETTINGS, "parameters", *LAYERS, "rules")
"""Where the inputs of a decision are."""


def refuse_uncommitted(repository: Repository) -> None:
    """Raise GitcfgError if inputs of a decision are uncommitted: a commit of it alone would be wrong."""
    tree = repository.worktree()
    paths = sorted(changed_paths(repository.before(tree) or DictTree({}), tree, _SOURCES))
    if paths:
        more = f" and {len(paths) - 3} more" if len(paths) > 3 else ""
        named = ", ".join(map(shown, paths[:3])) + more
        raise GitcfgError(
            f"The allocations depend on uncommitted changes: {named}.",
            "Commit both together: omit `--commit`, then use `git add` and `git commit`.",
        )


# The files of allocations. Those that have the same content already are not written.

_HEAD = "# What `gitcfg solve` decided for the rule {}. Change the rule, not this file."

_ADDRESS = re.compile(r"[0-9]+(?:\.[0-9]+){3}(?:/[0-9]+)?")
"""An IPv4 address, which no YAML reader takes for a number."""


def allocation_text(allocation: Allocation) -> str:
    """Return the text of allocations/RULE.yaml: one slot per line, in the given order."""
    lines = [_HEAD.format(allocation.name)]
    if allocation.install:
        lines += ["install:", *(f"  - {to_yaml(ref.name)}" for ref in allocation.install)]
    if allocation.values:
        lines.append("values:")
        for slot, values in allocation.values.items():
            entries = (f"{to_yaml(name)}: {_value_text(bound.given)}" for name, bound in values.items())
            lines.append(f"  {to_yaml(slot)}: {{{', '.join(entries)}}}")
    return "\n".join((*lines, ""))


def _value_text(value: Any) -> str:
    return value if isinstance(value, str) and _ADDRESS.fullmatch(value) else to_yaml(from_json(value))


def put_allocations(draft: Draft, before: Mapping[str, Allocation], after: Mapping[str, Allocation]) -> None:
    """Write the allocations that have changed, and delete the files of rules that have none any more.

    `before` are the allocations in the draft's files. A file with the same allocation in the same order keeps
    its comments.
    """
    for name in sorted(before.keys() | after.keys()):
        path, old, new = f"allocations/{name}.yaml", before.get(name), after.get(name)
        if new is None:
            draft.write(path, None)
        elif old is None or _content(old) != _content(new):
            draft.write(path, allocation_text(new))


def _content(allocation: Allocation) -> tuple[Any, ...]:
    values = [
        (slot, {name: bound.given for name, bound in given.items()})
        for slot, given in allocation.values.items()
    ]
    return tuple(ref.name for ref in allocation.install), values
