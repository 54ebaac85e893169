"""nodesets/**/*.yaml: nodes that are alike, and who they are."""

from collections.abc import Mapping

import msgspec

from gitcfg.load.document import Document
from gitcfg.load.kind import Kind
from gitcfg.load.marks import place
from gitcfg.load.nodes import PackedNode, node, pack_node, unpack_node
from gitcfg.load.reading import Reading
from gitcfg.load.shelf import taken
from gitcfg.model import Finding, Node, NodeSet, Origin, Ref, Settings
from gitcfg.model.names import HOST, NAME, shown
from gitcfg.model.nodeset import NodeSetError, TooManyNames, expand


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
    """Every node set by name, its members expanded within the budget `max_nodes`."""
    return with_members(reading, taken(reading, nodesets_kind(settings)), settings.max_nodes)


def with_members(reading: Reading, sets: Mapping[str, Alike], most: int) -> dict[str, NodeSet]:
    """The sets with who is in them, all together no more than `most`."""
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
