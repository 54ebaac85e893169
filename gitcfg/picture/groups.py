"""A picture of groups: the features that they install, and the nodes that are in them."""

from collections.abc import Collection, Iterator

from gitcfg.compile.fleet import Fleet
from gitcfg.model.nodeset import fold
from gitcfg.model.text import counted
from gitcfg.picture.columns import columns
from gitcfg.picture.combinations import MOST_PAIRS, Folded, combined, folded, shared
from gitcfg.picture.installed import installed
from gitcfg.picture.members import members, nodes, shares
from gitcfg.picture.mentions import missing_groups, told
from gitcfg.picture.picture import Kind, Picture, Vertex
from gitcfg.picture.words import described, ident, listed, short_set

SHORT = 36


def groups_picture(fleet: Fleet, names: Collection[str] = ()) -> Picture:
    """Every group, or some, with the features that they install and the nodes that are in them.

    Nodes with the same groups are one vertex. Where these are too many, the small ones are folded into
    one, or, if nearly all are small, all of them: then groups name their nodes, and lines between groups
    tell how many nodes are in both.
    """
    parts = folded(combined(fleet, names))
    groups = tuple(_groups(fleet, names, parts))
    drawn = frozenset(vertex.name for vertex in groups)
    defined = [fleet.model.groups[name] for name in sorted(drawn) if name in fleet.model.groups]
    lists, installs = installed(fleet.model, defined)
    pairs = [] if parts.drawn else shared(parts.rest, drawn)
    lines = tuple(shares(pairs[:MOST_PAIRS]))
    return Picture(
        "groups",
        f"Groups: {listed(names)}" if names else "Groups",
        (*nodes(parts), *groups, *lists),
        (*members(parts, drawn), *lines, *installs),
        tuple(_notes(names, len(pairs))),
        columns=columns([vertex.id for vertex in groups], lines) if lines else (),
    )


def _notes(names: Collection[str], pairs: int) -> Iterator[str]:
    if names:
        yield "Other groups are not drawn."
    if pairs > MOST_PAIRS:
        yield f"{counted(pairs - MOST_PAIRS, 'more pair')} of groups share as many nodes, or fewer."


def _groups(fleet: Fleet, names: Collection[str], parts: Folded) -> Iterator[Vertex]:
    """The default group, all others in order of name, and those that are only mentioned."""
    model, default = fleet.model, fleet.model.settings.default_group
    found: dict[str, list[str]] = {}
    for each in (*parts.drawn, *parts.rest):
        for group in each.groups:
            found.setdefault(group, []).extend(each.nodes)
    missing = missing_groups(model)
    for name in dict.fromkeys((default, *sorted(model.groups), *missing)):
        if not names or name in names:
            nodeset, count = fold(found.get(name, ())), len(found.get(name, ()))
            yield Vertex(
                id=ident("group", name),
                kind=Kind.MISSING if name in missing else Kind.GROUP,
                name=name,
                lines=tuple(_lines(name == default, count, "" if parts.drawn else nodeset)),
                about=told(missing[name]) if name in missing else _about(fleet, name, nodeset),
                count=count,
                nodeset=nodeset,
                unused=bool(fleet.names) and not count and name not in missing,
            )


def _lines(everyone: bool, count: int, nodeset: str) -> Iterator[str]:
    yield f"{'all ' * everyone}{counted(count, 'node')}" if count else "no node"
    if nodeset:
        yield short_set(nodeset, SHORT)


def _about(fleet: Fleet, name: str, nodeset: str) -> str:
    group = fleet.model.groups.get(name)
    return "\n".join(filter(None, (described(group) if group else "No file defines it.", nodeset)))
