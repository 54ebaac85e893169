"""Counts what a run does instead of the time it takes: each thing, as often as it is done."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property, wraps
from typing import Any, NamedTuple

import pytest

from gitcfg import cache as kept
from gitcfg.compile import node_class
from gitcfg.compile.node_class import NodeClass, Splicer
from gitcfg.compile.partial import Partial
from gitcfg.compile.surface import Surfaces, Suspects
from gitcfg.git import commit_tree, worktree
from gitcfg.git.objects import Objects
from gitcfg.load import document, schema
from gitcfg.load.cache import Pack
from gitcfg.output import files as places
from gitcfg.parsers.pool import Pool
from gitcfg.render import files
from gitcfg.render.templates import TemplateEngine

Done = tuple[Hashable, int]
"""What was worked on, and how much: once, or so many bytes."""


class Probe(NamedTuple):
    """A function where work happens, and what one call of it has done: of its answer and arguments."""

    work: str
    owner: Any
    name: str
    done: Callable[..., Done | None]


def _class(kind: NodeClass) -> Hashable:
    """A class by what makes it one; its nodes are not known before all classes are."""
    said = kind.definition
    own = said.own.name if said.own is not None else None
    nodeset = said.nodeset.name if said.nodeset is not None else None
    return own, nodeset, tuple(part.label for part in kind.parts)


PROBES = (
    Probe("parsed", document, "parse", lambda _, file, data: (file, 1)),
    Probe("judged by schema", schema, "problems", lambda _, kind, value: (kind, 1)),
    Probe("unpacked", Pack, "get", lambda found, self, entry, _: None if found is None else (entry.path, 1)),
    Probe("blobs", Objects, "content", lambda data, self, id: (id, 1)),
    Probe("folders", commit_tree, "read_tree", lambda data, odb, tree: (tree.hex(), 1)),
    Probe("compiled", NodeClass, "__init__", lambda _, self, *more: (_class(self), 1)),
    Probe("looked at", Surfaces, "of", lambda _, self, kind: (_class(kind), 1)),
    Probe("values composed", node_class, "compute_values", lambda _, kind: (_class(kind), 1)),
    Probe("spliced", Splicer, "pieces", lambda _, self, kind, *more: ((id(self), _class(kind)), 1)),
    Probe("written", files, "_written", lambda _, fleet, chosen, entry, node: ((node.name, entry.path), 1)),
    Probe("rendered", TemplateEngine, "render", lambda _, self, name, context: (name, 1)),
    Probe("analysed", TemplateEngine, "_analyse", lambda _, self, name: (name, 1)),
    Probe("asked", Pool, "put", lambda _, self, asked: (asked.place, 1)),
    Probe("put", places, "write_file", lambda _, place, data, *more: (place, len(data))),
    Probe("kept", kept, "_write", lambda _, folder, name, parts: (name, sum(map(len, parts)))),
)
"""Other work is counted where it is no plain call: bytes read of a work tree's files (`hashed`), layers
composed (`composed`), cells that a check asks about (`suspected`)."""

KINDS = frozenset({"hashed", "composed", "suspected", *(probe.work for probe in PROBES)})


class Work:
    """What was done: `work["parsed"]` counts, by file, how often it was parsed."""

    def __init__(self) -> None:
        self._done: dict[str, Counter[Hashable]] = {kind: Counter() for kind in KINDS}

    def __getitem__(self, kind: str) -> Counter[Hashable]:
        return self._done[kind]

    def add(self, kind: str, done: Done | None) -> None:
        """Something more was done."""
        if done is not None:
            self._done[kind][done[0]] += done[1]

    def total(self, kind: str) -> int:
        """How much of it in all."""
        return self._done[kind].total()

    def most(self, kind: str) -> int:
        """How often what was done most often."""
        return max(self._done[kind].values(), default=0)

    def told(self) -> dict[str, int]:
        """Everything that was done, in figures."""
        return {kind: self.total(kind) for kind in sorted(KINDS) if self.total(kind)}


@contextmanager
def counting() -> Iterator[Work]:
    """Count what this process does meanwhile; what its children do is not seen."""
    work = Work()
    with pytest.MonkeyPatch.context() as patch:
        for probe in PROBES:
            patch.setattr(probe.owner, probe.name, _counted(work, probe))
        patch.setattr(worktree, "_read_blocks", _hashing(work))
        cells: cached_property[Any] = Partial.__dict__["cells"]
        patch.setattr(cells, "func", _composing(work, cells.func))
        patch.setattr(Suspects, "__init__", _suspecting(work))
        yield work


def _counted(work: Work, probe: Probe) -> Callable[..., Any]:
    real = getattr(probe.owner, probe.name)

    @wraps(real)
    def counted(*words: Any) -> Any:
        found = real(*words)
        work.add(probe.work, probe.done(found, *words))
        return found

    return counted


def _hashing(work: Work) -> Callable[[str], Iterator[bytes]]:
    real = worktree._read_blocks

    def blocks(place: str) -> Iterator[bytes]:
        for block in real(place):
            work.add("hashed", (place, len(block)))
            yield block

    return blocks


def _composing(work: Work, real: Callable[[Partial], Any]) -> Callable[[Partial], Any]:
    def cells(part: Partial) -> Any:
        work.add("composed", (part.label, 1))
        return real(part)

    return cells


def _suspecting(work: Work) -> Callable[..., None]:
    real = Suspects.__init__

    def begin(
        self: Suspects, surfaces: Surfaces, test: Callable[..., bool], *more: Any, **options: Any
    ) -> None:
        def asked(name: str, cell: Any) -> bool:
            work.add("suspected", ((id(self), name, id(cell)), 1))
            return test(name, cell)

        real(self, surfaces, asked, *more, **options)

    return begin


def once(done: Counter[Hashable], things: Iterable[Hashable]) -> bool:
    """Was exactly this done, each once?"""
    return done == Counter(set(things))
