"""The definitions of a repository as frozen data: what the loader returns."""

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from datetime import date
from enum import StrEnum
from typing import Any

import msgspec

from gitcfg.model.bindings import Binding, Op
from gitcfg.model.delivery import Hold, Key, Release
from gitcfg.model.findings import Finding, Origin, Ref
from gitcfg.model.rules import Allocation, Rule
from gitcfg.model.secrets import Secret


class Use(msgspec.Struct, frozen=True, gc=False):
    """A feature in a list: plain, or one instance of it (`as`) with attributes (`with`)."""

    feature: str
    origin: Origin
    instance: str | None = None
    attributes: Mapping[str, Binding] = {}


class ListEdit(msgspec.Struct, frozen=True, gc=False):
    """A list of a node: it replaces the list of the node's set (`set`), or is combined with it."""

    op: Op = Op.APPEND
    items: tuple[Any, ...] = ()
    origin: Origin | None = None


class FileEntry(msgspec.Struct, frozen=True, gc=False):
    """A file on a node. `contents` names every content key that was written.

    Without a written mode (`mode_said`), a file with a secret has another default: see
    `render.files.mode_of`.
    """

    path: str
    origin: Origin
    contents: tuple[str, ...]
    removed: bool = False
    format: str | None = None
    params: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    template: Ref | None = None
    text: str | None = None
    source: Ref | None = None
    mode: str = "0644"
    owner: str = "root"
    group: str = "root"
    mode_said: bool = False


class Parameter(msgspec.Struct, frozen=True, gc=False):
    """A parameter, or a family of parameters if `name` is a pattern."""

    name: str
    origin: Origin
    description: str = ""
    type: str | None = None
    schema: dict[str, Any] | None = None
    schema_origin: Origin | None = None
    default: Binding | None = None
    must_change: bool = False
    restart: bool = False
    depends: tuple[Ref, ...] = ()
    conflicts: tuple[Ref, ...] = ()
    separator: str | None = None
    unique: bool = False
    macros: str | None = None
    level: int = 0
    tags: tuple[str, ...] = ()
    secret: bool = False

    @property
    def pattern(self) -> bool:
        """Whether it declares a family of parameters."""
        return "*" in self.name or "?" in self.name


class Command(msgspec.Struct, frozen=True, gc=False):
    """A subsystem's check after a change: a command, its time limit and its number of retries."""

    run: tuple[str, ...]
    timeout: str = "60s"
    retries: int = 0


class Subsystem(msgspec.Struct, frozen=True, gc=False):
    """A process that parameters and files affect."""

    name: str
    origin: Origin
    description: str = ""
    params: tuple[Ref, ...] = ()
    files: tuple[str, ...] = ()
    features: tuple[Ref, ...] | None = None
    covers: tuple[Ref, ...] = ()
    validate: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    check: Command | None = None
    using: str = "new"

    def commands(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield the commands that it runs, with their keys."""
        check = self.check.run if self.check is not None else ()
        said = (self.validate, self.reload, self.restart, self.stop, check)
        keys = ("validate", "reload", "restart", "stop", "check")
        return ((key, words) for key, words in zip(keys, said, strict=True) if words)


class Feature(msgspec.Struct, frozen=True, gc=False):
    """A feature: parameters, files, and its relations to other features."""

    name: str
    origin: Origin
    description: str = ""
    include: tuple[Use, ...] = ()
    depends: tuple[Ref, ...] = ()
    conflicts: tuple[Ref, ...] = ()
    after: tuple[Ref, ...] = ()
    params: Mapping[str, Binding] = {}
    files: Mapping[str, FileEntry] = {}


class Group(msgspec.Struct, frozen=True, gc=False):
    """A group: what its members have in common."""

    name: str
    origin: Origin
    description: str = ""
    features: tuple[Use, ...] = ()
    params: Mapping[str, Binding] = {}
    files: Mapping[str, FileEntry] = {}


class Fact(msgspec.Struct, frozen=True, gc=False):
    """The value of a fact; `text` is the source of a plain scalar that is not text (`8.10`)."""

    value: Any
    text: str | None = None


class Node(msgspec.Struct, frozen=True, gc=False):
    """A node as its own file defines it; in a node set's definition, all of the members."""

    name: str
    origin: Origin
    description: str = ""
    groups: ListEdit = ListEdit()
    features: ListEdit = ListEdit()
    without: ListEdit = ListEdit()
    labels: ListEdit = ListEdit()
    params: Mapping[str, Binding] = {}
    facts: Mapping[str, Fact] = {}
    files: Mapping[str, FileEntry] = {}
    address: str | None = None
    state: str | None = None


class NodeFacts(msgspec.Struct, frozen=True, gc=False):
    """Facts of some members of a node set; `nodes` names these in the notation of node sets."""

    nodes: Ref
    facts: Mapping[str, Fact]


class NodeSet(msgspec.Struct, frozen=True, gc=False):
    """A set of similar nodes: `definition` is what they have in common, `members` their names.

    `facts` has, by member, the facts that single members have in addition to the definition's.
    """

    name: str
    origin: Origin
    members: tuple[str, ...]
    definition: Node
    facts: Mapping[str, Mapping[str, Fact]] = {}

    def shared_facts(self) -> list[tuple[list[str], Mapping[str, Fact]]]:
        """Return the facts of single members, each mapping with all members that share the object."""
        found: dict[int, tuple[list[str], Mapping[str, Fact]]] = {}
        for member, facts in self.facts.items():
            found.setdefault(id(facts), ([], facts))[0].append(member)
        return list(found.values())


class Override(msgspec.Struct, frozen=True, gc=False):
    """An override for some nodes for some time; `members` or `where` (CEL) selects the nodes."""

    name: str
    origin: Origin
    reason: str
    until: date
    members: tuple[str, ...] | None = None
    place: Origin | None = None
    until_at: Origin | None = None
    where: Ref | None = None
    params: Mapping[str, Binding] = {}
    features: tuple[Use, ...] = ()
    without: tuple[Ref, ...] = ()
    files: Mapping[str, FileEntry] = {}


class Undeclared(StrEnum):
    """How a check treats bindings of a parameter that nothing declares."""

    ERROR = "error"
    WARNING = "warning"
    ALLOW = "allow"


class Ignore(msgspec.Struct, frozen=True):
    """An entry that hides known warnings of a code, of one subject or all, until a last day (inclusive)."""

    code: str
    reason: str
    origin: Origin
    subject: str | None = None
    until: date | None = None


class Ignored(msgspec.Struct, frozen=True):
    """A warning, and the entry that hides it."""

    finding: Finding
    by: Ignore


class Settings(msgspec.Struct, frozen=True):
    """The content of gitcfg.yaml.

    `walk_in` are the groups of nodes that the repository does not define; None: such nodes get nothing.
    """

    origin: Origin
    default_group: str = "default"
    undeclared: Undeclared = Undeclared.ERROR
    protected: tuple[str, ...] = ("refs/heads/main",)
    check: str = "tip"
    ratchet: bool = False
    signatures: str = "off"
    walk_in: tuple[Ref, ...] | None = None
    release: Release | None = None
    max_nodes: int = 200_000
    max_places: int = 100_000
    ignore: tuple[Ignore, ...] = ()


class Model(msgspec.Struct, frozen=True):
    """All definitions of a tree, by kind and name, and the findings of its files (1xx).

    `templates` and `sources` are the names under templates/ and files/. `unread` has, by kind, the names in
    files that could not be understood (paths where not even the names are known), so that what they may
    define is not reported missing. The loader may read definitions only when they are requested; `findings`
    and `unread` are complete as soon as they are requested.
    """

    settings: Settings
    parameters: Mapping[str, Parameter] = {}
    subsystems: Mapping[str, Subsystem] = {}
    features: Mapping[str, Feature] = {}
    groups: Mapping[str, Group] = {}
    nodes: Mapping[str, Node] = {}
    nodesets: Mapping[str, NodeSet] = {}
    overrides: Mapping[str, Override] = {}
    holds: Mapping[str, Hold] = {}
    keys: Mapping[str, Key] = {}
    secrets: Mapping[str, Secret] = {}
    rules: Mapping[str, Rule] = {}
    allocations: Mapping[str, Allocation] = {}
    templates: frozenset[str] = frozenset()
    sources: frozenset[str] = frozenset()
    unread: Mapping[str, Set[str]] = {}
    findings: Sequence[Finding] = ()

    def hosts(self) -> Iterator[Node]:
        """Yield what defines nodes: their own files, and the definitions of node sets."""
        yield from self.nodes.values()
        for nodeset in self.nodesets.values():
            yield nodeset.definition

    def facts(self) -> Iterator[tuple[Node, str, Fact]]:
        """Yield every fact with its name, and the node or the definition of the node set that has it."""
        for host in self.hosts():
            yield from ((host, name, fact) for name, fact in host.facts.items())
        for nodeset in self.nodesets.values():
            for _, facts in nodeset.shared_facts():
                yield from ((nodeset.definition, name, fact) for name, fact in facts.items())

    def layers(self) -> Iterator[Feature | Group | Node | Override]:
        """Yield every definition that has bindings and files."""
        yield from self.features.values()
        yield from self.groups.values()
        yield from self.hosts()
        yield from self.overrides.values()

    def bindings(self) -> Iterator[tuple[str, Binding]]:
        """Yield every binding as written, with its parameter's name."""
        for layer in self.layers():
            yield from layer.params.items()
        for rule in self.rules.values():
            yield from rule.params.items()

    def mentioned_features(self) -> Iterator[Ref]:
        """Yield every mention of a feature: where it is installed, removed, or referred to."""
        for feature in self.features.values():
            yield from _named(feature.include)
            yield from (*feature.depends, *feature.conflicts, *feature.after)
        for group in self.groups.values():
            yield from _named(group.features)
        for node in self.hosts():
            yield from _named(node.features.items)
            yield from node.without.items
        for override in self.overrides.values():
            yield from _named(override.features)
            yield from override.without
        for subsystem in self.subsystems.values():
            yield from subsystem.features or ()
        for rule in self.rules.values():
            yield from rule.features()


def _named(uses: Iterable[Use]) -> Iterator[Ref]:
    return (Ref(use.feature, use.origin) for use in uses)
