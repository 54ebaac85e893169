"""Which nodes a command is asked for: names, node sets, @groups, or a condition."""

from collections.abc import Iterable

from gitcfg.check.base import sentence
from gitcfg.library import Fleet
from gitcfg.model import GitcfgError
from gitcfg.model.names import did_you_mean, shown
from gitcfg.model.nodeset import NodeSetError, expand


def select_nodes(fleet: Fleet, words: Iterable[str], where: str | None = None) -> tuple[str, ...]:
    """The nodes that words and a condition select, in order of name.

    Words add up; a condition narrows them, or selects from all nodes where there are none.
    """
    words = tuple(words)
    names = {name for word in words for name in _word(fleet, word)} if words else set(fleet)
    if where is not None:
        names &= _where(fleet, where)
    return tuple(sorted(names))


def _where(fleet: Fleet, where: str) -> frozenset[str]:
    from gitcfg.compile.selection import Stopped

    try:
        selection = fleet.compiled.select(where)
    except Stopped as stopped:
        raise stopped.named("--where", "--where") from None
    if selection.problem is not None:
        problem = selection.problem
        raise GitcfgError(f"--where cannot be read: {problem.message}.", sentence(problem.hint))
    if selection.failed:
        name, problem = next(iter(selection.failed.items()))
        raise GitcfgError(f"--where fails on {name}: {problem.message}.", sentence(problem.hint))
    return selection.names


def _word(fleet: Fleet, word: str) -> Iterable[str]:
    if word.startswith("@"):
        return _members(fleet, word[1:])
    try:
        names = expand(word, fleet.model.settings.max_nodes)
    except NodeSetError as error:
        raise GitcfgError(f"{shown(word)} is no set of nodes: {error}.") from None
    for name in names:
        if name not in fleet:
            raise GitcfgError(f"There is no node {shown(name)}.", did_you_mean(name, fleet))
    return names


def _members(fleet: Fleet, group: str) -> Iterable[str]:
    model = fleet.model
    if group == model.settings.default_group:
        return fleet
    if group not in model.groups:
        raise GitcfgError(f"There is no group {shown(group)}.", did_you_mean(group, model.groups))
    said = fleet.roster.said
    return [name for name in fleet if any(ref.name == group for ref in said(name).groups)]
