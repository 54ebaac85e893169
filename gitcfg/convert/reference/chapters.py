"""A reference of a fleet as data: a chapter for each kind of definitions."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.operations import NOTHING
from gitcfg.convert.reference.content import (
    Branch,
    Chapter,
    Code,
    Entry,
    Fact,
    Line,
    Link,
    Part,
    Reference,
    Table,
    Text,
)
from gitcfg.convert.reference.usage import (
    SECRET,
    Usage,
    binding_line,
    fact,
    find_usage,
    group_nodes,
    layer_parts,
    parameter_table,
    ranking,
    use_lines,
    value_piece,
)
from gitcfg.explain.kinds.parameters import covering, patterns
from gitcfg.explain.trail import added_items, walk_layers
from gitcfg.model import Feature, FileEntry, Group, Node, Origin, Override, Parameter, Subsystem
from gitcfg.model.names import selects
from gitcfg.model.rules import Count, Domain, Permit, Rule, RuleKind, Uniqueness
from gitcfg.model.text import counted
from gitcfg.nodeset import fold
from gitcfg.pictures.features import combined, features_picture, folded, groups_picture
from gitcfg.pictures.picture import Edge, Picture, ident
from gitcfg.render.files import select_params

_NOTE = "Only its neighbors are drawn."
_DEEPEST = 20
_ABOUT_RULES = (
    "Conditions on many nodes together. The files in allocations/ hold what `gitcfg solve` decided for them."
)
_VERBS = {RuleKind.INSTALL: "Installs", RuleKind.LIMIT: "Limits"}
_PERMITS = {RuleKind.FORBID: "Forbidden to change", RuleKind.ALLOW: "Allowed to change"}


def collect_reference(fleet: Fleet, title: str, commit: str | None) -> Reference:
    """Return the reference of a fleet: a chapter for each kind that has entries."""
    usage = find_usage(fleet)
    interests = find_interests(usage)
    chapters = (
        build_feature_chapter(usage),
        build_group_chapter(usage),
        build_parameter_chapter(usage, interests),
        build_subsystem_chapter(usage, interests),
        build_nodeset_chapter(usage),
        build_override_chapter(usage),
        build_rule_chapter(usage),
    )
    errors = sum(finding.severity == "error" for finding in fleet.model.findings)
    found = counted(errors, "error")
    note = f"This reference is incomplete: the files have {found}. Run `gitcfg check` to list them."
    filled = tuple(chapter for chapter in chapters if chapter.entries)
    return Reference(title, commit, filled, (note,) if errors else ())


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
    about = "Sets of parameters and files for what a machine can do. Groups install features."
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
    """Return, by the id of each feature with edges, the picture of it and its neighbors."""
    vertices = {vertex.id: vertex for vertex in picture.vertices}
    joined: dict[str, list[Edge]] = {}
    for edge in picture.edges:
        for end in {edge.source, edge.target}:
            joined.setdefault(end, []).append(edge)
    pictures = {}
    for id_, edges in joined.items():
        ends = sorted({end for edge in edges for end in (edge.source, edge.target)})
        pictures[id_] = msgspec.structs.replace(
            picture,
            title=vertices[id_].name,
            vertices=tuple(vertices[end] for end in ends),
            edges=tuple(edges),
            notes=(_NOTE,),
        )
    return pictures


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
    yield from fact("Removed by", usage.listed("without", name))
    yield from fact("Subsystems", usage.mentioned_by("run", name))
    yield from fact("Nodes", [usage.nodes.line(usage.holders.get(name, ()))])
    yield from layer_parts(usage, feature)


def _find_indirect_groups(usage: Usage, name: str) -> Iterator[Line]:
    """Yield the groups that do not install a feature itself, but one that includes it."""
    above, pending = {name}, [name]
    while pending:
        found = [link.name for link in usage.mentions.by_definitions.get(("include", pending.pop()), ())]
        pending += (other for other in found if other not in above)
        above.update(found)
    installing = {other: set(usage.mentions.by_definitions.get(("install", other), ())) for other in above}
    through = {link for links in installing.values() for link in links} - installing[name]
    return ((link,) for link in sorted(through, key=lambda link: link.name) if link.kind == "group")


def _build_tree(usage: Usage) -> tuple[Branch, ...]:
    """Return the tree of includes; the branches of a feature are shown once."""
    defined = usage.fleet.model.features
    roots = [name for name in sorted(defined) if ("include", name) not in usage.mentions.by_definitions]
    seen: set[str] = set()
    names = (*roots, *sorted(defined))  # features in a cycle of includes are below no root
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
    about = "Named lists of features and values. Every node is in the default group, below all others."
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
    about = "Nodes that are alike and are written as one."
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
    nodes = group_nodes(usage.fleet, lambda each: (override.name for override in each.overrides))
    entries = []
    for name, found in sorted(usage.fleet.model.overrides.items()):
        affected = nodes.get(name, [])
        cells: tuple[Line, ...] = (usage.nodes.count(affected), (Text(str(found.until)),))
        parts = tuple(_override_parts(usage, found, affected))
        entries.append(Entry("override", name, found.reason, found.origin.file, cells, parts))
    about = "Values for some nodes for some time, with priority over everything else."
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
    nodes = group_nodes(usage.fleet, lambda each: each.effects.rules)
    entries = []
    for name, rule in sorted(usage.fleet.model.rules.items()):
        affected = nodes.get(name, [])
        cells: tuple[Line, ...] = ((Text(rule.kind.value),), usage.nodes.count(affected))
        parts = tuple(_rule_parts(usage, rule, affected))
        entries.append(Entry("rule", name, rule.description, rule.origin.file, cells, parts))
    return Chapter("rule", "Rules", _ABOUT_RULES, ("does", "nodes"), tuple(entries))


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
    yield from fact("Nodes to which it gives something", [usage.nodes.line(nodes)] if nodes else ())
    if rule.permit is not None:
        yield from _permit_parts(rule.kind, rule.permit)
    yield from parameter_table(usage, rule.params)
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
    yield from fact("Inherit", [(Text("no: only these features"),)] if not permit.inherit else ())


def _domain_row(usage: Usage, rule: Rule, domain: Domain) -> tuple[Line, Line]:
    """Return the values that a parameter or an attribute may have; a secret's are not shown."""
    of: Line = usage.parameter(domain.name) if rule.over is None else (Code(domain.name),)
    hidden = rule.over is None and usage.fleet.declarations.secret(domain.name)
    return of, SECRET if hidden else (value_piece(list(domain.items)),)


# The chapters of parameters, and of the subsystems that they affect.

_LEVELS = ("everyone", "experts", "developers")
_ABOUT_PARAMETERS = (
    "Everything that can be set, with its declaration. A name with `*` or `?` declares a family."
)
_KINDS = {
    "feature": "feature",
    "group": "group",
    "nodeset": "node set",
    "override": "override",
    "rule": "rule",
}
"""The names of kinds of layers."""


class Interests(msgspec.Struct, frozen=True):
    """The parameters that affect each subsystem, by entry, and the subsystems that each parameter affects."""

    parameters: Mapping[str, tuple[str, ...]]
    subsystems: Mapping[str, list[str]]


def find_interests(usage: Usage) -> Interests:
    """Find which parameters affect which subsystems."""
    names = {}
    for name in sorted(usage.names["parameter"]):
        declared = usage.fleet.model.parameters.get(name)
        members = tuple(usage.families.get(name, ()))
        # The bound members of a family are listed in place of its pattern.
        names[name] = members if members and declared and declared.pattern else (*members, name)
    parameters = {}
    subsystems: dict[str, list[str]] = {}
    for subsystem, definition in sorted(usage.fleet.model.subsystems.items()):
        chosen = patterns(definition)
        affecting = [name for name, each in names.items() if any(selects(chosen, one) for one in each)]
        parameters[subsystem] = tuple(affecting)
        for name in affecting:
            subsystems.setdefault(name, []).append(subsystem)
    return Interests(parameters, subsystems)


def build_parameter_chapter(usage: Usage, interests: Interests) -> Chapter:
    """Return the chapter of all parameters that are declared or bound."""
    files = _find_parameter_files(usage)
    entries = tuple(
        _parameter_entry(usage, name, interests, files) for name in sorted(usage.names["parameter"])
    )
    return Chapter("parameter", "Parameters", _ABOUT_PARAMETERS, ("type", "default"), entries)


def _parameter_entry(usage: Usage, name: str, interests: Interests, files: Iterable[FileEntry]) -> Entry:
    found = usage.fleet.model.parameters.get(name)
    parameter = found or Parameter(name, Origin(""))
    kind = usage.fleet.declarations.kind(name)
    default = _default_line(usage, found)
    parts = (
        *fact("Declared", [(Text("nowhere"),)] if found is None else ()),
        *fact("Type", [(Text(kind or "any"),)]),
        *fact("Default", [default] if default else ()),
        *_declared_parts(parameter),
        *_related_parts(usage, parameter, interests),
        *fact("Of this family", [(Code(fold(family)),)] if (family := usage.families.get(name)) else ()),
        *fact("Values by", usage.mentioned_by("confine", name)),
        *fact("Written to", _file_lines(usage, name, files)),
        *_bound_parts(usage, name),
    )
    cells = ((Text(kind or ""),), default)
    return Entry("parameter", name, parameter.description, parameter.origin.file, cells, parts)


def _default_line(usage: Usage, found: Parameter | None) -> Line:
    default: Any = usage.fleet.declarations.default(found) if found else NOTHING
    if found is not None and found.secret:
        return SECRET
    return () if default is NOTHING else (value_piece(default),)


def _declared_parts(parameter: Parameter) -> Iterator[Part]:
    """Yield the parts about the declaration."""
    if parameter.must_change:
        yield Fact("Must be changed", ((Text("each node with this parameter needs a value from a layer"),),))
    if parameter.schema is not None:
        yield Fact("Values must satisfy", ((value_piece(parameter.schema),),))
    texts = {
        "List separator": parameter.separator,
        "Equal items": "the first stays" if parameter.unique else "",
        "May hold macros of": parameter.macros,
        "For": _LEVELS[parameter.level] if parameter.level else "",
        "Secret": "its value is never shown" if parameter.secret else "",
    }
    for label, text in texts.items():
        if text:
            yield Fact(label, ((Text(text),),))
    yield from fact("Tags", ((Code(tag),) for tag in parameter.tags))


def _related_parts(usage: Usage, parameter: Parameter, interests: Interests) -> Iterator[Part]:
    """Yield the parts about other parameters and subsystems."""
    yield from fact("Needs", (usage.link("parameter", ref.name) for ref in parameter.depends))
    yield from fact("Needed by", usage.mentioned_by("need", parameter.name))
    mutual = [usage.link("parameter", ref.name) for ref in parameter.conflicts]
    yield from fact("Conflicts with", (*mutual, *usage.mentioned_by("exclude", parameter.name)))
    verb = "restarts" if parameter.restart else "reloads"
    affected = interests.subsystems.get(parameter.name, ())
    yield from fact(f"A change {verb}", ((Link("subsystem", name),) for name in affected))


def _find_parameter_files(usage: Usage) -> Iterable[FileEntry]:
    """Return the files that are written from parameters, one for each path and selection."""
    found = {}
    for _, layer in walk_layers(usage.fleet.model):
        for entry in layer.files.values():
            if entry.format is not None:
                found[entry.path, entry.params, entry.tags] = entry
    return found.values()


def _file_lines(usage: Usage, name: str, files: Iterable[FileEntry]) -> Iterable[Line]:
    values = dict.fromkeys((name, *usage.families.get(name, ())), "")
    paths = {entry.path for entry in files if select_params(usage.fleet, entry, values)}
    return ((Code(path),) for path in sorted(paths))


def _bound_parts(usage: Usage, name: str) -> Iterator[Part]:
    """Yield the table of layers that bind a parameter, with the values; nodes themselves are grouped."""
    rows: list[tuple[Line, ...]] = []
    family = name in usage.families
    for bound in usage.mentions.bindings.get(name, ()):
        called: Line = (Text(": "), Code(bound.name)) if family else ()
        layer: Line = (Text(f"{_KINDS[bound.layer.kind]} "), bound.layer, *called)
        rows.append((layer, binding_line(usage, bound.name, bound.binding)))
    own = usage.mentions.binding_nodes.get(name, ())
    if own:
        rows.append((usage.nodes.line(own), (Text("each its own"),)))
    if rows:
        yield Table("Set by", ("who", "value"), tuple(rows))


def build_subsystem_chapter(usage: Usage, interests: Interests) -> Chapter:
    """Return the chapter of subsystems: where each runs, and what restarts it."""
    entries = []
    for name, found in sorted(usage.fleet.model.subsystems.items()):
        nodes = _find_nodes(usage, found)
        parts = tuple(_subsystem_parts(usage, found, nodes, interests))
        cells = (usage.nodes.count(nodes),)
        entries.append(Entry("subsystem", name, found.description, found.origin.file, cells, parts))
    about = "Processes that parameters affect: a change of one restarts or reloads them."
    return Chapter("subsystem", "Subsystems", about, ("nodes",), tuple(entries))


def _find_nodes(usage: Usage, found: Subsystem) -> tuple[str, ...]:
    """Return the nodes where a subsystem runs: those with its features, or all that are not retired."""
    kinds = (kind for kind in usage.fleet.classes if not kind.definition.retired)
    if found.features is None:
        return tuple(name for kind in kinds for name in kind.names)
    own = {ref.name for ref in found.features}
    return tuple(name for kind in kinds if not own.isdisjoint(kind.features) for name in kind.names)


def _subsystem_parts(
    usage: Usage, found: Subsystem, nodes: tuple[str, ...], interests: Interests
) -> Iterator[Part]:
    runs: list[Line] = [(Text("everywhere"),)] if found.features is None else []
    runs += [usage.link("feature", ref.name) for ref in found.features or ()]
    yield from fact("Runs with", runs)
    yield from fact("Nodes", [usage.nodes.line(nodes)])
    affecting = interests.parameters[found.name]
    parameters = usage.fleet.model.parameters
    restarting = [name for name in affecting if name in parameters and parameters[name].restart]
    rest = [name for name in affecting if name not in restarting]
    yield from fact("Restarted by", (usage.link("parameter", name) for name in restarting))
    yield from fact("Reloaded by", (usage.link("parameter", name) for name in rest))
    yield from fact("Reloaded by files", ((Code(path),) for path in found.files))
    yield from fact("Its restart restarts", ((Code(ref.name),) for ref in found.covers))
    model = usage.fleet.model
    yield from fact("Restarted with", (usage.link("subsystem", name) for name in covering(model, found.name)))
    commands = {
        "Before installing": found.validate,
        "To reload": found.reload,
        "To restart": found.restart,
        "To stop": found.stop,
        "To check": found.check.run if found.check else (),
    }
    for label, command in commands.items():
        yield from fact(label, [(Code(shlex.join(command)),)] if command else ())
