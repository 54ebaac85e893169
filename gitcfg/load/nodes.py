"""nodes/**/*.yaml and nodesets/**/*.yaml: single machines, and sets of machines that are alike."""

import re
from collections.abc import Iterator, Mapping
from functools import cached_property
from sys import intern
from typing import Any

import msgspec

from gitcfg.git.tree import DictTree
from gitcfg.load.cache import (
    BindingRow,
    FileRow,
    RefRow,
    UseRow,
    pack_bindings,
    pack_files,
    pack_refs,
    pack_uses,
    unpack_bindings,
    unpack_files,
    unpack_refs,
    unpack_uses,
)
from gitcfg.load.collections import Kind, Shelf, taken
from gitcfg.load.context import Reading
from gitcfg.load.document import Document, place, source
from gitcfg.load.features import files
from gitcfg.load.parts import NONE, bindings, description, refs, uses
from gitcfg.model import Fact, Finding, ListEdit, Node, NodeSet, Op, Origin, Ref, Settings
from gitcfg.model.names import HOST, NAME, shown
from gitcfg.nodeset import NodeSetError, TooManyNames, expand

_EDITS = {"$append": Op.APPEND, "$prepend": Op.PREPEND, "$remove": Op.REMOVE}
_UNSAID = ListEdit()
_Edit = tuple[Op, int, int, list[RefRow]]
_FeatureEdit = tuple[Op, int, int, list[UseRow]]


class PackedNode(msgspec.Struct, frozen=True, array_like=True):
    """A node; a list that is not said is None."""

    description: str
    groups: _Edit | None
    features: _FeatureEdit | None
    without: _Edit | None
    labels: _Edit | None
    params: list[BindingRow]
    facts: list[tuple[str, Any, str | None]]
    files: list[FileRow]
    address: str | None
    state: str | None


def load_nodes(reading: Reading, settings: Settings) -> dict[str, Node]:
    """Return every node that has a file of its own, by name."""
    return taken(reading, nodes_kind(settings))


def nodes_kind(settings: Settings) -> Kind[Node]:
    """Nodes, to whom the default group must not be given."""

    def build(reading: Reading, doc: Document, name: str) -> Node:
        return node(reading, doc, name, settings.default_group)

    return Kind("nodes", "node", HOST, build, Node, PackedNode, pack_node, unpack_node)


def node(reading: Reading, doc: Document, name: str, default_group: str) -> Node:
    """Return what a document says of a node, or of each of a set."""
    get = doc.value.get
    return Node(
        name,
        Origin(doc.file),
        description(doc),
        _edit(reading, doc, "groups", default_group),
        _edit(reading, doc, "features"),
        _edit(reading, doc, "without"),
        _edit(reading, doc, "labels"),
        bindings(reading, doc),
        _facts(doc),
        files(doc),
        _address(reading, doc),
        get("state"),
    )


def _address(reading: Reading, doc: Document) -> str | None:
    """Return where a node is reached; GC102 for what is neither a host name nor an IP address."""
    said: str | None = doc.value.get("address")
    if said is None or (_HOST.fullmatch(said) and not _NUMBER.search(said)):
        return said
    from gitcfg.domain.addresses import parse_address
    from gitcfg.domain.values import DomainProblem

    try:
        parse_address(said)
    except DomainProblem as problem:
        hint = f"{problem.hint[:1].upper()}{problem.hint[1:]}." if _NUMERIC.fullmatch(said) else _ADDRESS
        message = f"address is neither a host name nor an IP address: {shown(said)}."
        reading.report("GC102", doc.file, message, doc.at("address"), hint=hint)
        return None
    return said


_LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,61}[A-Za-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")
"""As DNS and ssh take it, which have names with `_`, too."""
_NUMBER = re.compile(r"(?:^|\.)[0-9]+\Z")
"""How no host name ends: what looks like an IPv4 address is one."""
_NUMERIC = re.compile(r"[0-9A-Fa-f.:]+(?:%.*)?")
_ADDRESS = "User and port stand in ssh's own configuration; an IPv6 address stands without brackets."


def _edit(reading: Reading, doc: Document, key: str, banned: str = "") -> ListEdit:
    if key not in doc.top:
        return _UNSAID
    said, inner, op = doc.value[key], doc.top[key], Op.SET
    origin = place(doc.file, inner)
    if type(said) is dict:
        ((word, said),) = said.items()
        op, inner = _EDITS[word], inner.value[0][1]
    if key == "features":
        return ListEdit(op, uses(reading, doc.file, inner, said), origin)
    return ListEdit(op, refs(reading, doc.file, inner, said, banned), origin)


def _facts(doc: Document) -> Mapping[str, Fact]:
    given = doc.value.get("facts")
    if not given:
        return NONE
    result = {}
    for (_, inner), (key, value) in zip(doc.top["facts"].value, given.items(), strict=True):
        result[intern(key)] = Fact(value, None if type(value) is str else source(inner, value))
    return result


def pack_node(said: Node) -> PackedNode:
    """Return a node as a pack holds it."""
    return PackedNode(
        said.description,
        _pack_edit(said.groups, pack_refs),
        _pack_edit(said.features, pack_uses),
        _pack_edit(said.without, pack_refs),
        _pack_edit(said.labels, pack_refs),
        pack_bindings(said.params),
        [(key, fact.value, fact.text) for key, fact in said.facts.items()],
        pack_files(said.files),
        said.address,
        said.state,
    )


def unpack_node(packed: PackedNode, name: str, origin: Origin) -> Node:
    """Return a node out of a pack."""
    file = origin.file
    facts = {intern(key): Fact(value, text) for key, value, text in packed.facts}
    return Node(
        name,
        origin,
        packed.description,
        _unpack_edit(file, packed.groups, unpack_refs),
        _unpack_edit(file, packed.features, unpack_uses),
        _unpack_edit(file, packed.without, unpack_refs),
        _unpack_edit(file, packed.labels, unpack_refs),
        unpack_bindings(file, packed.params),
        facts or NONE,
        unpack_files(file, packed.files),
        packed.address,
        packed.state,
    )


def _pack_edit(edit: ListEdit, rows: Any) -> Any:
    at = edit.origin
    return None if at is None else (edit.op, at.line, at.column, rows(edit.items))


def _unpack_edit(file: str, packed: Any, items: Any) -> ListEdit:
    if packed is None:
        return _UNSAID
    op, line, column, rows = packed
    return ListEdit(op, items(file, rows), Origin(file, line, column))


# nodesets/**/*.yaml: nodes that are alike, and who they are.


class Alike(msgspec.Struct, frozen=True):
    """A node set's file: what is said of each, and the text that says who they are."""

    definition: Node
    nodes: Ref | None = None


def nodesets_kind(settings: Settings) -> Kind[Alike]:
    """Node sets as they are written. Who is in them depends on how many are in those before."""

    def build(reading: Reading, doc: Document, name: str) -> Alike:
        said = Ref(doc.value["nodes"], place(doc.file, doc.top["nodes"]))
        return Alike(node(reading, doc, name, settings.default_group), said)

    return Kind(
        "nodesets",
        "node set",
        NAME,
        build,
        lambda name, origin: Alike(Node(name, origin)),
        tuple[PackedNode, str, int, int],
        _pack,
        _unpack,
    )


def _pack(said: Alike) -> tuple[PackedNode, str, int, int] | None:
    if said.nodes is None:
        return None
    origin = said.nodes.origin
    return pack_node(said.definition), said.nodes.name, origin.line, origin.column


def _unpack(packed: tuple[PackedNode, str, int, int], name: str, origin: Origin) -> Alike:
    definition, text, line, column = packed
    return Alike(unpack_node(definition, name, origin), Ref(text, Origin(origin.file, line, column)))


def load_nodesets(reading: Reading, settings: Settings) -> dict[str, NodeSet]:
    """Return every node set by name, its members expanded within the budget `max_nodes`."""
    return with_members(reading, taken(reading, nodesets_kind(settings)), settings.max_nodes)


def with_members(reading: Reading, sets: Mapping[str, Alike], most: int) -> dict[str, NodeSet]:
    """Return the sets with who is in them, all together no more than `most`."""
    result = {}
    left = most
    for name, said in sets.items():
        members = () if said.nodes is None else node_names(reading, said.nodes, left, most)
        left -= len(members)
        result[name] = NodeSet(name, said.definition.origin, members, said.definition)
    return result


def node_names(reading: Reading, said: Ref, left: int, most: int | None = None) -> tuple[str, ...]:
    """The names that `nodes:` stands for; none where these are no host names, or more than are `left`."""
    text = said.name
    try:
        names = expand(text, left)
    except TooManyNames:
        message = f"With {shown(text)!r} there are more than {most or left:,} nodes."
        hint = "If so many are meant, raise `max_nodes` in gitcfg.yaml."
        reading.report("GC103", text, message, said.origin, hint=hint)
        return ()
    except NodeSetError as error:
        message = f"{shown(text)!r} is no set of nodes: {error}."
        hint = "Names and ranges: exec[001-100].example.com,login1."
        reading.report("GC103", text, message, said.origin, hint=hint)
        return ()
    wrong = next((name for name in names if not HOST.fullmatch(name)), None)
    if wrong is not None:
        reading.report("GC103", wrong, f"{shown(wrong)!r} is no host name.", said.origin)
        return ()
    return names


def unique_members(
    reading: Reading, files: Mapping[str, Origin], sets: Mapping[str, NodeSet]
) -> dict[str, NodeSet]:
    """Sets that share no node: a node in two is a finding and stays in the first.

    `files` are the nodes that have one, by name.
    """
    owners: dict[str, NodeSet] = {}
    folded = {name.casefold(): name for name in files}
    result = {}
    for name, nodeset in sets.items():
        kept = []
        for member in nodeset.members:
            owner = owners.setdefault(member.casefold(), nodeset)
            if owner is not nodeset:
                _two_sets(reading, member, owner, nodeset)
                continue
            kept.append(member)
            file = folded.get(member.casefold(), member)
            if file != member:
                _nearly(reading, member, file, files[file], nodeset)
        result[name] = msgspec.structs.replace(nodeset, members=tuple(kept))
    return result


def _two_sets(reading: Reading, member: str, first: NodeSet, second: NodeSet) -> None:
    message = f"The node {member} is in the node sets {first.name} and {second.name}."
    reading.report("GC103", member, message, second.definition.origin, first.definition.origin)


def _nearly(reading: Reading, member: str, file: str, origin: Origin, nodeset: NodeSet) -> None:
    names = (min(member, file), max(member, file))
    message = f"The nodes {names[0]} and {names[1]} differ only in case."
    reading.findings.append(Finding("GC103", names, message, (nodeset.definition.origin, origin)))


# Node sets by name, with their members: all are read when the first is asked for.


class NodeSets(Mapping[str, NodeSet]):
    """Who is in a set depends on the sets before it, and on the names of the nodes that have files."""

    def __init__(self, written: Shelf[Alike], nodes: Shelf[Node], most: int) -> None:
        self._written = written
        self._nodes = nodes
        self._most = most

    def __getitem__(self, name: str) -> NodeSet:
        return self._complete[0][name]

    def __contains__(self, name: object) -> bool:
        return name in self._written

    def __iter__(self) -> Iterator[str]:
        return iter(self._written)

    def __len__(self) -> int:
        return len(self._written)

    def findings(self) -> tuple[Finding, ...]:
        """Return what is wrong with the sets, and with who is in them."""
        return (*self._written.findings(), *self._complete[1])

    def so_far(self) -> tuple[Finding, ...]:
        """Return the same as far as it is known."""
        return self.findings() if "_complete" in self.__dict__ else self._written.so_far()

    @cached_property
    def _complete(self) -> tuple[dict[str, NodeSet], tuple[Finding, ...]]:
        reading = Reading(DictTree({}))
        sets = with_members(reading, dict(self._written.items()), self._most)
        places = (
            {name: Origin(entry.path) for name, entry in self._nodes.listing.entries.items()} if sets else {}
        )
        return unique_members(reading, places, sets), tuple(reading.findings)
