"""What an earlier check told that is still so, and whether that can be told without looking at all nodes."""

from collections.abc import Iterable, Set

from msgspec.structs import replace

from gitcfg.check.places import bindings
from gitcfg.check.witnesses import stem
from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding


def carried(told: list[Finding], changed: Set[str], names: Set[str]) -> list[Finding] | None:
    """What is still so of other nodes than these, and of their files; None: that cannot be told apart."""
    left = []
    for finding in told:
        if finding.nodes:
            nodes = tuple(name for name in finding.nodes if name not in names)
            if finding.code == "GC307" and nodes and nodes[0] != finding.nodes[0]:
                return None  # its hint names the first of them
            left += [replace(finding, nodes=nodes)] if nodes else []
            continue
        files = {origin.file for origin in finding.origins}
        own = set(filter(_of_node, files))
        stale = {file for file in own if file in changed or stem(file) in names}
        if own and files.isdisjoint(changed) and not stale:
            left.append(finding)
        elif stale != own:
            return None
    return left


def told_at(files: Set[str], told: list[Finding]) -> bool:
    """Was anything told of some files, whose lines may stand elsewhere now?"""
    return bool(files) and any(origin.file in files for one in told for origin in one.origins)


def as_before(before: Iterable[Finding], after: Iterable[Finding], changed: Set[str]) -> bool:
    """Is the same told of definitions as before, wherever nothing has changed?

    Else it follows from a node that was not looked at: only there is an instance, or a parameter bound.
    """
    old, new = ({one for one in told if _general(one, changed)} for told in (before, after))
    return old == new


def _general(finding: Finding, changed: Set[str]) -> bool:
    """Is a finding of no node, and nowhere in files that changed, or in nodes' own?"""
    files = {origin.file for origin in finding.origins}
    return not finding.nodes and files.isdisjoint(changed) and not any(map(_of_node, files))


def _of_node(file: str) -> bool:
    return file.startswith("nodes/")


def near(known: list[str], fleet: Fleet) -> bool:
    """Does a new name differ only in case from one that a node may bind that was not looked at?"""
    new = loose(fleet).difference(known)
    return not {name.casefold() for name in new}.isdisjoint(map(str.casefold, known))


def loose(fleet: Fleet) -> set[str]:
    """The names that are bound and not declared by themselves: so who else binds them matters."""
    return {name for name, _ in bindings(fleet)} - fleet.model.parameters.keys()
