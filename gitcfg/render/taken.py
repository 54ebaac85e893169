"""Which parameters a file entry takes, and how their lists are written: asked once a name."""

from collections.abc import Mapping

from gitcfg.compile.declarations import Declarations
from gitcfg.model import FileEntry
from gitcfg.model.names import selects


class Taken:
    """What one kind of entry takes."""

    def __init__(self, declarations: Declarations, entry: FileEntry) -> None:
        self._declarations = declarations
        self._tags, self._params = frozenset(entry.tags), entry.params
        self._known: dict[str, Mapping[str, str | None] | None] = {}

    def separators(self, name: str) -> Mapping[str, str | None] | None:
        """The separator of a parameter's lists, by its name; None if the entry does not take it."""
        if name not in self._known:
            self._known[name] = self._separators(name)
        return self._known[name]

    def _separators(self, name: str) -> Mapping[str, str | None] | None:
        parameter = self._declarations.find(name)
        if self._tags:
            taken = parameter is not None and not self._tags.isdisjoint(parameter.tags)
        else:
            taken = selects(self._params, name)
        return {name: parameter.separator if parameter else None} if taken else None
