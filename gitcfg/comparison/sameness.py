"""Files that are the same for certain: what they are made of is, so nothing need be rendered."""

from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.comparison.change import Delta
from gitcfg.comparison.side import Side
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.model import FileEntry
from gitcfg.model.names import selects
from gitcfg.render.files import context, selected, separators
from gitcfg.render.formats import LineFormat, formats
from gitcfg.render.templates import Analysis

Params = Mapping[str, Delta]


class Sameness:
    """Compares what files are made of. A False means only that the files must be looked at."""

    def __init__(self, old: Side, new: Side) -> None:
        self.old = old
        self.new = new
        self._traits: dict[str, bool] = {}
        self._entries: dict[tuple[int, int], bool] = {}
        self._spelled: dict[str, frozenset[str]] = {}

    def of_classes(self, old: FleetNode, new: FleetNode, path: str, params: Params) -> bool:
        """Have all nodes of these classes the same file as before? `params` are those that changed."""
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
        """Is the file another one for certain, because a line of it is? Then it need not be rendered."""
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
        """What a file says of a value."""
        values = selected(self.new.fleet, entry, {} if value is UNSET else {name: value})
        apart = separators(self.new.fleet, values)
        return "" if any(chosen.unfit(values, apart)) else chosen.write(values, apart)

    def _ambiguous(self, chosen: LineFormat) -> frozenset[str]:
        """Spellings that several parameters have: a file holds one of those, and the rest decides which."""
        if chosen.name not in self._spelled:
            names = {name for side in (self.old, self.new) for name in side.fleet.bound}
            counts = Counter(map(chosen.spelling, names))
            self._spelled[chosen.name] = frozenset(one for one, count in counts.items() if count > 1)
        return self._spelled[chosen.name]

    def of_nodes(self, old: FleetNode, new: FleetNode, path: str) -> bool:
        """Has this one node the same file as before, because all that a template may see is the same?"""
        before, after = old.entries.get(path), new.entries.get(path)
        if before is None or after is None or not self._entry(before, after):
            return False
        return self.old.fleet.templates == self.new.fleet.templates and _seen(old) == _seen(new)

    def _entry(self, before: FileEntry, after: FileEntry) -> bool:
        key = (id(before), id(after))
        if key not in self._entries:
            self._entries[key] = _said(before) == _said(after)
        return self._entries[key]

    def _selection(self, entry: FileEntry, old: FleetNode, new: FleetNode, params: Params) -> bool:
        if entry.tags:
            return not params and all(map(self._declared, new.params))
        suspects = (*params, *self._redeclared(old, new))
        return not any(selects(entry.params, name) for name in suspects)

    def _redeclared(self, old: FleetNode, new: FleetNode) -> Iterable[str]:
        """Parameters that files may write otherwise although their values are the same."""
        if self._declarations:
            return ()
        return (name for name in old.params.keys() & new.params.keys() if not self._declared(name))

    @cached_property
    def _declarations(self) -> bool:
        """Are all parameters declared alike, as far as files know?"""
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
        if analysis is None or by_node(analysis) or analysis != self.new.analysis(after):
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


def by_node(analysis: Analysis) -> bool:
    """May a template say something else on each node?"""
    return analysis.problem is not None or analysis.computed or "node" in analysis.names


def _said(entry: FileEntry) -> bytes:
    """What an entry says, wherever it is written."""
    said = msgspec.to_builtins(entry)
    said["template"] = entry.template.name if entry.template else None
    said["source"] = entry.source.name if entry.source else None
    del said["origin"]
    return msgspec.json.encode(said)


def _seen(node: FleetNode) -> bytes:
    return msgspec.json.encode(context(node))
