"""The chapters of groups, node sets and overrides: what each says, and which nodes it is about."""

from collections.abc import Iterator

from gitcfg.convert.reference.content import Chapter, Code, Entry, Line, Part, Table, Text
from gitcfg.convert.reference.settings import fact, layer_parts, ranked, use_lines
from gitcfg.convert.reference.uses import Uses
from gitcfg.explain.trail import given
from gitcfg.model import Group, Node, Origin, Override
from gitcfg.model.text import counted
from gitcfg.pictures.groups import combined, folded, groups_picture


def groups(uses: Uses) -> Chapter:
    """Every group; the default one is there although it may have no file."""
    entries = []
    for name in sorted(uses.names["group"]):
        group = uses.fleet.model.groups.get(name, Group(name, Origin("")))
        members = uses.members.get(name, ())
        features = len({use.feature for use in group.features})
        cells: tuple[Line, ...] = ((Text(str(features)),), uses.nodes.count(members))
        parts = tuple(_group(uses, group))
        entries.append(Entry("group", name, group.description, group.origin.file, cells, parts))
    about = "Nodes with what they have in common. Every node is in the default group, below all others."
    return Chapter(
        "group",
        "Groups",
        about,
        ("features", "nodes"),
        tuple(entries),
        groups_picture(uses.fleet),
        parts=tuple(_combinations(uses)),
    )


def _group(uses: Uses, group: Group) -> Iterator[Part]:
    if group.name == uses.fleet.model.settings.default_group:
        yield from fact("Members", [(Text("every node, with the lowest priority"),)])
    yield from ranked("Features", use_lines(uses, group.features))
    yield from fact("Nodes", [uses.nodes.line(uses.members.get(group.name, ()))])
    yield from fact("Listed by", uses.listed("join", group.name))
    yield from layer_parts(uses, group)


def _combinations(uses: Uses) -> Iterator[Table]:
    """Which nodes are in which groups, if it is few combinations, or few that hold most."""
    parts = folded(combined(uses.fleet))
    rows: list[tuple[Line, ...]] = []
    for each in parts.drawn:
        state: Line = (Text(", retired"),) if each.retired else ()
        listed = [uses.link("group", name) for name in each.groups]
        rows.append(((*uses.nodes.line(each.nodes), *state), _joined(listed)))
    if rows and parts.rest:
        nodes = [name for each in parts.rest for name in each.nodes]
        more = counted(len(parts.rest), "more combination")
        rows.append((uses.nodes.line(nodes), (Text(more),)))
    if rows:
        yield Table(
            "Which nodes are in which groups", ("nodes", "groups, highest priority first"), tuple(rows)
        )


def _joined(lines: list[Line]) -> Line:
    """Lines as one, with commas."""
    comma = (Text(", "),)
    return tuple(piece for line in lines for piece in (*comma, *line))[1:]


def nodesets(uses: Uses) -> Chapter:
    """Every set of alike nodes, in short."""
    entries = []
    for name, found in sorted(uses.fleet.model.nodesets.items()):
        said = found.definition
        listed = [uses.link("group", ref.name) for ref in given(said.groups)]
        cells = (uses.nodes.count(found.members), _joined(listed))
        parts = tuple(_nodeset(uses, said, found.members, tuple(listed)))
        entries.append(Entry("nodeset", name, said.description, found.origin.file, cells, parts))
    about = "Nodes that are alike, and written as one."
    return Chapter("nodeset", "Node sets", about, ("nodes", "groups"), tuple(entries))


def _nodeset(uses: Uses, said: Node, nodes: tuple[str, ...], listed: tuple[Line, ...]) -> Iterator[Part]:
    yield from fact("Nodes", [uses.nodes.line(nodes)])
    yield from ranked("Groups", listed)
    yield from ranked("Features of its own", use_lines(uses, given(said.features)))
    yield from fact("Without", (uses.link("feature", ref.name) for ref in given(said.without)))
    yield from fact("Labels", ((Code(ref.name),) for ref in given(said.labels)))
    yield from fact("State", [(Text(said.state),)] if said.state else ())
    yield from layer_parts(uses, said)


def overrides(uses: Uses) -> Chapter:
    """Every override, in short."""
    nodes: dict[str, list[str]] = {}
    for kind in uses.fleet.classes:
        for override in kind.overrides:
            nodes.setdefault(override.name, []).extend(kind.names)
    entries = []
    for name, found in sorted(uses.fleet.model.overrides.items()):
        concerned = nodes.get(name, [])
        cells: tuple[Line, ...] = (uses.nodes.count(concerned), (Text(str(found.until)),))
        parts = tuple(_override(uses, found, concerned))
        entries.append(Entry("override", name, found.reason, found.origin.file, cells, parts))
    about = "What holds for some nodes for some time, above everything else."
    return Chapter("override", "Overrides", about, ("nodes", "until"), tuple(entries))


def _override(uses: Uses, found: Override, nodes: list[str]) -> Iterator[Part]:
    yield from fact("Nodes", [uses.nodes.line(nodes)])
    yield from fact("Chosen by", [(Code(found.where.name),)] if found.where else ())
    yield from fact("Until", [(Text(str(found.until)),)])
    yield from ranked("Features", use_lines(uses, found.features))
    yield from fact("Without", (uses.link("feature", ref.name) for ref in found.without))
    yield from layer_parts(uses, found)
