"""The uses of definitions in a fleet, as the source of a reference's entries, and parts of entries."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.node_class import NodeClass
from gitcfg.convert.reference.content import Code, Fact, Line, Link, Part, Ranking, Table, Text
from gitcfg.explain.definition import make_setting
from gitcfg.explain.trail import LayerDefinition, added_items, listed_features, walk_layers
from gitcfg.model import Binding, Feature, FileEntry, Model, Node, Op, Override, Use
from gitcfg.model.rules import RuleKind
from gitcfg.model.text import counted
from gitcfg.nodeset import fold
from gitcfg.pictures.picture import by_feature, instances

_LONGEST = 600
"""The most characters of a set that is shown."""
_RUNS = 100
_NUMBER = re.compile(r"(\d+)")
_NODESET = "node set "


class Bound(msgspec.Struct, frozen=True):
    """The binding of a parameter in a layer, under the name in its file."""

    layer: Link
    name: str
    binding: Binding


class Mentions(msgspec.Struct, frozen=True):
    """Mentions in definitions.

    `by_definitions["include", NAME]` are the features that include NAME, and so on.

    `by_nodes` are the nodes that mention something, by the same keys. `bindings` are the layers that bind a
    parameter, by the name of its entry; `binding_nodes` are the nodes that do so.
    """

    by_definitions: Mapping[tuple[str, str], list[Link]]
    by_nodes: Mapping[tuple[str, str], list[str]]
    bindings: Mapping[str, list[Bound]]
    binding_nodes: Mapping[str, list[str]]


class NodeFolder:
    """Writer of sets of nodes of a fleet: their number, and the folded set if it is short.

    Folding all holders of 300 features on 10,000 nodes took 2.1 s and gave 3.3 MB, nearly all of it sets that
    are too long to read. A set has at least as many ranges as there are runs in the order of names by
    number, which is enough to leave most sets unfolded.
    """

    def __init__(self, names: Iterable[str]) -> None:
        self._ranks = {name: rank for rank, name in enumerate(sorted(names, key=_number_order))}
        self._lines: dict[frozenset[str], Line] = {}

    def count(self, names: Collection[str]) -> Line:
        """Return the number of nodes."""
        return (Text(str(len(names))),)

    def line(self, names: Collection[str]) -> Line:
        """Return the number of nodes, and the set if it is short."""
        key = frozenset(names)
        if key not in self._lines:
            self._lines[key] = self._line(key)
        return self._lines[key]

    def _line(self, names: frozenset[str]) -> Line:
        number = counted(len(names), "node") if names else "no node"
        if names and len(names) == len(self._ranks) > 1:
            number = f"all {number}"
        ranks = {self._ranks.get(name, -1) for name in names}
        runs = sum(rank - 1 not in ranks for rank in ranks)
        folded = fold(sorted(names)) if runs <= _RUNS else ""
        return (Text(f"{number}: "), Code(folded)) if 0 < len(folded) <= _LONGEST else (Text(number),)


def _number_order(name: str) -> tuple[tuple[str, ...], tuple[int, ...], str]:
    """Return a sort key that keeps names of one shape together, in the order of their numbers."""
    parts = _NUMBER.split(name)
    return tuple(parts[::2]), tuple(map(int, parts[1::2])), name


class Usage(msgspec.Struct, frozen=True):
    """The source of all entries.

    `names` are the entries by kind. `holders` are the nodes by feature, `members` those by group; `families`
    are the bound parameters of each family.
    """

    fleet: Fleet
    names: Mapping[str, frozenset[str]]
    mentions: Mentions
    holders: Mapping[str, list[str]]
    members: Mapping[str, list[str]]
    families: Mapping[str, list[str]]
    nodes: NodeFolder

    def link(self, kind: str, name: str, text: str = "") -> Line:
        """Return a link to a definition, or its name and that it is missing."""
        if name in self.names[kind]:
            return (Link(kind, name, text if text != name else ""),)
        return (Code(text or name), Text(" (missing)"))

    def parameter(self, name: str) -> Line:
        """Return a link from the name of a parameter in a binding to its entry."""
        found = entry_name(self.fleet, name)
        return (Link("parameter", found, name if name != found else ""),) if found else (Code(name),)

    def mentioned_by(self, what: str, name: str) -> tuple[Line, ...]:
        """Return links to the definitions that mention another in some way."""
        return tuple((link,) for link in dict.fromkeys(self.mentions.by_definitions.get((what, name), ())))

    def listed(self, what: str, name: str) -> tuple[Line, ...]:
        """Return the definitions and the nodes that mention another in some way."""
        names = self.mentions.by_nodes.get((what, name), ())
        return (*self.mentioned_by(what, name), *((self.nodes.line(names),) if names else ()))


def find_usage(fleet: Fleet) -> Usage:
    """Return the source of all entries of a fleet."""
    known, families = _find_parameters(fleet)
    default = fleet.model.settings.default_group
    names = _find_names(fleet.model, known)
    return Usage(
        fleet,
        names,
        find_mentions(fleet),
        holders=group_nodes(fleet, lambda node_class: node_class.features),
        members={**group_nodes(fleet, lambda node_class: node_class.groups), default: list(fleet.names)},
        families=families,
        nodes=NodeFolder(fleet.names),
    )


def group_nodes(fleet: Fleet, names: Callable[[NodeClass], Iterable[str]]) -> dict[str, list[str]]:
    """Return nodes by the names that a function returns for their classes."""
    found: dict[str, list[str]] = {}
    for node_class in fleet.classes:
        for name in names(node_class):
            found.setdefault(name, []).extend(node_class.names)
    return found


def _find_parameters(fleet: Fleet) -> tuple[frozenset[str], Mapping[str, list[str]]]:
    """Return the parameters that have entries, and the bound members of each family."""
    families: dict[str, list[str]] = {}
    known = set(fleet.model.parameters)
    for name in sorted(
        fleet.bound | fleet.bindings.names
    ):  # by layers: composing 10,000 classes takes a second
        found = entry_name(fleet, name)
        known |= {found} if found else set()
        if found and found != name and "${" not in name:
            families.setdefault(found, []).append(name)
    return frozenset(known), families


def _find_names(model: Model, parameters: frozenset[str]) -> Mapping[str, frozenset[str]]:
    return {
        "feature": frozenset(model.features),
        "parameter": parameters,
        "subsystem": frozenset(model.subsystems),
        "group": frozenset((*model.groups, model.settings.default_group)),
        "nodeset": frozenset(model.nodesets),
        "override": frozenset(model.overrides),
        "rule": frozenset(model.rules),
    }


def find_mentions(fleet: Fleet) -> Mentions:
    """Find what definitions of a fleet mention in one walk over the layers."""
    by_definitions: dict[tuple[str, str], list[Link]] = {}
    by_nodes: dict[tuple[str, str], list[str]] = {}
    bindings: dict[str, list[Bound]] = {}
    binding_nodes: dict[str, list[str]] = {}
    for label, layer in walk_layers(fleet.model):
        link = _link_layer(label)
        for what, name in _layer_mentions(layer):
            if link is None:
                by_nodes.setdefault((what, name), []).append(layer.name)
            else:
                by_definitions.setdefault((what, name), []).append(link)
        for name, binding in layer.params.items():
            found = entry_name(fleet, name)
            if found and link is None:
                binding_nodes.setdefault(found, []).append(layer.name)
            elif found and link:
                bindings.setdefault(found, []).append(Bound(link, name, binding))
    _add_other_mentions(fleet.model, by_definitions)
    return Mentions(by_definitions, by_nodes, bindings, binding_nodes)


def entry_name(fleet: Fleet, name: str) -> str:
    """Return the name of a parameter's entry: its declaration, its family, or itself; "" if unknown."""
    declared = fleet.declarations.find(name)
    if declared is not None:
        return declared.name
    return "" if "${" in name else name


def _link_layer(label: str) -> Link | None:
    """Return a link to the definition of a layer, None for a node, which has no entry."""
    if label.startswith(_NODESET):
        return Link("nodeset", label.removeprefix(_NODESET))
    kind, _, name = label.partition(" ")
    return Link(kind, name) if kind != "node" else None


def _layer_mentions(layer: LayerDefinition) -> Iterable[tuple[str, str]]:
    """Yield the features and groups that a layer mentions, as (verb, name)."""
    verb = "include" if isinstance(layer, Feature) else "install"
    yield from dict.fromkeys((verb, use.feature) for use in listed_features(layer))
    if isinstance(layer, Feature):
        yield from (("depend", ref.name) for ref in layer.depends)
        yield from (("conflict", ref.name) for ref in layer.conflicts)
        yield from (("after", ref.name) for ref in layer.after)
    elif isinstance(layer, Node):
        yield from (("join", ref.name) for ref in added_items(layer.groups))
        yield from (("without", ref.name) for ref in added_items(layer.without))
    elif isinstance(layer, Override):
        yield from (("without", ref.name) for ref in layer.without)


def _add_other_mentions(model: Model, mentions: dict[tuple[str, str], list[Link]]) -> None:
    """Add the names that parameters, rules and subsystems mention."""
    for name, parameter in sorted(model.parameters.items()):
        for what, refs in (("need", parameter.depends), ("exclude", parameter.conflicts)):
            for ref in refs:
                mentions.setdefault((what, ref.name), []).append(Link("parameter", name))
    for rule in model.rules.values():
        link = Link("rule", rule.name)
        if rule.kind is RuleKind.LIMIT and rule.feature is not None:
            mentions.setdefault(("limit", rule.feature.name), []).append(link)
        for name in rule.domains if rule.over is None else ():
            mentions.setdefault(("confine", name), []).append(link)
    for name, subsystem in sorted(model.subsystems.items()):
        for ref in subsystem.features or ():
            mentions.setdefault(("run", ref.name), []).append(Link("subsystem", name))


# Parts of entries: values, and tables of the bindings, files and lists of a layer.

SECRET: Line = (Text("(secret)"),)


def value_piece(given: Any) -> Code:
    """Return a value on one line: text as it is, anything else as JSON."""
    if isinstance(given, str) and given and given.isprintable():
        return Code(given)
    return Code(msgspec.json.encode(given).decode())


def binding_line(usage: Usage, name: str, binding: Binding) -> Line:
    """Return the effect of a binding on its parameter; the value of a secret is not shown."""
    if binding.op is Op.SECRET:
        return (Text("the secret "), Code(binding.given))
    if usage.fleet.declarations.secret(name):
        return SECRET
    if binding.op is Op.NULL:
        return (Text("its default"),)
    if binding.op is Op.UNSET:
        return (Text("unset"),)
    piece = value_piece(make_setting(usage.fleet, "", name, binding, {}).given)
    return (piece,) if binding.op is Op.SET else (Code(f"${binding.op.value}"), Text(" "), piece)


def layer_parts(usage: Usage, layer: LayerDefinition) -> Iterator[Part]:
    """Yield tables of the parameters and files of a layer, if it has any."""
    yield from parameter_table(usage, layer.params)
    files: list[tuple[Line, ...]] = []
    for _, entry in sorted(layer.files.items()):
        mode: Line = () if entry.removed else (Code(f"{entry.mode} {entry.owner}:{entry.group}"),)
        files.append(((Code(entry.path),), _content_line(entry), mode))
    if files:
        yield Table("Files", ("file", "content", "mode, owner, group"), tuple(files))


def parameter_table(usage: Usage, params: Mapping[str, Binding]) -> Iterator[Part]:
    """Yield a table of bindings, if there are any."""
    rows = [
        (usage.parameter(name), binding_line(usage, name, binding))
        for name, binding in sorted(params.items())
    ]
    if rows:
        yield Table("Parameters", ("parameter", "value"), tuple(rows))


def _content_line(entry: FileEntry) -> Line:
    """Return the source of a file's content. Plain text is not shown, because it may be long."""
    if entry.removed:
        return (Text("removed"),)
    if entry.template is not None:
        return (Text("template "), Code(entry.template.name))
    if entry.source is not None:
        return (Text("file "), Code(entry.source.name))
    if entry.format is not None:
        chosen = ", ".join(entry.params) if not entry.tags else "tags " + ", ".join(entry.tags)
        return (Text("parameters as "), Code(entry.format), Text(": "), Code(chosen))
    return (Text("text"),)


def use_lines(usage: Usage, listed: Iterable[Use]) -> tuple[Line, ...]:
    """Return the lines of a list of features, with the instances of each together."""
    lines = []
    for name, uses in by_feature(listed).items():
        text = instances(uses)
        lines.append((*usage.link("feature", name), *((Text(f" {text}"),) if text else ())))
    return tuple(lines)


def ranking(label: str, lines: tuple[Line, ...]) -> Iterator[Part]:
    """Yield a list in order of priority; a single item has none."""
    if len(lines) > 1:
        yield Ranking(f"{label}, highest priority first", lines)
    elif lines:
        yield Fact(label, lines)


def fact(label: str, lines: Iterable[Line]) -> Iterator[Part]:
    """Yield a fact, if it has items."""
    items = tuple(dict.fromkeys(lines))
    if items:
        yield Fact(label, items)
