"""The nodes of a command: their selection, and the errors that concern them."""

from collections.abc import Collection, Iterable

from gitcfg.check.findings import sentence
from gitcfg.cli.session import Session
from gitcfg.library import Fleet
from gitcfg.model import Finding, GitcfgError
from gitcfg.model.names import did_you_mean, find_host, shown
from gitcfg.model.text import counted
from gitcfg.nodeset import NodeSetError, expand


def choose_nodes(fleet: Fleet, words: Iterable[str], where: str | None = None) -> tuple[str, ...]:
    """Return the nodes that words and a condition select, in order of name: names, node sets, @groups.

    Words are alternatives; a condition narrows their result or, without words, selects from all nodes.
    """
    words = tuple(words)
    names = {name for word in words for name in _find_members(fleet, word)} if words else set(fleet)
    if where is not None:
        names &= _select_where(fleet, where)
    return tuple(sorted(names))


def _select_where(fleet: Fleet, where: str) -> frozenset[str]:
    from gitcfg.compile.selection import Stopped

    try:
        selection = fleet.compiled.select(where)
    except Stopped as stopped:
        raise stopped.named("--where", "--where") from None
    if selection.problem is not None:
        problem = selection.problem
        raise GitcfgError(f"Cannot parse --where: {problem.message}.", sentence(problem.hint))
    if selection.failed:
        name, problem = next(iter(selection.failed.items()))
        raise GitcfgError(f"--where fails on {name}: {problem.message}.", sentence(problem.hint))
    return selection.names


class UnknownNode(GitcfgError):
    """A word is not the name of a node."""


def find_node(nodes: Collection[str], name: str) -> str:
    """Return the full name of a node. Raise UnknownNode, or GitcfgError if a short name is ambiguous."""
    found = find_host(name, nodes)
    if found is None:
        raise UnknownNode(f"There is no node {shown(name)}.", did_you_mean(name, nodes))
    return found


def expand_names(most: int, words: Iterable[str]) -> tuple[str, ...]:
    """Return the nodes that words name, each once. Raise GitcfgError if one is not a set of names."""
    found: dict[str, None] = {}
    for word in words:
        try:
            found |= dict.fromkeys(expand(word, most))
        except NodeSetError as error:
            raise GitcfgError(f"{shown(word)} is not a node set: {error}.") from None
    return tuple(found)


def _find_members(fleet: Fleet, word: str) -> Iterable[str]:
    """Return the nodes that a word names.

    Raise GitcfgError if one is not in the fleet, or a group is unknown.
    """
    model = fleet.model
    if not word.startswith("@"):
        return [find_node(fleet, name) for name in expand_names(model.settings.max_nodes, [word])]
    group = word[1:]
    if group == model.settings.default_group:
        return fleet
    if group not in model.groups:
        raise GitcfgError(f"There is no group {shown(group)}.", did_you_mean(group, model.groups))
    definition = fleet.roster.definition
    return [name for name in fleet if any(ref.name == group for ref in definition(name).groups)]


def errors_of(fleet: Fleet, names: tuple[str, ...]) -> list[Finding]:
    """Return the errors that concern these nodes, or a source of their files."""
    from gitcfg.compile.subset import find_source_files

    errors = [finding for finding in fleet.findings if finding.is_error]
    sources: frozenset[str] | None = None  # all of them
    if errors and not (fleet.whole and len(names) == len(fleet)):
        sources = frozenset().union(*(find_source_files(fleet.compiled, name) for name in names))

    def concerns(finding: Finding) -> bool:
        if finding.nodes:
            return not set(finding.nodes).isdisjoint(names)
        return sources is None or not sources.isdisjoint(origin.file for origin in finding.origins)

    return list(filter(concerns, errors))


def print_errors(session: Session, fleet: Fleet, errors: list[Finding]) -> int:
    """Print errors that concern rendered nodes; return 1 if there are any."""
    if errors:
        from gitcfg.cli.findings import print_findings

        console = session.console(stderr=True)
        print_findings(console, fleet.compiled.tree, errors, fleet.checked.every)
        verb = "concerns" if len(errors) == 1 else "concern"
        console.print(f"{counted(len(errors), 'error')} {verb} what was rendered.", style="red")
    return int(bool(errors))
