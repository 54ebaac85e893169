"""Pictures of features, and of groups with the features that they install and the nodes in them."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import combinations
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.model import Group, Model, Ref, Use
from gitcfg.model.text import counted
from gitcfg.nodeset import fold
from gitcfg.pictures.picture import (
    Edge,
    Kind,
    Picture,
    Relation,
    Vertex,
    around,
    by_feature,
    columns,
    described,
    ident,
    instances,
    list_origins,
    listed,
    missing_features,
    missing_groups,
    quoted,
    short_set,
)


def features_picture(fleet: Fleet, names: Collection[str] = ()) -> Picture:
    """Return a picture of every feature; or of some, all that they lead to, and their neighbors.

    Raise KeyError if a feature does not exist.
    """
    vertices = (*_defined(fleet), *_missing(fleet.model))
    picture = Picture("features", "Features", vertices, tuple(_edges(fleet.model)))
    if not names:
        return picture
    ids = {vertex.name: vertex.id for vertex in vertices}
    note = "All features that these lead to, and their neighbors. Other features are not drawn."
    return around(picture, [ids[name] for name in names], f"Features: {listed(names)}", note)


def _defined(fleet: Fleet) -> Iterator[Vertex]:
    nodes = Counter[str]()
    for kind in fleet.classes:
        for name in kind.features:
            nodes[name] += len(kind.names)
    folders = {feature.origin.file.rpartition("/")[0] for feature in fleet.model.features.values()}
    for name, feature in sorted(fleet.model.features.items()):
        yield Vertex(
            id=ident("feature", name),
            kind=Kind.FEATURE,
            name=name,
            lines=(counted(nodes[name], "node") if nodes[name] else "no node",) if fleet.names else (),
            about=described(feature),
            count=nodes[name],
            unused=bool(fleet.names) and not nodes[name],
            folder=feature.origin.file.partition("/")[2].rpartition("/")[0] if len(folders) > 1 else "",
        )


def _missing(model: Model) -> Iterator[Vertex]:
    for name, origins in missing_features(model).items():
        yield Vertex(
            id=ident("feature", name),
            kind=Kind.MISSING,
            name=name,
            lines=("missing",),
            about=list_origins(origins),
        )


def _edges(model: Model) -> Iterator[Edge]:
    """Yield all edges; a conflict, which is mutual, once for each pair."""
    pairs: set[frozenset[str]] = set()
    for name, feature in sorted(model.features.items()):
        source = ident("feature", name)
        for target, uses in by_feature(feature.include).items():
            yield Edge(Relation.INCLUDES, source, ident("feature", target), instances(uses))
        for relation, refs in ((Relation.DEPENDS, feature.depends), (Relation.AFTER, feature.after)):
            for target in _names(refs):
                yield Edge(relation, source, ident("feature", target))
        for target in _names(feature.conflicts):
            if frozenset((name, target)) not in pairs:
                pairs.add(frozenset((name, target)))
                yield Edge(Relation.CONFLICTS, source, ident("feature", target))


def _names(refs: Iterable[Ref]) -> Iterable[str]:
    return dict.fromkeys(ref.name for ref in refs)


# A picture of groups: the combinations that nodes have, folded if there are too many.

MOST = 40
"""The number of combinations that a reader can still distinguish in a picture."""

MOST_PAIRS = 20
"""The number of lines between groups in one column that a reader can still distinguish."""


class Combination(msgspec.Struct, frozen=True):
    """Nodes with the same groups, highest first; the default group is last. Undefined groups are included."""

    groups: tuple[str, ...]
    nodes: tuple[str, ...]
    retired: bool = False


class Folded(msgspec.Struct, frozen=True):
    """Combinations that are drawn one by one, and those that are folded. Together they have every node."""

    drawn: tuple[Combination, ...]
    rest: tuple[Combination, ...] = ()


def combined(fleet: Fleet, among: Collection[str] = ()) -> tuple[Combination, ...]:
    """Return every combination that nodes have, largest first; or only those with one of some groups."""
    default = fleet.model.settings.default_group
    nodes: dict[tuple[tuple[str, ...], bool], list[str]] = {}
    for kind in fleet.classes:
        explicit = (ref.name for ref in kind.definition.groups if ref.name != default)
        nodes.setdefault(((*explicit, default), kind.definition.retired), []).extend(kind.names)
    found = (Combination(key[0], tuple(sorted(names)), key[1]) for key, names in nodes.items())
    chosen = (each for each in found if not among or not set(among).isdisjoint(each.groups))
    return tuple(sorted(chosen, key=lambda each: (-len(each.nodes), each.groups, each.retired)))


def folded(found: tuple[Combination, ...]) -> Folded:
    """Return the combinations with those to draw: all if there are few enough, otherwise the large ones.

    Large ones are drawn only if together they have half of the nodes.
    """
    if len(found) <= MOST:
        return Folded(found)
    everyone = _nodes(found)
    large = tuple(each for each in found[: MOST - 1] if len(each.nodes) >= max(2, everyone // 100))
    drawn = large if 2 * _nodes(large) >= everyone else ()
    return Folded(drawn, found[len(drawn) :])


def _nodes(found: Iterable[Combination]) -> int:
    return sum(len(each.nodes) for each in found)


def shared(found: Iterable[Combination], groups: Collection[str]) -> list[tuple[int, str, str]]:
    """Return pairs of explicit groups, each with the number of nodes that are in both, largest first."""
    pairs = Counter[tuple[str, str]]()
    for each in found:
        among = sorted(group for group in each.groups[:-1] if group in groups)
        for pair in combinations(among, 2):
            pairs[pair] += len(each.nodes)
    return sorted(((count, *pair) for pair, count in pairs.items()), key=lambda pair: (-pair[0], pair[1:]))


# Lists of features as groups install them, each list once for all groups that have it.


def installed(model: Model, groups: Iterable[Group]) -> tuple[list[Vertex], list[Edge]]:
    """Return a vertex for each list of features, and an edge to it from each group that has it."""
    vertices: dict[Any, Vertex] = {}
    edges: list[Edge] = []
    for group in groups:
        if group.features:
            key = tuple(map(_key, group.features))
            vertex = vertices.setdefault(key, _list_vertex(model, group))
            edges.append(Edge(Relation.INSTALLS, ident("group", group.name), vertex.id))
    return list(vertices.values()), edges


def _key(use: Use) -> Any:
    """Return a key that is equal for uses with the same content, regardless of their places in files."""
    attributes = {name: (given.given, given.text) for name, given in sorted(use.attributes.items())}
    return use.feature, use.instance, repr(attributes)


def _list_vertex(model: Model, group: Group) -> Vertex:
    """Return a vertex for the list as it is written: the topmost feature first."""
    lines = []
    for number, (name, uses) in enumerate(by_feature(group.features).items(), 1):
        missing = "" if name in model.features else "(missing)"
        lines.append(" ".join(filter(None, (f"{number}.", name, instances(uses), missing))))
    return Vertex(
        id=f"features of {quoted(group.name)}",
        kind=Kind.FEATURES,
        name=lines[0],
        lines=tuple(lines[1:]),
        about="Highest priority first.",
    )


# Nodes in a picture of groups, combination by combination, and the lines from them to their groups.

REST = "rest"


def nodes(parts: Folded) -> Iterator[Vertex]:
    """Yield a vertex for each combination that is drawn, and one for all others.

    Together they have every node.
    """
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
        combination = "more combination" if parts.drawn else "combination"
        yield Vertex(
            id=REST,
            kind=Kind.REST,
            name=f"{'and ' * bool(parts.drawn)}{counted(len(parts.rest), combination)} of groups",
            lines=(counted(len(names), "node"), short_set(nodeset)),
            about=nodeset,
            count=len(names),
            nodeset=nodeset,
        )


def _id(each: Combination) -> str:
    state = "retired" if each.retired else "nodes"
    return f"{state} in {' > '.join(map(quoted, each.groups))}"


def members(parts: Folded, drawn: frozenset[str]) -> Iterator[Edge]:
    """Yield edges from nodes to the groups that are drawn. A number shows the priority of a group."""
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
    """Return the groups to draw a line to, numbered; the default group only if there is no other."""
    numbered = [(number, group) for number, group in enumerate(each.groups, 1) if group in drawn]
    return numbered[:-1] if len(numbered) > 1 and numbered[-1][1] == each.groups[-1] else numbered


def shares(pairs: Iterable[tuple[int, str, str]]) -> Iterator[Edge]:
    """Yield lines between groups, with the number of nodes that are in both."""
    for count, first, second in pairs:
        yield Edge(Relation.SHARES, ident("group", first), ident("group", second), counted(count, "node"))


# A picture of groups: the features that they install, and the nodes that are in them.

SHORT = 36


def groups_picture(fleet: Fleet, names: Collection[str] = ()) -> Picture:
    """Return every group, or some, with the features that they install and the nodes that are in them.

    Nodes with the same groups are one vertex. If there are too many of these, the small ones are folded into
    one or, if nearly all are small, all of them: then groups list their nodes, and lines between groups show
    how many nodes are in both.
    """
    parts = folded(combined(fleet, names))
    groups = tuple(_groups(fleet, names, parts))
    drawn = frozenset(vertex.name for vertex in groups)
    defined = [fleet.model.groups[name] for name in sorted(drawn) if name in fleet.model.groups]
    lists, installs = installed(fleet.model, defined)
    pairs = [] if parts.drawn else shared(parts.rest, drawn)
    lines = tuple(shares(pairs[:MOST_PAIRS]))
    notes = ["Other groups are not drawn."] if names else []
    if len(pairs) > MOST_PAIRS:
        more = counted(len(pairs) - MOST_PAIRS, "more pair")
        notes.append(f"{more} of groups share the same number of nodes or fewer.")
    return Picture(
        "groups",
        f"Groups: {listed(names)}" if names else "Groups",
        (*nodes(parts), *groups, *lists),
        (*members(parts, drawn), *lines, *installs),
        tuple(notes),
        columns=columns([vertex.id for vertex in groups], lines) if lines else (),
    )


def _groups(fleet: Fleet, names: Collection[str], parts: Folded) -> Iterator[Vertex]:
    """Yield the default group, all others in order of name, and those that are only mentioned."""
    model, default = fleet.model, fleet.model.settings.default_group
    found = defaultdict[str, list[str]](list)
    for each in (*parts.drawn, *parts.rest):
        for group in each.groups:
            found[group] += each.nodes
    missing = missing_groups(model)
    for name in dict.fromkeys((default, *sorted(model.groups), *missing)):
        if names and name not in names:
            continue
        nodeset, count = fold(found[name]), len(found[name])
        lines = [f"{'all ' * (name == default)}{counted(count, 'node')}" if count else "no node"]
        if nodeset and not parts.drawn:
            lines.append(short_set(nodeset, SHORT))
        if name in missing:
            about = list_origins(missing[name])
        else:
            description = described(model.groups[name]) if name in model.groups else "No file defines it."
            about = "\n".join(filter(None, (description, nodeset)))
        yield Vertex(
            id=ident("group", name),
            kind=Kind.MISSING if name in missing else Kind.GROUP,
            name=name,
            lines=tuple(lines),
            about=about,
            count=count,
            nodeset=nodeset,
            unused=bool(fleet.names) and not count and name not in missing,
        )
