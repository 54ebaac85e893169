"""Nodes in a picture of groups, combination by combination, and the lines from them to their groups."""

from collections import Counter
from collections.abc import Iterable, Iterator

from gitcfg.model.nodeset import fold
from gitcfg.model.text import counted
from gitcfg.picture.combinations import Combination, Folded
from gitcfg.picture.picture import Edge, Kind, Relation, Vertex
from gitcfg.picture.words import ident, quoted, short_set

REST = "rest"


def nodes(parts: Folded) -> Iterator[Vertex]:
    """A vertex for each combination that is drawn, and one for all others: together they are every node."""
    for each in parts.drawn:
        nodeset = fold(each.nodes)
        yield Vertex(
            id=_id(each),
            kind=Kind.NODES,
            name=counted(len(each.nodes), "node") + (", retired" if each.retired else ""),
            lines=(short_set(nodeset),),
            about=f"{nodeset}\nGroups, highest priority first: {', '.join(each.groups)}",
            count=len(each.nodes),
            nodeset=nodeset,
        )
    if parts.rest:
        names = [name for each in parts.rest for name in each.nodes]
        nodeset = fold(names)
        yield Vertex(
            id=REST,
            kind=Kind.REST,
            name=_more(len(parts.rest), bool(parts.drawn)),
            lines=(counted(len(names), "node"), short_set(nodeset)),
            about=nodeset,
            count=len(names),
            nodeset=nodeset,
        )


def _more(combinations: int, others: bool) -> str:
    if others:
        return f"and {counted(combinations, 'more combination')} of groups"
    return f"{counted(combinations, 'combination')} of groups"


def _id(each: Combination) -> str:
    state = "retired" if each.retired else "nodes"
    return f"{state} in {' > '.join(map(quoted, each.groups))}"


def members(parts: Folded, drawn: frozenset[str]) -> Iterator[Edge]:
    """From nodes to the groups that are drawn. Which counts for more is told by a number."""
    for each in parts.drawn:
        several = len(each.groups) > 2
        for number, group in _targets(each, drawn):
            yield Edge(Relation.MEMBER, _id(each), ident("group", group), f"{number}." if several else "")
    if parts.drawn:
        some = Counter[str]()
        for each in parts.rest:
            for _, group in _targets(each, drawn):
                some[group] += len(each.nodes)
        for group, count in sorted(some.items()):
            yield Edge(Relation.SOME, REST, ident("group", group), counted(count, "node"))


def _targets(each: Combination, drawn: frozenset[str]) -> list[tuple[int, str]]:
    """The groups that a line leads to, numbered. To the default group only if there is no other to draw."""
    numbered = [(number, group) for number, group in enumerate(each.groups, 1) if group in drawn]
    return numbered[:-1] if len(numbered) > 1 and numbered[-1][1] == each.groups[-1] else numbered


def shares(pairs: Iterable[tuple[int, str, str]]) -> Iterator[Edge]:
    """Lines between groups, with the number of nodes that are in both."""
    for count, first, second in pairs:
        yield Edge(Relation.SHARES, ident("group", first), ident("group", second), counted(count, "node"))
