"""Where the files of nodes come from: what an output folder asks, and a compiled fleet that answers."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

import msgspec

from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.compile.node_class import NodeClass
from gitcfg.model import FileEntry
from gitcfg.output.made import Ingredients
from gitcfg.output.places import hash_content, is_safe_path, parent_folders
from gitcfg.render.files import content, mode_of
from gitcfg.render.templates import TemplateEngine, TemplateProblem

_MODE = re.compile("0[0-7]{3}")
_HELD = 1 << 24  # bytes of classes' files: a node set's nodes mostly follow each other


class File(msgspec.Struct, frozen=True, gc=False):
    """A file as it is to be; `digest` is of its content."""

    path: str
    mode: str
    content: bytes
    digest: str


class Unmade(msgspec.Struct, frozen=True, gc=False):
    """A file that a node is to have, but that cannot be made now: its template fails."""

    path: str


class Source(Protocol):
    """What nodes get."""

    def fingerprint(self, node: str) -> str:
        """What a node's files are made from, in one word: while it is the same they are. "": not known."""
        ...

    def files(self, node: str) -> Iterator[File | Unmade]:
        """A node's files, in order of path."""
        ...


@contextmanager
def open_fleet_source(fleet: Fleet, ingredients: Ingredients) -> Iterator["FleetSource"]:
    """A fleet as a source, with templates of its own."""
    with TemplateEngine(fleet.templates) as engine:
        yield FleetSource(fleet, ingredients, engine)


class FleetSource:
    """Renders node after node. What nodes of a class have in common is rendered once."""

    def __init__(self, fleet: Fleet, ingredients: Ingredients, engine: TemplateEngine) -> None:
        self._fleet, self._ingredients, self._engine = fleet, ingredients, engine
        self._shared: dict[tuple[int, str], tuple[NodeClass, File | Unmade | None]] = {}
        self._held = 0

    def fingerprint(self, node: str) -> str:
        """The id of what the node's files are made from."""
        return self._ingredients.fingerprint(node)

    def files(self, node: str) -> Iterator[File | Unmade]:
        """What cannot be rendered, or has no safe place, is left out: it is a finding."""
        found = self._fleet[node]
        for path, entry in found.entries.items():
            if is_safe_path(path) and found.entries.keys().isdisjoint(parent_folders(path)):
                file = self._made(found, entry) if entry.template else self._common(found, entry)
                if file is not None:
                    yield file

    def _common(self, node: FleetNode, entry: FileEntry) -> File | Unmade | None:
        key = (id(node.kind), entry.path)
        if key not in self._shared:
            file = self._made(node, entry)
            self._held += len(file.content) if isinstance(file, File) else 0
            if self._held > _HELD:
                self._shared.clear()
                self._held = 0
            self._shared[key] = (node.kind, file)  # the class is held, so that no other takes its id
        return self._shared[key][1]

    def _made(self, node: FleetNode, entry: FileEntry) -> File | Unmade | None:
        try:
            text = content(self._fleet, node, entry, self._engine)
        except TemplateProblem:
            return Unmade(entry.path)  # checks try a template on one node a class; it may fail on another
        mode = mode_of(self._fleet, node, entry, self._engine)
        if text is None or not _MODE.fullmatch(mode):
            return None
        data = text.encode()
        return File(entry.path, mode, data, hash_content(data))
