"""Where an output gets the files of nodes: the interface of a source, and a compiled fleet as one."""

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from typing import Protocol

import msgspec

from gitcfg.cache import program_id
from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.node_class import NodeClass
from gitcfg.git.tree import fingerprint
from gitcfg.model import FileEntry, Group, Node, NodeSet, Override, Use
from gitcfg.model.names import LAYERS, SETTINGS, TEXTS
from gitcfg.output.files import hash_content, is_safe_path, parent_folders
from gitcfg.render.files import mode_of, render_content
from gitcfg.render.templates import TemplateEngine, TemplateProblem

_FOR_ALL = (SETTINGS, "parameters", "secrets", *TEXTS)


class Ingredients:
    """The ids of what nodes of a fleet are made from: a node with the same id need not be rendered.

    These count: a node's own files in the repository; those of the groups and features that it, its set and
    its overrides mention, with all that these include; effects of rules, and values that it collects; and
    what counts for every node. Something without effect may count (a group that an override removes), but
    nothing with an effect is left out.
    """

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        shared = fleet.rule_engine is not None or fleet.collecting is not None
        # Computed for all at once, before workers begin.
        self._node_classes = fleet.node_classes if shared else {}
        self._groups: dict[str, str] = {}
        self._sets: dict[str, str] = {}
        self._features: dict[tuple[str, ...], str] = {}

    def fingerprint(self, name: str) -> str:
        """Return the id of all that a node's files are made from."""
        fleet = self._fleet
        nodeset, own = fleet.roster.sets.get(name), fleet.model.nodes.get(name)
        parts = [self._for_all, name, nodeset.name if nodeset else ""]
        if own is not None:
            parts += (self._id(own.origin.file), *self._mentioned(own))
        if nodeset is not None:
            parts += (self._set(nodeset), repr(nodeset.facts.get(name)), *self._mentioned(nodeset.definition))
        for override in self._find_overrides(name):
            parts += (override.name, self._id(override.origin.file), self._uses(override.features))
        if name in self._node_classes:
            parts += self._parts_of_class(self._node_classes[name])
        return _digest(parts)

    def _parts_of_class(self, node_class: NodeClass) -> Iterator[str]:
        """Yield what nodes of a class get by rules, and from other nodes."""
        effects, rules = node_class.effects, self._fleet.model.rules
        yield repr(effects)
        yield from (self._uses(installed.uses) for installed in effects.installs)
        yield from (repr(rules[rule].params) for rule in effects.sets)
        collected = node_class.some(sorted(node_class.collected))
        yield msgspec.json.encode(collected, order="sorted").decode()

    @cached_property
    def _for_all(self) -> str:
        fleet = self._fleet
        # Operations imply types of undeclared parameters, by which all their bindings are read.
        implied = msgspec.json.encode(sorted(fleet.declarations.implied.items())).decode()
        default = self._group(fleet.model.settings.default_group)
        return _digest([program_id(), fingerprint(fleet.tree, _FOR_ALL), implied, default])

    @cached_property
    def _ids(self) -> dict[str, str]:
        return {entry.path: entry.id for folder in LAYERS for entry in self._fleet.tree.entries(folder)}

    def _id(self, path: str) -> str:
        return self._ids.get(path, "")

    def _set(self, nodeset: NodeSet) -> str:
        """Return the id of what a set's file defines for all members, without that of single ones."""
        if nodeset.name not in self._sets:
            self._sets[nodeset.name] = _digest([repr(nodeset.definition)])
        return self._sets[nodeset.name]

    def _mentioned(self, node: Node) -> Iterator[str]:
        yield self._uses(node.features.items)
        for ref in node.groups.items:
            yield self._group(ref.name)

    def _find_overrides(self, name: str) -> Iterator[Override]:
        roster = self._fleet.roster
        yield from roster.listed.get(name, ())
        for override in roster.selecting:
            if name in self._fleet.selections[override.name].names:
                yield override

    def _group(self, name: str) -> str:
        if name not in self._groups:
            group: Group | None = self._fleet.model.groups.get(name)
            parts = [self._id(group.origin.file), self._uses(group.features)] if group else []
            self._groups[name] = _digest([name, *parts])
        return self._groups[name]

    def _uses(self, uses: Iterable[Use]) -> str:
        names = tuple(use.feature for use in uses)
        if not names:
            return ""
        if names not in self._features:
            features = self._fleet.model.features
            found = sorted(self._fleet.layers.expanded(names))
            parts = [part for feature in found for part in (feature, self._id(features[feature].origin.file))]
            self._features[names] = _digest(parts)
        return self._features[names]


def _digest(parts: Iterable[str]) -> str:
    """Return one id of several texts with any content."""
    return hashlib.sha256(repr(list(parts)).encode()).hexdigest()


_MODE = re.compile("0[0-7]{3}")
_HELD = 1 << 24  # bytes of cached files of classes: nodes of a set usually follow each other


class File(msgspec.Struct, frozen=True, gc=False):
    """A file as intended; `digest` is of its content."""

    path: str
    mode: str
    content: bytes
    digest: str


class Unmade(msgspec.Struct, frozen=True, gc=False):
    """A file that a node should have, but that cannot be made: its template fails."""

    path: str


class Source(Protocol):
    """The files of nodes."""

    def fingerprint(self, node: str) -> str:
        """Return an id of what a node's files are made from; "": unknown. Equal ids mean equal files."""
        ...

    def files(self, node: str) -> Iterator[File | Unmade]:
        """Yield a node's files, in order of path."""
        ...


@contextmanager
def open_fleet_source(fleet: Fleet, ingredients: Ingredients) -> Iterator["FleetSource"]:
    """Open a fleet as a source, with templates of its own."""
    with TemplateEngine(fleet.templates) as engine:
        yield FleetSource(fleet, ingredients, engine)


class FleetSource:
    """Renders one node after another. What nodes of a class share is rendered once."""

    def __init__(self, fleet: Fleet, ingredients: Ingredients, engine: TemplateEngine) -> None:
        self._fleet, self._ingredients, self._engine = fleet, ingredients, engine
        self._shared: dict[tuple[int, str], tuple[NodeClass, File | Unmade | None]] = {}
        self._held = 0

    def fingerprint(self, node: str) -> str:
        """Return the id of what the node's files are made from."""
        return self._ingredients.fingerprint(node)

    def files(self, node: str) -> Iterator[File | Unmade]:
        """Yield the node's files. A file that cannot be rendered or has an unsafe path is left out.

        Such files have findings.
        """
        found = self._fleet[node]
        for path, entry in found.entries.items():
            if is_safe_path(path) and found.entries.keys().isdisjoint(parent_folders(path)):
                file = self._render(found, entry) if entry.template else self._render_shared(found, entry)
                if file is not None:
                    yield file

    def _render_shared(self, node: FleetNode, entry: FileEntry) -> File | Unmade | None:
        key = (id(node.node_class), entry.path)
        if key not in self._shared:
            file = self._render(node, entry)
            self._held += len(file.content) if isinstance(file, File) else 0
            if self._held > _HELD:
                self._shared.clear()
                self._held = 0
            self._shared[key] = (node.node_class, file)  # keeps the class, so no other gets its id
        return self._shared[key][1]

    def _render(self, node: FleetNode, entry: FileEntry) -> File | Unmade | None:
        try:
            text = render_content(self._fleet, node, entry, self._engine)
        except TemplateProblem:
            return Unmade(entry.path)  # checks try a template on one node per class; it may fail on another
        mode = mode_of(self._fleet, node, entry, self._engine)
        if text is None or not _MODE.fullmatch(mode):
            return None
        data = text.encode()
        return File(entry.path, mode, data, hash_content(data))
