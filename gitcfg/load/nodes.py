"""nodes/**/*.yaml and nodesets/**/*.yaml: single nodes, and sets of similar nodes."""

import re
from collections.abc import Iterable, Iterator, Mapping, Set
from functools import cached_property
from sys import intern
from typing import Any

import msgspec

from gitcfg.git.tree import DictTree
from gitcfg.load.collections import Kind, LazyDefinitions, load_definitions
from gitcfg.load.document import Document, place, source
from gitcfg.load.loader import Loader
from gitcfg.load.parts import (
    NONE,
    BindingRow,
    FileRow,
    RefRow,
    UseRow,
    pack_bindings,
    pack_files,
    pack_refs,
    pack_uses,
    read_description,
    read_files,
    read_params,
    read_refs,
    read_uses,
    unpack_bindings,
    unpack_files,
    unpack_refs,
    unpack_uses,
)
from gitcfg.model import Fact, Finding, ListEdit, Node, NodeFacts, NodeSet, Op, Origin, Ref, Settings
from gitcfg.model.names import HOST, NAME, shown
from gitcfg.nodeset import LINE, NodeSetError, TooManyNames, abridged, expand

_EDITS = {"$append": Op.APPEND, "$prepend": Op.PREPEND, "$remove": Op.REMOVE}
_UNSAID = ListEdit()
_Edit = tuple[Op, int, int, list[RefRow]]
_FeatureEdit = tuple[Op, int, int, list[UseRow]]
_FactRow = tuple[str, Any, str | None]


class PackedNode(msgspec.Struct, frozen=True, array_like=True):
    """A packed node; a list that is not declared is None."""

    description: str
    groups: _Edit | None
    features: _FeatureEdit | None
    without: _Edit | None
    labels: _Edit | None
    params: list[BindingRow]
    facts: list[_FactRow]
    files: list[FileRow]
    address: str | None
    state: str | None


def nodes_kind(settings: Settings) -> Kind[Node]:
    """Return the kind of nodes, whose lists must not name the default group."""

    def build(loader: Loader, doc: Document, name: str) -> Node:
        return _read_node(loader, doc, name, settings.default_group)

    return Kind("nodes", "node", HOST, build, Node, PackedNode, _pack_node, _unpack_node)


def _read_node(loader: Loader, doc: Document, name: str, default_group: str) -> Node:
    """Return the definition of a node, or of all members of a set."""
    return Node(
        name,
        Origin(doc.file),
        read_description(doc),
        _read_edit(loader, doc, "groups", default_group),
        _read_edit(loader, doc, "features"),
        _read_edit(loader, doc, "without"),
        _read_edit(loader, doc, "labels"),
        read_params(doc),
        _read_facts(doc.top["facts"], doc.value["facts"]) if doc.value.get("facts") else NONE,
        read_files(doc),
        _read_address(loader, doc),
        doc.value.get("state"),
    )


def _read_address(loader: Loader, doc: Document) -> str | None:
    """Return the address of a node. If it is neither a host name nor an IP address, report GC102."""
    address: str | None = doc.value.get("address")
    if address is None or (_HOST.fullmatch(address) and not _NUMBER.search(address)):
        return address
    from gitcfg.domain.addresses import parse_address
    from gitcfg.domain.values import DomainProblem

    try:
        parse_address(address)
    except DomainProblem as problem:
        hint = f"{problem.hint[:1].upper()}{problem.hint[1:]}." if _NUMERIC.fullmatch(address) else _ADDRESS
        message = f"address is neither a host name nor an IP address: {shown(address)}."
        loader.report("GC102", doc.file, message, doc.at("address"), hint=hint)
        return None
    return address


_LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
"""Host names as DNS and ssh accept them, with `_`."""
_NUMBER = re.compile(r"(?:^|\.)[0-9]+\Z")
"""No host name ends like this: otherwise it could look like an IPv4 address."""
_NUMERIC = re.compile(r"[0-9A-Fa-f.:]+(?:%.*)?")
_ADDRESS = "Set user and port in ssh's own configuration, and write an IPv6 address without brackets."


def _read_edit(loader: Loader, doc: Document, key: str, banned: str = "") -> ListEdit:
    if key not in doc.top:
        return _UNSAID
    items, inner, op = doc.value[key], doc.top[key], Op.SET
    origin = place(doc.file, inner)
    if type(items) is dict:
        ((word, items),) = items.items()
        op, inner = _EDITS[word], inner.value[0][1]
    if key == "features":
        return ListEdit(op, read_uses(loader, doc.file, inner, items), origin)
    return ListEdit(op, read_refs(loader, doc.file, inner, items, banned), origin)


def _read_facts(node: Any, given: Mapping[str, Any]) -> Mapping[str, Fact]:
    result = {}
    for (_, inner), (key, value) in zip(node.value, given.items(), strict=True):
        result[intern(key)] = Fact(value, None if type(value) is str else source(inner, value))
    return result


def _pack_node(node: Node) -> PackedNode:
    return PackedNode(
        node.description,
        _pack_edit(node.groups, pack_refs),
        _pack_edit(node.features, pack_uses),
        _pack_edit(node.without, pack_refs),
        _pack_edit(node.labels, pack_refs),
        pack_bindings(node.params),
        _pack_facts(node.facts),
        pack_files(node.files),
        node.address,
        node.state,
    )


def _unpack_node(packed: PackedNode, name: str, origin: Origin) -> Node:
    file = origin.file
    return Node(
        name,
        origin,
        packed.description,
        _unpack_edit(file, packed.groups, unpack_refs),
        _unpack_edit(file, packed.features, unpack_uses),
        _unpack_edit(file, packed.without, unpack_refs),
        _unpack_edit(file, packed.labels, unpack_refs),
        unpack_bindings(file, packed.params),
        _unpack_facts(packed.facts),
        unpack_files(file, packed.files),
        packed.address,
        packed.state,
    )


def _pack_facts(facts: Mapping[str, Fact]) -> list[_FactRow]:
    return [(key, fact.value, fact.text) for key, fact in facts.items()]


def _unpack_facts(rows: list[_FactRow]) -> Mapping[str, Fact]:
    return {intern(key): Fact(value, text) for key, value, text in rows} if rows else NONE


def _pack_edit(edit: ListEdit, rows: Any) -> Any:
    at = edit.origin
    return None if at is None else (edit.op, at.line, at.column, rows(edit.items))


def _unpack_edit(file: str, packed: Any, items: Any) -> ListEdit:
    if packed is None:
        return _UNSAID
    op, line, column, rows = packed
    return ListEdit(op, items(file, rows), Origin(file, line, column))


# nodesets/**/*.yaml: similar nodes, and their names.


MAX_NODE_FACTS = 1_000_000
"""The most facts that `node_facts` of a set may give to its members, all together."""


class WrittenNodeSet(msgspec.Struct, frozen=True):
    """A node set's file: what its members share, the text with their names, and facts of some of them."""

    definition: Node
    nodes: Ref | None = None
    node_facts: tuple[NodeFacts, ...] = ()


class PackedNodeSet(msgspec.Struct, frozen=True, array_like=True):
    """A packed node set. `names` has the text of `nodes`, then the keys of `node_facts`."""

    definition: PackedNode
    names: list[RefRow]
    node_facts: list[list[_FactRow]]


def nodesets_kind(settings: Settings) -> Kind[WrittenNodeSet]:
    """Return the kind of node sets as written.

    Members are not expanded yet, since their limit depends on the sets before.
    """

    def build(loader: Loader, doc: Document, name: str) -> WrittenNodeSet:
        nodes = Ref(doc.value["nodes"], place(doc.file, doc.top["nodes"]))
        definition = _read_node(loader, doc, name, settings.default_group)
        return WrittenNodeSet(definition, nodes, tuple(_read_node_facts(doc)))

    return Kind(
        *("nodesets", "node set", NAME, build, lambda name, origin: WrittenNodeSet(Node(name, origin))),
        *(PackedNodeSet, _pack_nodeset, _unpack_nodeset),
    )


def _read_node_facts(doc: Document) -> Iterator[NodeFacts]:
    given = doc.value.get("node_facts") or {}
    written = doc.top["node_facts"].value if given else ()
    for (key, node), (nodes, facts) in zip(written, given.items(), strict=True):
        yield NodeFacts(Ref(nodes, place(doc.file, key)), _read_facts(node, facts) if facts else NONE)


def _pack_nodeset(written: WrittenNodeSet) -> PackedNodeSet | None:
    if written.nodes is None:
        return None
    names = pack_refs([written.nodes, *(entry.nodes for entry in written.node_facts)])
    facts = [_pack_facts(entry.facts) for entry in written.node_facts]
    return PackedNodeSet(_pack_node(written.definition), names, facts)


def _unpack_nodeset(packed: PackedNodeSet, name: str, origin: Origin) -> WrittenNodeSet:
    nodes, *keys = unpack_refs(origin.file, packed.names)
    facts = map(_unpack_facts, packed.node_facts)
    entries = tuple([NodeFacts(key, some) for key, some in zip(keys, facts, strict=True)])
    return WrittenNodeSet(_unpack_node(packed.definition, name, origin), nodes, entries)


def load_nodesets(loader: Loader, settings: Settings) -> dict[str, NodeSet]:
    """Return every node set by name, with its members, within the limit `max_nodes`."""
    return _expand_sets(loader, load_definitions(loader, nodesets_kind(settings)), settings.max_nodes)


def _expand_sets(loader: Loader, sets: Mapping[str, WrittenNodeSet], most: int) -> dict[str, NodeSet]:
    """Return the sets with their members, at most `most` for all sets together."""
    result = {}
    left = most
    for name, written in sets.items():
        members = () if written.nodes is None else node_names(loader, written.nodes, left, most)
        left -= len(members)
        facts = _expand_facts(loader, name, written.node_facts, members) if members else NONE
        result[name] = NodeSet(name, written.definition.origin, members, written.definition, facts)
    return result


def _expand_facts(
    loader: Loader, nodeset: str, entries: Iterable[NodeFacts], members: tuple[str, ...]
) -> Mapping[str, Mapping[str, Fact]]:
    """Return the facts of single members, by member. Members with the same facts share one object."""
    known, left = frozenset(members), MAX_NODE_FACTS
    given: dict[str, tuple[NodeFacts, ...]] = {}
    for entry in entries:
        names = _named_members(loader, nodeset, entry.nodes, known)
        left -= len(names) * max(1, len(entry.facts))
        if left < 0:
            message = f"With this entry the node set {nodeset} has more than {MAX_NODE_FACTS:,} node facts."
            hint = "Divide the node set, or write facts of all members under `facts`."
            loader.report("GC103", nodeset, message, entry.nodes.origin, hint=hint)
            break
        for name in names:
            given[name] = (*given.get(name, ()), entry)
    alike: dict[tuple[int, ...], list[str]] = {}
    for name, found in given.items():
        alike.setdefault(tuple(map(id, found)), []).append(name)
    result: dict[str, Mapping[str, Fact]] = {}
    for same in alike.values():
        result.update(dict.fromkeys(same, _merge_facts(loader, given[same[0]], same)))
    return result


def _merge_facts(loader: Loader, entries: tuple[NodeFacts, ...], names: list[str]) -> Mapping[str, Fact]:
    """Return the facts of several entries for these nodes. The first of two equal names counts."""
    if len(entries) == 1:
        return entries[0].facts
    facts: dict[str, Fact] = {}
    origins: dict[str, Origin] = {}
    for entry in entries:
        for key, fact in entry.facts.items():
            if key in facts:
                message = f"The fact {shown(key)} of {abridged(names)} is given twice."
                hint = "Keep it in one of the two entries."
                loader.report("GC103", key, message, entry.nodes.origin, origins[key], hint=hint)
            else:
                facts[key], origins[key] = fact, entry.nodes.origin
    return facts


def _named_members(loader: Loader, nodeset: str, nodes: Ref, members: Set[str]) -> tuple[str, ...]:
    """Return the members that a key of `node_facts` names. Report other names (GC103)."""
    text = nodes.name
    hint = f"Correct the name, or add the node to `nodes` of {nodeset}."
    excess = f"{shown(text)!r} names more nodes than the node set {nodeset} has."
    names = _expand_names(loader, nodes, len(members), excess, hint)
    strange = [name for name in names if name not in members]
    if strange:
        verb = "is" if len(strange) == 1 else "are"
        message = f"{shown(abridged(strange), most=LINE)} {verb} not in the node set {nodeset}."
        loader.report("GC103", text, message, nodes.origin, hint=hint)
    return tuple(name for name in names if name in members)


_NOTATION = "Names and ranges: exec[001-100].example.com,login1."


def _expand_names(loader: Loader, nodes: Ref, most: int, excess: str, hint: str) -> tuple[str, ...]:
    """Return the names in node-set notation; none if it is wrong, or has more than `most` (GC103).

    `excess` and `hint` are the message and the hint about too many.
    """
    try:
        return expand(nodes.name, most)
    except TooManyNames:
        message = excess
    except NodeSetError as error:
        message, hint = f"{shown(nodes.name)!r} is not a node set: {error}.", _NOTATION
    loader.report("GC103", nodes.name, message, nodes.origin, hint=hint)
    return ()


def node_names(loader: Loader, nodes: Ref, left: int, most: int | None = None) -> tuple[str, ...]:
    """Return the names in `nodes:`.

    If they are not host names, or more than `left`, report GC103 and return none.
    """
    excess = f"With {shown(nodes.name)!r} there are more than {most or left:,} nodes."
    hint = "If you need more, raise `max_nodes` in gitcfg.yaml."
    names = _expand_names(loader, nodes, left, excess, hint)
    wrong = next((name for name in names if not HOST.fullmatch(name)), None)
    if wrong is not None:
        loader.report("GC103", wrong, f"{shown(wrong)!r} is not a host name.", nodes.origin)
        return ()
    return names


def unique_members(
    loader: Loader, files: Mapping[str, Origin], sets: Mapping[str, NodeSet]
) -> dict[str, NodeSet]:
    """Return the sets without shared members: report a node in two sets, and keep it in the first.

    `files` are the nodes with files of their own, by name.
    """
    owners: dict[str, tuple[str, NodeSet]] = {}
    folded = {name.casefold(): name for name in files}
    result = {}
    for name, nodeset in sets.items():
        members, origin = [], nodeset.definition.origin
        for member in nodeset.members:
            other, owner = owners.setdefault(member.casefold(), (member, nodeset))
            if owner is nodeset and other != member:
                names = (min(member, other), max(member, other))
                message = f"The nodes {names[0]} and {names[1]} differ only in case."
                loader.findings.append(Finding("GC103", names, message, (origin,)))
            if owner is not nodeset:
                message = f"The node {member} is in the node sets {owner.name} and {name}."
                loader.report("GC103", member, message, origin, owner.definition.origin)
                continue
            members.append(member)
            file = folded.get(member.casefold(), member)
            if file != member:
                names = (min(member, file), max(member, file))
                message = f"The nodes {names[0]} and {names[1]} differ only in case."
                loader.findings.append(Finding("GC103", names, message, (origin, files[file])))
        result[name] = msgspec.structs.replace(nodeset, members=tuple(members))
    return result


class NodeSets(Mapping[str, NodeSet]):
    """Node sets by name, with their members: all are read when the first is requested.

    The members of a set depend on the sets before it, and on the names of the nodes with files.
    """

    def __init__(
        self, written: LazyDefinitions[WrittenNodeSet], nodes: LazyDefinitions[Node], most: int
    ) -> None:
        self._written, self._nodes, self._most = written, nodes, most

    def __getitem__(self, name: str) -> NodeSet:
        return self._complete[0][name]

    def __contains__(self, name: object) -> bool:
        return name in self._written

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    def findings(self) -> tuple[Finding, ...]:
        """Return the findings about the sets and their members."""
        return (*self._written.findings(), *self._complete[1])

    def so_far(self) -> tuple[Finding, ...]:
        """Return the findings that are known until now."""
        return self.findings() if "_complete" in self.__dict__ else self._written.so_far()

    @cached_property
    def _complete(self) -> tuple[dict[str, NodeSet], tuple[Finding, ...]]:
        loader = Loader(DictTree({}))
        sets = _expand_sets(loader, dict(self._written.items()), self._most)
        entries = self._nodes.listing.entries if sets else {}
        places = {name: Origin(entry.path) for name, entry in entries.items()}
        return unique_members(loader, places, sets), tuple(loader.findings)
