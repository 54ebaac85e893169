"""What the files of nodes are rendered with that were compiled one by one, at one commit after the other."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from gitcfg.comparison.files import Side
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.fleet import Fleet
from gitcfg.git.history import History
from gitcfg.git.objects import Objects
from gitcfg.git.tree import Entry, EntryKind
from gitcfg.history.snapshot import Snapshot
from gitcfg.model import Model, Settings
from gitcfg.render.templates import TemplateEngine, template_guard

_MOST = 256


class _Files:
    """The templates and plain files of a snapshot, as a tree."""

    commit: str | None = None

    def __init__(self, history: History, files: Mapping[str, bytes]) -> None:
        self._history = history
        self._files = files
        self._objects = Objects(history.git)

    def entries(self, folder: str) -> Iterator[Entry]:
        found = (self.entry(path) for path in sorted(self._files) if path.startswith(f"{folder}/"))
        return (entry for entry in found if entry is not None)

    def entry(self, path: str) -> Entry | None:
        file = self._files.get(path)
        if file is None:
            return None
        return Entry(path, EntryKind.FILE, file.hex(), self._objects)

    def read(self, entry: Entry) -> bytes:
        return self._history.read(bytes.fromhex(entry.key))


class Sides:
    """Makes sides, one for all commits with the same declarations, templates and plain files.

    Their templates share one child. Close it at the end.
    """

    def __init__(self, history: History) -> None:
        self._history = history
        self._guard = template_guard()
        self._sides: dict[tuple[int, ...], tuple[Side, Any]] = {}
        self._engines: dict[int, tuple[TemplateEngine, Any]] = {}

    def side(self, settings: Settings, declared: Declarations, snapshot: Snapshot) -> Side:
        """The side of a snapshot."""
        made_of = (declared.parameters, snapshot.others["templates"], snapshot.others["files"])
        key = tuple(map(id, made_of))
        if len(self._sides) > _MOST:
            self._sides.clear()
        if key not in self._sides:
            self._sides[key] = (self._side(settings, *made_of), made_of)
        return self._sides[key][0]

    def close(self) -> None:
        """End the child."""
        self._guard.close()

    def _side(
        self,
        settings: Settings,
        declared: Mapping[str, Any],
        templates: Mapping[str, bytes],
        files: Mapping[str, bytes],
    ) -> Side:
        names = frozenset(path.partition("/")[2] for path in templates)
        sources = frozenset(path.partition("/")[2] for path in files)
        model = Model(settings, parameters=declared, templates=names, sources=sources)
        fleet = Fleet(model, _Files(self._history, {**templates, **files}), date.min)
        if len(self._engines) > _MOST:
            self._engines.clear()
        if id(templates) not in self._engines:
            self._engines[id(templates)] = (TemplateEngine(fleet.templates, self._guard), templates)
        return Side(fleet, self._engines[id(templates)][0])
