"""Which files of one node differ, found by writing no more of them than what can differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from gitcfg.comparison.change import Delta
from gitcfg.comparison.files import Files, Pair, Side, Versions
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.history.meaning import said
from gitcfg.model import FileEntry
from gitcfg.render.files import RenderedFile, context, rendered_file

_APART = frozenset({"condor", "env", "ini", "json", "toml", "yaml"})
"""Formats that write each parameter by itself, but for those whose names begin alike (`a`, `A`, `a.b`)."""


class Parts(Files):
    """Compares the files of one node by the parts that hold parameters with differing values.

    A version is then only that part of a file: good for saying that it differs, not for showing.
    """

    def __init__(self, old: Side, new: Side, params: Mapping[str, Delta]) -> None:
        super().__init__(old, new)
        self._params = params
        self._heads = frozenset(map(_head, params))
        self._parts: dict[int, _Part] = {}

    def versions(self, path: str, pairs: Mapping[str, Pair]) -> Iterator[tuple[Sequence[str], Versions]]:
        """A file's part before and after; nothing where it is sure to be the same."""
        ((old, new),) = pairs.values()
        before, after = (node.entries.get(path) if node else None for node in (old, new))
        if not (old and new and before and after):
            yield from super().versions(path, pairs)
        elif self.old is self.new and _alike(before, after):
            yield tuple(pairs), (self._part(old, before), self._part(new, after))
        elif said(before) != said(after) or not self._same_template(old, new, before):
            yield tuple(pairs), (self.old.file(old, path), self.new.file(new, path))

    def _part(self, node: FleetNode, entry: FileEntry) -> RenderedFile | None:
        if id(node) not in self._parts:
            params = {name: value for name, value in node.params.items() if _head(name) in self._heads}
            self._parts[id(node)] = _Part(node, params)
        return rendered_file(self.old.fleet, self._parts[id(node)], entry, self.old.engine)

    def _same_template(self, old: FleetNode, new: FleetNode, entry: FileEntry) -> bool:
        """Is an entry's template the same, and all that it mentions?"""
        analysis = self.old.analysis(entry)
        if analysis is None or analysis.problem is not None or analysis.computed:
            return False
        assert entry.template is not None
        texts = (each.fleet.templates for each in (self.old, self.new))
        ours, theirs = (
            {name: text.get(name) for name in (entry.template.name, *analysis.includes)} for text in texts
        )
        mentioned = {name for name, _ in analysis.params}
        if ours != theirs or (self._params if analysis.everything else mentioned & self._params.keys()):
            return False
        before, after = context(old), context(new)
        return all(_json(before[name]) == _json(after[name]) for name in analysis.names)


class _Part(FleetNode):
    """A node of which only some parameters are looked at."""

    def __init__(self, node: FleetNode, params: Mapping[str, Any]) -> None:
        super().__init__(node.name, node.kind, node.said)
        self._params = params

    @property
    def params(self) -> Mapping[str, Any]:
        return self._params


def _alike(before: FileEntry, after: FileEntry) -> bool:
    """Do two entries take the same parameters into the same format?"""
    same = (before.format, before.contents, before.params, before.tags)
    return before.format in _APART and same == (after.format, after.contents, after.params, after.tags)


def _head(name: str) -> str:
    return name.partition(".")[0].lower()


def _json(value: Any) -> bytes:
    return msgspec.json.encode(value)
