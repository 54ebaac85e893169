"""A repository while it is edited: which files are other than they were, and where definitions stand."""

from collections.abc import Mapping
from typing import Any

from gitcfg.edit.changes import Change
from gitcfg.edit.kinds import Kind
from gitcfg.edit.overlay import OverlayTree
from gitcfg.edit.spots import Meaning
from gitcfg.edit.text import edit_text, read_spots
from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load.cache import Keeper
from gitcfg.load.repository import load
from gitcfg.model import REFUSED, GitcfgError, Model
from gitcfg.model.folders import SETTINGS, SHEETS
from gitcfg.model.names import did_you_mean, shown

_READ = ("nodesets/", "keys/", *(f"{folder}/" for folder in SHEETS), SETTINGS)
"""Files that say who is there and what there is; of all others the path says it."""


class Draft:
    """Texts of files that were edited, over a tree that stays as it is."""

    def __init__(self, tree: Tree, keeper: Keeper | None = None) -> None:
        """`keeper` keeps what was read for the next time."""
        self._base = tree
        self._keeper = keeper
        self._texts: dict[str, str | bytes | None] = {}
        self._model: Model | None = None

    @property
    def files(self) -> Mapping[str, bytes | None]:
        """The files that are other than they were; None: it is gone."""
        found = {path: _data(text) for path, text in self._texts.items()}
        return {path: text for path, text in found.items() if text != self.was(path)}

    @property
    def tree(self) -> Tree:
        """The repository as it would be."""
        return OverlayTree(self._base, self.files)

    @property
    def model(self) -> Model:
        """What it would say; what is asked of it is who is where, not what is wrong."""
        if self._model is None:
            self._model = load(self.tree, self._keeper)
        return self._model

    def was(self, path: str) -> bytes | None:
        """What a file held before."""
        entry = self._base.entry(path)
        return self._base.read(entry) if entry is not None and entry.kind is EntryKind.FILE else None

    def held(self, path: str) -> bytes:
        """What a file holds now; nothing if it is not there."""
        if path in self._texts:
            return _data(self._texts[path]) or b""
        return self.was(path) or b""

    def text(self, path: str) -> str | None:
        """What a file holds now. GitcfgError: it is no text, or no file."""
        entry = None if path in self._texts else self._entry(path)
        held = self._base.read(entry) if entry is not None else self._texts.get(path)
        try:
            return held.decode("utf-8") if isinstance(held, bytes) else held
        except UnicodeDecodeError:
            raise GitcfgError(f"{path} is not UTF-8 text.", "Mend it first, then edit it.") from None

    def _entry(self, path: str) -> Entry | None:
        entry = self._base.entry(path)
        if entry is not None and entry.kind is not EntryKind.FILE:
            raise GitcfgError(f"{path} is a {entry.kind.value}, no file.", code=REFUSED)
        return entry

    def meaning(self, path: str, *steps: str) -> Meaning | None:
        """What a file says at a place in it; None: nothing."""
        found = read_spots((self.text(path) or "").removeprefix("\ufeff"), path)
        for step in steps:
            place = None if found is None else found.place(step)
            found = None if found is None or place is None else found.entries[place].value
        return None if found is None else found.meaning

    def change(self, path: str, *changes: Change) -> None:
        """Change a file's text."""
        self.write(path, edit_text(self.text(path) or "", changes, path))

    def move(self, path: str, place: str) -> None:
        """Let a file stand elsewhere, whatever it holds. GitcfgError (4): something is there."""
        taken = self._texts[place] if place in self._texts else self._entry(place)
        if taken is not None:
            raise GitcfgError(f"{place} is there already.", code=REFUSED)
        held = self.held(path)
        self.write(path, None)
        self.write(place, held)

    def write(self, path: str, text: str | bytes | None) -> None:
        """Let a file hold a text, or be gone."""
        before = self._texts[path] if path in self._texts else self._entry(path)
        known = (before is None) == (text is None)
        self._texts[path] = text
        if not known or path.startswith(_READ):
            self._model = None

    def path(self, kind: Kind, name: str) -> str:
        """The file in which a definition stands. GitcfgError: there is none."""
        known = definitions(self.model, kind)
        if name not in known:
            raise GitcfgError(f"There is no {kind.noun} {shown(name)}.", did_you_mean(name, known))
        return str(known[name].origin.file)


def _data(text: str | bytes | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text


def definitions(model: Model, kind: Kind) -> Mapping[str, Any]:
    """All definitions of a kind, by name."""
    known: Mapping[str, Any] = getattr(model, kind.folder)
    return known
