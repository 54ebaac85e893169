"""nodes/**/*.yaml: what is said of one machine."""

import re
from collections.abc import Mapping
from sys import intern
from typing import Any

import msgspec

from gitcfg.load.document import Document
from gitcfg.load.files import files
from gitcfg.load.kind import Kind
from gitcfg.load.marks import place, source
from gitcfg.load.packed import (
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
from gitcfg.load.parts import NONE, bindings, description, refs, uses
from gitcfg.load.reading import Reading
from gitcfg.load.shelf import taken
from gitcfg.model import Fact, ListEdit, Node, Op, Origin, Settings
from gitcfg.model.names import HOST, shown

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
    """Every node that has a file of its own, by name."""
    return taken(reading, nodes_kind(settings))


def nodes_kind(settings: Settings) -> Kind[Node]:
    """Nodes, to whom the default group must not be given."""

    def build(reading: Reading, doc: Document, name: str) -> Node:
        return node(reading, doc, name, settings.default_group)

    return Kind("nodes", "node", HOST, build, Node, PackedNode, pack_node, unpack_node)


def node(reading: Reading, doc: Document, name: str, default_group: str) -> Node:
    """What a document says of a node, or of each of a set."""
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
    """Where a node is reached; GC102 for what is neither a host name nor an IP address."""
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
    """A node as a pack holds it."""
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
    """A node out of a pack."""
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
