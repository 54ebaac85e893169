"""nodes/**/*.yaml and nodesets/**/*.yaml: the machines."""

from collections.abc import Callable, Sequence
from typing import Any

import msgspec

from gitcfg.load.document import Document
from gitcfg.load.features import load_kind
from gitcfg.load.names import Register, once
from gitcfg.load.parts import bindings, description, files, uses
from gitcfg.load.reading import Reading
from gitcfg.model import Fact, Finding, ListEdit, Node, NodeSet, Op, Origin, Ref, Settings
from gitcfg.model.names import HOST, NAME, shown
from gitcfg.nodeset import NodeSetError, expand

_EDITS = {"$append": Op.APPEND, "$prepend": Op.PREPEND, "$remove": Op.REMOVE}


def load_nodes(reading: Reading, settings: Settings) -> dict[str, Node]:
    """Every node that has a file of its own, by name."""

    def build(reading: Reading, doc: Document, name: str) -> Node:
        return _node(reading, doc, name, settings)

    return load_kind(reading, Register(reading, "node", HOST), "nodes", build, Node)


def load_nodesets(reading: Reading, settings: Settings) -> dict[str, NodeSet]:
    """Every node set by name, its members expanded within the budget `max_nodes`."""
    left = settings.max_nodes

    def build(reading: Reading, doc: Document, name: str) -> NodeSet:
        nonlocal left
        members = node_names(reading, doc, left)
        left -= len(members)
        return NodeSet(name, Origin(doc.file), members, _node(reading, doc, name, settings))

    def empty(name: str, origin: Origin) -> NodeSet:
        return NodeSet(name, origin, (), Node(name, origin))

    return load_kind(reading, Register(reading, "node set", NAME), "nodesets", build, empty)


def node_names(reading: Reading, doc: Document, most: int) -> tuple[str, ...]:
    """The names that `nodes:` stands for; none where they are no host names."""
    text: str = doc.value["nodes"]
    try:
        names = expand(text, most)
    except NodeSetError as error:
        message = f"{shown(text)!r} is no set of nodes: {error}."
        hint = "Names and ranges: exec[001-100].example.com,login1."
        reading.report("GC103", text, message, doc.at("nodes"), hint=hint)
        return ()
    wrong = next((name for name in names if not HOST.fullmatch(name)), None)
    if wrong is not None:
        reading.report("GC103", wrong, f"{shown(wrong)!r} is no host name.", doc.at("nodes"))
        return ()
    return names


def unique_members(reading: Reading, nodes: dict[str, Node], sets: dict[str, NodeSet]) -> dict[str, NodeSet]:
    """Sets that share no node: a node in two is a finding and stays in the first."""
    owners: dict[str, NodeSet] = {}
    folded = {name.casefold(): nodes[name] for name in nodes}
    result = {}
    for name, nodeset in sets.items():
        kept = []
        for member in nodeset.members:
            owner = owners.setdefault(member.casefold(), nodeset)
            if owner is not nodeset:
                _two_sets(reading, member, owner, nodeset)
                continue
            kept.append(member)
            file = folded.get(member.casefold())
            if file is not None and file.name != member:
                _nearly(reading, member, file, nodeset)
        result[name] = msgspec.structs.replace(nodeset, members=tuple(kept))
    return result


def _two_sets(reading: Reading, member: str, first: NodeSet, second: NodeSet) -> None:
    message = f"The node {member} is in the node sets {first.name} and {second.name}."
    reading.report("GC103", member, message, second.definition.origin, first.definition.origin)


def _nearly(reading: Reading, member: str, file: Node, nodeset: NodeSet) -> None:
    names = (min(member, file.name), max(member, file.name))
    message = f"The nodes {names[0]} and {names[1]} differ only in case."
    reading.findings.append(Finding("GC103", names, message, (nodeset.definition.origin, file.origin)))


def _node(reading: Reading, doc: Document, name: str, settings: Settings) -> Node:
    def names(key: str, banned: str = "") -> ListEdit:
        return _edit(doc, key, lambda *path: once(reading, _refs(doc, *path), banned))

    return Node(
        name,
        Origin(doc.file),
        description(doc),
        groups=names("groups", settings.default_group),
        features=_edit(doc, "features", lambda *path: uses(reading, doc, *path)),
        without=names("without"),
        labels=names("labels"),
        params=bindings(reading, doc, "params"),
        facts={key: Fact(value, doc.mark_at("facts", key).text) for key, value in doc.get("facts").items()},
        files=files(doc, "files"),
        address=doc.value.get("address"),
        state=doc.value.get("state"),
    )


def _edit(doc: Document, key: str, read: Callable[..., Sequence[Any]]) -> ListEdit:
    if key not in doc.value:
        return ListEdit()
    said = doc.value[key]
    if isinstance(said, list):
        return ListEdit(Op.SET, tuple(read(key)), doc.at(key))
    word = next(iter(said))
    return ListEdit(_EDITS[word], tuple(read(key, word)), doc.at(key))


def _refs(doc: Document, *path: str) -> list[Ref]:
    return [Ref(name, doc.at(*path, index)) for index, name in enumerate(doc.get(*path))]
