"""Comparison of the files of two fleets, which are rendered only where their sources differ."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.comparison.change import Delta
from gitcfg.compile.fleet import Fleet, FleetNode
from gitcfg.model import FileEntry
from gitcfg.model.names import selects
from gitcfg.render.files import (
    RenderedFile,
    find_separators,
    make_context,
    mode_of,
    render_file,
    select_params,
)
from gitcfg.render.formats import LineFormat, formats
from gitcfg.render.templates import Analysis, TemplateEngine


class Side:
    """A fleet and the engine of its templates."""

    def __init__(self, fleet: Fleet, engine: TemplateEngine) -> None:
        self.fleet = fleet
        self.engine = engine

    def nodes(self, names: Iterable[str] | None) -> dict[str, FleetNode]:
        """Return those of the names that are nodes here; None: every node."""
        fleet = self.fleet
        wanted = fleet.names if names is None else (name for name in names if name in fleet)
        return {name: fleet[name] for name in wanted}

    def traits(self, name: str) -> tuple[str | None, tuple[str, ...]]:
        """Return the traits of a parameter that affect files: the separator of its lists, and its tags."""
        parameter = self.fleet.declarations.find(name)
        return (parameter.separator, parameter.tags) if parameter else (None, ())

    def analysis(self, entry: FileEntry) -> Analysis | None:
        """Return what an entry's template mentions; None if it has no template, or that does not exist."""
        template = entry.template
        known = template is not None and template.name in self.fleet.templates
        return self.engine.analyse(template.name) if template and known else None

    def file(self, node: FleetNode | None, path: str) -> RenderedFile | None:
        """Return a node's file; None if the node or file does not exist, or cannot be rendered."""
        entry = node.entries.get(path) if node else None
        return render_file(self.fleet, node, entry, self.engine) if node and entry else None

    def access(self, node: FleetNode, path: str) -> dict[str, str]:
        """Return the mode, owner and group of a node's file; empty if it has no such file."""
        entry = node.entries.get(path)
        if entry is None:
            return {}
        mode = mode_of(self.fleet, node, entry, self.engine)
        return {"mode": mode, "owner": entry.owner, "group": entry.group}


# Files that are certainly the same because their sources are: they need not be rendered.

Params = Mapping[str, Delta]


class Sameness:
    """Comparison of the sources of files. False means only that the files must be compared."""

    def __init__(self, old: Side, new: Side) -> None:
        self.old = old
        self.new = new
        self._traits: dict[str, bool] = {}
        self._entries: dict[tuple[int, int], bool] = {}
        self._spelled: dict[str, frozenset[str]] = {}

    def of_classes(self, old: FleetNode, new: FleetNode, path: str, params: Params) -> bool:
        """Return whether all nodes of these classes have the same file as before.

        `params` are those that changed.
        """
        before, after = old.entries.get(path), new.entries.get(path)
        if before is None or after is None or not self._entry(before, after):
            return False
        if before.format is not None:
            return self._selection(before, old, new, params)
        if before.template is not None:
            return self._template(before, after, old, new, params)
        if before.source is not None:
            name = before.source.name
            return self.old.fleet.sources.get(name) == self.new.fleet.sources.get(name)
        return True

    def surely_not(self, old: FleetNode, new: FleetNode, path: str, params: Params) -> bool:
        """Return whether the file certainly differs, because a line does: then it need not be rendered."""
        before, after = old.entries.get(path), new.entries.get(path)
        if before is None or after is None or not self._entry(before, after) or not self._declarations:
            return False
        chosen = formats().get(before.format or "")
        if not isinstance(chosen, LineFormat) or len(before.contents) != 1:
            return False
        return any(
            self._line(chosen, before, name, delta.old) != self._line(chosen, before, name, delta.new)
            for name, delta in params.items()
            if chosen.spelling(name) not in self._ambiguous(chosen)
        )

    def _line(self, chosen: LineFormat, entry: FileEntry, name: str, value: Any) -> str:
        """Return the line of a file for a value."""
        values = select_params(self.new.fleet, entry, {} if value is UNSET else {name: value})
        apart = find_separators(self.new.fleet, values)
        return "" if any(chosen.unfit(values, apart)) else chosen.write(values, apart)

    def _ambiguous(self, chosen: LineFormat) -> frozenset[str]:
        """Return spellings that several parameters share.

        A file contains one of these parameters, and which one depends on the others.
        """
        if chosen.name not in self._spelled:
            names = {name for side in (self.old, self.new) for name in side.fleet.bound}
            counts = Counter(map(chosen.spelling, names))
            self._spelled[chosen.name] = frozenset(one for one, count in counts.items() if count > 1)
        return self._spelled[chosen.name]

    def of_nodes(self, old: FleetNode, new: FleetNode, path: str) -> bool:
        """Return whether this node has the same file: everything that a template can read is the same."""
        before, after = old.entries.get(path), new.entries.get(path)
        if before is None or after is None or not self._entry(before, after):
            return False
        return self.old.fleet.templates == self.new.fleet.templates and _context_key(old) == _context_key(new)

    def _entry(self, before: FileEntry, after: FileEntry) -> bool:
        key = (id(before), id(after))
        if key not in self._entries:
            self._entries[key] = _content_key(before) == _content_key(after)
        return self._entries[key]

    def _selection(self, entry: FileEntry, old: FleetNode, new: FleetNode, params: Params) -> bool:
        if entry.tags:
            return not params and all(map(self._declared, new.params))
        suspects = (*params, *self._redeclared(old, new))
        return not any(selects(entry.params, name) for name in suspects)

    def _redeclared(self, old: FleetNode, new: FleetNode) -> Iterable[str]:
        """Return the parameters that files may write differently although their values are the same."""
        if self._declarations:
            return ()
        return (name for name in old.params.keys() & new.params.keys() if not self._declared(name))

    @cached_property
    def _declarations(self) -> bool:
        """Whether both fleets declare all parameters alike, as far as files are concerned."""
        old, new = self.old.fleet.model.parameters, self.new.fleet.model.parameters
        return old is new or (old.keys() == new.keys() and all(map(self._declared, old)))

    def _declared(self, name: str) -> bool:
        if name not in self._traits:
            self._traits[name] = self.old.traits(name) == self.new.traits(name)
        return self._traits[name]

    def _template(
        self, before: FileEntry, after: FileEntry, old: FleetNode, new: FleetNode, params: Params
    ) -> bool:
        analysis = self.old.analysis(before)
        if analysis is None or varies_by_node(analysis) or analysis != self.new.analysis(after):
            return False
        assert before.template is not None
        theirs, ours = self.old.fleet.templates, self.new.fleet.templates
        mentioned = params if analysis.everything else params.keys() & {name for name, _ in analysis.params}
        return (
            all(theirs[name] == ours[name] for name in (before.template.name, *analysis.includes))
            and not mentioned
            and ("features" not in analysis.names or old.features == new.features)
            and ("groups" not in analysis.names or old.groups == new.groups)
        )


def varies_by_node(analysis: Analysis) -> bool:
    """Return whether a template may give a different file on each node."""
    return analysis.problem is not None or analysis.computed or "node" in analysis.names


def _content_key(entry: FileEntry) -> bytes:
    """Return the content of an entry, without its place in a file."""
    said = msgspec.to_builtins(entry)
    said["template"] = entry.template.name if entry.template else None
    said["source"] = entry.source.name if entry.source else None
    del said["origin"]
    return msgspec.json.encode(said)


def _context_key(node: FleetNode) -> bytes:
    return msgspec.json.encode(make_context(node))


# The files of nodes that differ, and their contents on both sides.

Pair = tuple[FleetNode | None, FleetNode | None]
Versions = tuple[RenderedFile | None, RenderedFile | None]


class Files:
    """Files of nodes on two sides. All pairs of one call have the same class on each side."""

    def __init__(self, old: Side, new: Side) -> None:
        self.old = old
        self.new = new
        self._sameness = Sameness(old, new)

    def changed(
        self, pairs: Mapping[str, Pair], params: Mapping[str, Delta]
    ) -> Iterator[tuple[tuple[str, ...], tuple[str, ...]]]:
        """Yield the paths that changed, with the nodes on which exactly these changed."""
        paths: dict[str, list[str]] = {name: [] for name in pairs}
        old, new = next(iter(pairs.values()))
        for path in self._suspects((old, new), params):
            if old is not None and new is not None and self._sameness.surely_not(old, new, path, params):
                for found in paths.values():
                    found.append(path)
                continue
            for names, versions in self.versions(path, pairs):
                for name in names if differ(*versions) else ():
                    paths[name].append(path)
        groups: dict[tuple[str, ...], list[str]] = {}
        for name, found in paths.items():
            groups.setdefault(tuple(found), []).append(name)
        for together, names in groups.items():
            yield together, tuple(names)

    def versions(self, path: str, pairs: Mapping[str, Pair]) -> Iterator[tuple[Sequence[str], Versions]]:
        """Yield a file before and after, with the nodes that have these versions.

        Where each node may have another file, nodes whose file is certainly the same are left out.
        """
        old, new = next(iter(pairs.values()))
        if not self._own(old, new, path):
            yield tuple(pairs), (self.old.file(old, path), self.new.file(new, path))
            return
        for name, (old, new) in pairs.items():
            if old is None or new is None or not self._sameness.of_nodes(old, new, path):
                yield (name,), (self.old.file(old, path), self.new.file(new, path))

    def modes(self, paths: Iterable[str], pair: Pair) -> dict[str, Delta]:
        """Return the differences of mode, owner and group of these files, where both nodes have them."""
        old, new = pair
        if old is None or new is None:
            return {}
        sides = ((path, self.old.access(old, path), self.new.access(new, path)) for path in paths)
        return {path: _difference(was, is_) for path, was, is_ in sides if was and is_ and was != is_}

    def _suspects(self, pair: Pair, params: Mapping[str, Delta]) -> list[str]:
        """Return the paths whose files may differ, in order."""
        old, new = pair
        paths = sorted((old.entries if old else {}).keys() | (new.entries if new else {}).keys())
        if old is None or new is None:
            return paths
        return [path for path in paths if not self._sameness.of_classes(old, new, path, params)]

    def _own(self, old: FleetNode | None, new: FleetNode | None, path: str) -> bool:
        """Return whether the file may differ among nodes of one class."""
        sides = ((self.old, old), (self.new, new))
        entries = [(side, node.entries.get(path)) for side, node in sides if node is not None]
        found = [side.analysis(entry) for side, entry in entries if entry is not None]
        return any(analysis is not None and varies_by_node(analysis) for analysis in found)


def differ(old: RenderedFile | None, new: RenderedFile | None) -> bool:
    """Return whether a node gets another file than before."""
    return (old.digest if old else None) != (new.digest if new else None)


def _difference(old: Mapping[str, str], new: Mapping[str, str]) -> Delta:
    """Return the differences between two mappings with the same keys."""
    keys = [key for key in old if old[key] != new[key]]
    return Delta({key: old[key] for key in keys}, {key: new[key] for key in keys})
