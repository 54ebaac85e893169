"""A reference of a fleet as data, and its chapters of features, groups, node sets, overrides and rules."""

from collections.abc import Iterator

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.convert.reference.content import Branch, Chapter, Code, Entry, Line, Part, Reference, Table, Text
from gitcfg.convert.reference.parameters import (
    build_parameter_chapter,
    build_subsystem_chapter,
    find_interests,
)
from gitcfg.convert.reference.usage import (
    SECRET,
    Usage,
    binding_line,
    fact,
    find_usage,
    layer_parts,
    ranking,
    use_lines,
    value_piece,
)
from gitcfg.explain.trail import added_items
from gitcfg.model import Feature, Group, Node, Origin, Override
from gitcfg.model.rules import Count, Domain, Permit, Rule, RuleKind, Uniqueness
from gitcfg.model.text import counted
from gitcfg.pictures.features import features_picture
from gitcfg.pictures.groups import combined, folded, groups_picture
from gitcfg.pictures.picture import Edge, Picture, ident

_NOTE = "Features that are not next to it are not drawn."
_DEEPEST = 20
_ABOUT = "What must hold for all nodes together. What a rule leaves open is decided in allocations/."
_VERBS = {RuleKind.INSTALL: "Installs", RuleKind.LIMIT: "Limits"}
_PERMITS = {RuleKind.FORBID: "Forbidden to change", RuleKind.ALLOW: "Allowed to change"}


def collect_reference(fleet: Fleet, title: str, commit: str | None) -> Reference:
    """Return the reference of a fleet: a chapter for each kind that has entries."""
    found = find_usage(fleet)
    concerns = find_interests(found)
    chapters = (
        build_feature_chapter(found),
        build_group_chapter(found),
        build_parameter_chapter(found, concerns),
        build_subsystem_chapter(found, concerns),
        build_nodeset_chapter(found),
        build_override_chapter(found),
        build_rule_chapter(found),
    )
    return Reference(title, commit, tuple(each for each in chapters if each.entries), _find_notes(fleet))


def _find_notes(fleet: Fleet) -> tuple[str, ...]:
    """Return notes on what may be missing."""
    wrong = sum(finding.severity == "error" for finding in fleet.model.findings)
    if not wrong:
        return ()
    return (
        f"Not everything could be read: {counted(wrong, 'error')} in the files. `gitcfg check` tells where.",
    )


def build_feature_chapter(usage: Usage) -> Chapter:
    """Return the chapter of features."""
    picture = features_picture(usage.fleet)
    pictures = _split_picture(picture)
    entries = []
    for name, feature in sorted(usage.fleet.model.features.items()):
        near = pictures.get(ident("feature", name))
        parts = tuple(_feature_parts(usage, feature))
        cells = (usage.nodes.count(usage.holders.get(name, ())),)
        entries.append(Entry("feature", name, feature.description, feature.origin.file, cells, parts, near))
    about = "What a machine can do: parameters and files that belong together. Groups install features."
    return Chapter(
        "feature",
        "Features",
        about,
        ("nodes",),
        tuple(entries),
        picture if pictures else None,
        _build_tree(usage),
    )


def _split_picture(picture: Picture) -> dict[str, Picture]:
    """Return for each feature with edges, by its id, the picture of it and its neighbours."""
    vertices = {vertex.id: vertex for vertex in picture.vertices}
    joined: dict[str, list[Edge]] = {}
    for edge in picture.edges:
        for end in {edge.source, edge.target}:
            joined.setdefault(end, []).append(edge)
    return {
        id_: msgspec.structs.replace(
            picture,
            title=vertices[id_].name,
            vertices=tuple(
                vertices[end] for end in sorted({end for e in edges for end in (e.source, e.target)})
            ),
            edges=tuple(edges),
            notes=(_NOTE,),
        )
        for id_, edges in joined.items()
    }


def _feature_parts(usage: Usage, feature: Feature) -> Iterator[Part]:
    name = feature.name
    yield from ranking("Includes", use_lines(usage, feature.include))
    yield from fact("Depends on", (usage.link("feature", ref.name) for ref in feature.depends))
    mutual = [usage.link("feature", ref.name) for ref in feature.conflicts]
    yield from fact("Conflicts with", (*mutual, *usage.mentioned_by("conflict", name)))
    yield from fact("Becomes active after", (usage.link("feature", ref.name) for ref in feature.after))
    yield from fact("Included by", usage.mentioned_by("include", name))
    yield from fact("Depended on by", usage.mentioned_by("depend", name))
    yield from fact("Becomes active before", usage.mentioned_by("after", name))
    yield from fact("Installed by", usage.listed("install", name))
    yield from fact("Limited by", usage.mentioned_by("limit", name))
    yield from fact("Groups, through others", _find_indirect_groups(usage, name))
    yield from fact("Taken away by", usage.listed("without", name))
    yield from fact("Subsystems", usage.mentioned_by("run", name))
    yield from fact("Nodes", [usage.nodes.line(usage.holders.get(name, ()))])
    yield from layer_parts(usage, feature)


def _find_indirect_groups(usage: Usage, name: str) -> Iterator[Line]:
    """Return the groups that do not install a feature itself, but one that includes it."""
    above, pending = {name}, [name]
    while pending:
        found = [link.name for link in usage.mentions.by_definitions.get(("include", pending.pop()), ())]
        pending += (other for other in found if other not in above)
        above.update(found)
    installing = {other: set(usage.mentions.by_definitions.get(("install", other), ())) for other in above}
    through = {link for links in installing.values() for link in links} - installing[name]
    return ((link,) for link in sorted(through, key=lambda link: link.name) if link.kind == "group")


def _build_tree(usage: Usage) -> tuple[Branch, ...]:
    """Return the tree of what includes what; the branches of a feature are shown once."""
    defined = usage.fleet.model.features
    roots = [name for name in sorted(defined) if ("include", name) not in usage.mentions.by_definitions]
    seen: set[str] = set()
    names = (*roots, *sorted(defined))  # those that include each other hang from no root
    return tuple(_build_branch(usage, name, seen, 0) for name in names if name not in seen)


def _build_branch(usage: Usage, name: str, seen: set[str], depth: int) -> Branch:
    line = usage.link("feature", name)
    feature = usage.fleet.model.features.get(name)
    if feature is None or not feature.include:
        seen.add(name)
        return Branch(line)
    if name in seen or depth == _DEEPEST:
        return Branch((*line, Text(" and what it includes")))
    seen.add(name)
    included = dict.fromkeys(use.feature for use in feature.include)
    return Branch(line, tuple(_build_branch(usage, other, seen, depth + 1) for other in included))


def build_group_chapter(usage: Usage) -> Chapter:
    """Return the chapter of groups, with the default group even if it has no file."""
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
    """Yield the table of combinations of groups, if these are few, or few hold most nodes."""
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
    """Return lines as one, with commas between them."""
    comma = (Text(", "),)
    return tuple(piece for line in lines for piece in (*comma, *line))[1:]


def build_nodeset_chapter(usage: Usage) -> Chapter:
    """Return the chapter of node sets."""
    entries = []
    for name, found in sorted(usage.fleet.model.nodesets.items()):
        nodeset = found.definition
        listed = [usage.link("group", ref.name) for ref in added_items(nodeset.groups)]
        cells = (usage.nodes.count(found.members), _join_lines(listed))
        parts = tuple(_nodeset_parts(usage, nodeset, found.members, tuple(listed)))
        entries.append(Entry("nodeset", name, nodeset.description, found.origin.file, cells, parts))
    about = "Nodes that are alike, and written as one."
    return Chapter("nodeset", "Node sets", about, ("nodes", "groups"), tuple(entries))


def _nodeset_parts(
    usage: Usage, nodeset: Node, nodes: tuple[str, ...], listed: tuple[Line, ...]
) -> Iterator[Part]:
    yield from fact("Nodes", [usage.nodes.line(nodes)])
    yield from ranking("Groups", listed)
    yield from ranking("Features of its own", use_lines(usage, added_items(nodeset.features)))
    yield from fact("Without", (usage.link("feature", ref.name) for ref in added_items(nodeset.without)))
    yield from fact("Labels", ((Code(ref.name),) for ref in added_items(nodeset.labels)))
    yield from fact("State", [(Text(nodeset.state),)] if nodeset.state else ())
    yield from layer_parts(usage, nodeset)


def build_override_chapter(usage: Usage) -> Chapter:
    """Return the chapter of overrides."""
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


def build_rule_chapter(usage: Usage) -> Chapter:
    """Return the chapter of rules."""
    nodes: dict[str, list[str]] = {}
    for kind in usage.fleet.classes:
        for name in kind.brought.rules:
            nodes.setdefault(name, []).extend(kind.names)
    entries = []
    for name, rule in sorted(usage.fleet.model.rules.items()):
        concerned = nodes.get(name, [])
        cells: tuple[Line, ...] = ((Text(rule.kind.value),), usage.nodes.count(concerned))
        parts = tuple(_rule_parts(usage, rule, concerned))
        entries.append(Entry("rule", name, rule.description, rule.origin.file, cells, parts))
    return Chapter("rule", "Rules", _ABOUT, ("does", "nodes"), tuple(entries))


def _rule_parts(usage: Usage, rule: Rule, nodes: list[str]) -> Iterator[Part]:
    if rule.feature is not None:
        yield from fact(_VERBS[rule.kind], [usage.link("feature", rule.feature.name)])
    yield from fact("Requires", [(Code(rule.require.name),)] if rule.require else ())
    yield from fact("Says", [(Text(rule.message),)] if rule.message else ())
    yield from fact("How many", [_count_line(rule.count)] if rule.count else ())
    yield from fact("Where", [(Code(rule.where.name),)] if rule.where else ())
    yield from fact("Over instances of", [usage.link("feature", rule.over.name)] if rule.over else ())
    yield from fact("For each", [(Code(rule.per.name),)] if rule.per else ())
    yield from fact("No value twice", [_unique_line(rule.unique)] if rule.unique else ())
    yield from fact("Nodes that have something by it", [usage.nodes.line(nodes)] if nodes else ())
    if rule.permit is not None:
        yield from _permit_parts(rule.kind, rule.permit)
    if rule.params:
        rows = [
            (usage.parameter(name), binding_line(usage, name, binding))
            for name, binding in sorted(rule.params.items())
        ]
        yield Table("Parameters", ("parameter", "value"), tuple(rows))
    if rule.domains:
        domains = [_domain_row(usage, rule, domain) for _, domain in sorted(rule.domains.items())]
        yield Table("Values", ("of", "may be"), tuple(domains))


def _count_line(count: Count) -> Line:
    if count.least == count.most:
        return (Text(f"{count.least}"),)
    least = [f"at least {count.least}"] if count.least else []
    most = [f"at most {count.most}"] if count.most is not None else []
    return (Text(", ".join(least + most) or "any number"),)


def _unique_line(unique: Uniqueness) -> Line:
    if unique.key is not None:
        return (Text("among those of the same "), Code(unique.key.name))
    return (Text("in the whole fleet" if unique.scope == "fleet" else "on one node"),)


def _permit_parts(kind: RuleKind, permit: Permit) -> Iterator[Part]:
    yield from fact("Who", ((Code(ref.name),) for ref in permit.by))
    for what, named in permit.things().items():
        yield from fact(f"{_PERMITS[kind]}, {what}", ((Code(ref.name),) for ref in named))
    yield from fact("Inherit", [(Text("no: just these features"),)] if not permit.inherit else ())


def _domain_row(usage: Usage, rule: Rule, domain: Domain) -> tuple[Line, Line]:
    """Return the values that a parameter or an attribute may have; a secret's are not shown."""
    of: Line = usage.parameter(domain.name) if rule.over is None else (Code(domain.name),)
    hidden = rule.over is None and usage.fleet.declarations.secret(domain.name)
    return of, SECRET if hidden else (value_piece(list(domain.items)),)
