"""Describe the reach of a push besides changed nodes: files with secrets, walk-in nodes, holds."""

from collections.abc import Callable, Iterator

from gitcfg.comparison.change import Change, Kind, reach
from gitcfg.comparison.comparison import Comparison
from gitcfg.library import Fleet
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED, counted
from gitcfg.nodeset import abridged
from gitcfg.render.files import find_secret_files

_MOST = 10


def describe_secret_reach(changes: Comparison) -> tuple[str, ...]:
    """Return lines for further files with secrets that nodes have, and for secrets of walk-in nodes."""
    return (
        *_first_lines(list(_describe_further_files(changes))),
        *_first_lines(
            [
                f"secret {name}: every walk-in node gets it (`walk_in` in gitcfg.yaml)"
                for name in (reach([changes.walk_in]).secrets if changes.walk_in is not None else ())
            ]
        ),
    )


def _describe_further_files(changes: Comparison) -> Iterator[str]:
    """Yield lines about files: anyone who can read the file has the secret from now on."""
    found: dict[tuple[str, str], list[str]] = {}
    for change in changes:
        if change.kind is not Kind.CHANGED or not change.files:
            continue
        for together in changes.alike(change.nodes):
            old, new = next(iter(together.values()))
            if old is None or new is None or not (old.secrets and new.secrets):
                continue
            had = find_secret_files(changes.old.fleet, old, changes.old.engine)
            known = set(old.secrets.values())
            for path, names in find_secret_files(changes.new.fleet, new, changes.new.engine).items():
                for name in known.intersection(names).difference(had.get(path, ())):
                    found.setdefault((name, path), []).extend(together)
    for (name, path), nodes in sorted(found.items()):
        where = f"{counted(len(nodes), 'node')}: {abridged(sorted(nodes))}"
        yield f"secret {name}: now also in {shown(path)} on {where}"


def _first_lines(lines: list[str]) -> list[str]:
    rest = len(lines) - _MOST
    return lines if rest <= 0 else [*lines[:_MOST], f"... and {rest:,} more lines about secrets"]


def describe_further_reach(changes: Comparison, new: Fleet) -> tuple[str, ...]:
    """Return the text after the number of changed nodes: which are held, and what walk-in nodes get."""
    return (*_describe_held(changes, new), *_describe_walk_ins(changes.walk_in))


def _describe_held(changes: Comparison, new: Fleet) -> Iterator[str]:
    if not has_holds(new):
        return
    changed = {name for change in changes if change.kind is not Kind.REMOVED for name in change.nodes}
    for name, hold in sorted(new.model.holds.items()) if changed else ():
        if new.compiled.today > hold.until:
            continue
        members = set(hold.members or ())
        if hold.where is not None:
            members |= new.compiled.select(hold.where.name).names
        kept = sorted(members & changed)
        if kept:
            verb = "is" if len(kept) == 1 else "are"
            commit = shown(hold.commit.name)[:ABBREVIATED]
            yield (
                f"{len(kept):,} of them {verb} held at {commit} until {hold.until} "
                f"by the hold {name}: {abridged(kept)}."
            )


def _describe_walk_ins(change: Change | None) -> Iterator[str]:
    if change is None:
        return
    if change.kind is Kind.REMOVED:
        yield "Walk-in nodes no longer get anything."
        return
    numbers = ((change.params, "parameter"), (change.files, "file"))
    parts = [counted(len(those), noun) for those, noun in numbers if those]
    verb = "change" if change.kind is Kind.CHANGED else "now get"
    yield f"Walk-in nodes {verb}: {', '.join(parts) or 'only groups and features'}."


def describe_stray_holds(fleet: Fleet, find_fault: Callable[[str], str]) -> Iterator[str]:
    """Yield a sentence for each active hold at a commit that its nodes cannot get.

    `find_fault` returns what is wrong with a commit, as the end of a sentence; "": nothing. These are not
    findings, which are about one tree: the existence of commits depends on refs.
    """
    if not has_holds(fleet):
        return
    for name, hold in sorted(fleet.model.holds.items()):
        wrong = find_fault(hold.commit.name) if fleet.compiled.today <= hold.until else ""
        if wrong:
            commit = shown(hold.commit.name)[:ABBREVIATED]
            yield f"The hold {name} keeps its nodes at {commit}, {wrong}."


def has_holds(fleet: Fleet) -> bool:
    """Return whether there are any, by the folder alone: a fleet in the cache need not be read."""
    return any(fleet.tree.entries("holds"))
