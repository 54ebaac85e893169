"""The chapters of groups, node sets and overrides: what each says, and which nodes it is about."""

from collections.abc import Iterator

from gitcfg.convert.reference.content import Chapter, Code, Entry, Line, Part, Table, Text
from gitcfg.convert.reference.settings import fact, layer_parts, ranking, use_lines
from gitcfg.convert.reference.uses import Usage
from gitcfg.explain.trail import given
from gitcfg.model import Group, Node, Origin, Override
from gitcfg.model.text import counted
from gitcfg.pictures.groups import combined, folded, groups_picture


def group_chapter(usage: Usage) -> Chapter:
    """Every group; the default one is there although it may have no file."""
    entries = []
    for name in sorted(usage.names["group"]):
        group = usage.fleet.model.groups.get(name, Group(name, Origin("")))
        members = usage.members.get(name, ())
        features = len({use.feature for use in group.features})
        cells: tuple[Line, ...] = ((Text(str(features)),), usage.nodes.count(members))
        parts = tuple(_group_parts(usage, group))
        entries.append(Entry("group", name, group.description, group.origin.file, cells, parts))
    about = "Nodes with what they have in common. Every node is in the default group, below all others."
    return Chapter(
        "group",
        "Groups",
        about,
        ("features", "nodes"),
        tuple(entries),
        groups_picture(usage.fleet),
        parts=tuple(_combination_tables(usage)),
    )


def _group_parts(usage: Usage, group: Group) -> Iterator[Part]:
    if group.name == usage.fleet.model.settings.default_group:
        yield from fact("Members", [(Text("every node, with the lowest priority"),)])
    yield from ranking("Features", use_lines(usage, group.features))
    yield from fact("Nodes", [usage.nodes.line(usage.members.get(group.name, ()))])
    yield from fact("Listed by", usage.listed("join", group.name))
    yield from layer_parts(usage, group)


def _combination_tables(usage: Usage) -> Iterator[Table]:
    """Which nodes are in which groups, if it is few combinations, or few that hold most."""
    parts = folded(combined(usage.fleet))
    rows: list[tuple[Line, ...]] = []
    for each in parts.drawn:
        state: Line = (Text(", retired"),) if each.retired else ()
        listed = [usage.link("group", name) for name in each.groups]
        rows.append(((*usage.nodes.line(each.nodes), *state), _join_lines(listed)))
    if rows and parts.rest:
        nodes = [name for each in parts.rest for name in each.nodes]
        more = counted(len(parts.rest), "more combination")
        rows.append((usage.nodes.line(nodes), (Text(more),)))
    if rows:
        yield Table(
            "Which nodes are in which groups", ("nodes", "groups, highest priority first"), tuple(rows)
        )


def _join_lines(lines: list[Line]) -> Line:
    """Lines as one, with commas."""
    comma = (Text(", "),)
    return tuple(piece for line in lines for piece in (*comma, *line))[1:]


def nodeset_chapter(usage: Usage) -> Chapter:
    """Every set of alike nodes, in short."""
    entries = []
    for name, found in sorted(usage.fleet.model.nodesets.items()):
        said = found.definition
        listed = [usage.link("group", ref.name) for ref in given(said.groups)]
        cells = (usage.nodes.count(found.members), _join_lines(listed))
        parts = tuple(_nodeset_parts(usage, said, found.members, tuple(listed)))
        entries.append(Entry("nodeset", name, said.description, found.origin.file, cells, parts))
    about = "Nodes that are alike, and written as one."
    return Chapter("nodeset", "Node sets", about, ("nodes", "groups"), tuple(entries))


def _nodeset_parts(
    usage: Usage, said: Node, nodes: tuple[str, ...], listed: tuple[Line, ...]
) -> Iterator[Part]:
    yield from fact("Nodes", [usage.nodes.line(nodes)])
    yield from ranking("Groups", listed)
    yield from ranking("Features of its own", use_lines(usage, given(said.features)))
    yield from fact("Without", (usage.link("feature", ref.name) for ref in given(said.without)))
    yield from fact("Labels", ((Code(ref.name),) for ref in given(said.labels)))
    yield from fact("State", [(Text(said.state),)] if said.state else ())
    yield from layer_parts(usage, said)


def override_chapter(usage: Usage) -> Chapter:
    """Every override, in short."""
    nodes: dict[str, list[str]] = {}
    for kind in usage.fleet.classes:
        for override in kind.overrides:
            nodes.setdefault(override.name, []).extend(kind.names)
    entries = []
    for name, found in sorted(usage.fleet.model.overrides.items()):
        concerned = nodes.get(name, [])
        cells: tuple[Line, ...] = (usage.nodes.count(concerned), (Text(str(found.until)),))
        parts = tuple(_override_parts(usage, found, concerned))
        entries.append(Entry("override", name, found.reason, found.origin.file, cells, parts))
    about = "What holds for some nodes for some time, above everything else."
    return Chapter("override", "Overrides", about, ("nodes", "until"), tuple(entries))


def _override_parts(usage: Usage, found: Override, nodes: list[str]) -> Iterator[Part]:
    yield from fact("Nodes", [usage.nodes.line(nodes)])
    yield from fact("Chosen by", [(Code(found.where.name),)] if found.where else ())
    yield from fact("Until", [(Text(str(found.until)),)])
    yield from ranking("Features", use_lines(usage, found.features))
    yield from fact("Without", (usage.link("feature", ref.name) for ref in found.without))
    yield from layer_parts(usage, found)
