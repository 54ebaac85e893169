"""A repository while it is edited: its changed files, and the places of definitions."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.edit.kinds import KINDS, Kind
from gitcfg.edit.yaml.changes import Change
from gitcfg.edit.yaml.text import edit_text, read_spots
from gitcfg.edit.yaml.tree import Meaning
from gitcfg.git.tree import DictTree, Entry, EntryKind, Tree, sort_entries
from gitcfg.load.cache import Keeper
from gitcfg.load.repository import load
from gitcfg.model import REFUSED, GitcfgError, Model
from gitcfg.model.names import SETTINGS, SHEETS, did_you_mean, shown


class OverlayTree:
    """A tree in which some files have other content, or with None are deleted."""

    commit: str | None = None

    def __init__(self, tree: Tree, files: Mapping[str, bytes | None]) -> None:
        self._tree = tree
        self._changed = frozenset(files)
        self._new = DictTree({path: content for path, content in files.items() if content is not None})

    def entries(self, folder: str) -> Iterator[Entry]:
        """Return the entries of a folder, changed files included."""
        found = list(self._tree.entries(folder))
        if any(entry.path == folder and entry.kind is not EntryKind.FILE for entry in found):
            return iter(found)
        unchanged = [entry for entry in found if entry.path not in self._changed]
        return iter(sort_entries([*unchanged, *self._new.entries(folder)]))

    def entry(self, path: str) -> Entry | None:
        """Return the entry at a path."""
        return self._new.entry(path) if path in self._changed else self._tree.entry(path)

    def read(self, entry: Entry) -> bytes:
        """Return the content of an entry."""
        return self._new.read(entry) if entry.source is self._new else self._tree.read(entry)


_MODEL_FILES = ("nodesets/", "keys/", *(f"{folder}/" for folder in SHEETS), SETTINGS)
"""Files whose content defines names; in all others the path does."""


class Draft:
    """Edited texts of files over a tree that does not change."""

    def __init__(self, tree: Tree, keeper: Keeper | None = None) -> None:
        """Begin without edits. `keeper` caches what is read."""
        self._base = tree
        self._keeper = keeper
        self._texts: dict[str, str | bytes | None] = {}
        self._model: Model | None = None

    @property
    def files(self) -> Mapping[str, bytes | None]:
        """The files that were changed; None: the file is deleted."""
        found = {path: _data(text) for path, text in self._texts.items()}
        return {path: text for path, text in found.items() if text != self.original(path)}

    @property
    def tree(self) -> Tree:
        """The repository with the edits."""
        return OverlayTree(self._base, self.files)

    @property
    def model(self) -> Model:
        """The model of the repository with the edits, for finding definitions. Its findings are not used."""
        if self._model is None:
            self._model = load(self.tree, self._keeper)
        return self._model

    def original(self, path: str) -> bytes | None:
        """Return the content of a file before the edits."""
        entry = self._base.entry(path)
        return self._base.read(entry) if entry is not None and entry.kind is EntryKind.FILE else None

    def content(self, path: str) -> bytes:
        """Return the content of a file with the edits; empty if there is no such file."""
        if path in self._texts:
            return _data(self._texts[path]) or b""
        return self.original(path) or b""

    def text(self, path: str) -> str | None:
        """Return the text of a file with the edits; None: there is none.

        Raise GitcfgError if the file is not UTF-8 text.
        """
        entry = None if path in self._texts else self._entry(path)
        data = self._base.read(entry) if entry is not None else self._texts.get(path)
        try:
            return data.decode("utf-8") if isinstance(data, bytes) else data
        except UnicodeDecodeError:
            raise GitcfgError(f"{path} is not UTF-8 text.", "Fix it first, then edit it.") from None

    def _entry(self, path: str) -> Entry | None:
        entry = self._base.entry(path)
        if entry is not None and entry.kind is not EntryKind.FILE:
            raise GitcfgError(f"{path} is a {entry.kind.value}, not a file.", code=REFUSED)
        return entry

    def meaning(self, path: str, *steps: str) -> Meaning | None:
        """Return the value at a path of keys in a file; None: there is none."""
        found = read_spots((self.text(path) or "").removeprefix("\ufeff"), path)
        for step in steps:
            place = None if found is None else found.place(step)
            found = None if found is None or place is None else found.entries[place].value
        return None if found is None else found.meaning

    def change(self, path: str, *changes: Change) -> None:
        """Change a file's text."""
        self.write(path, edit_text(self.text(path) or "", changes, path))

    def move(self, path: str, place: str) -> None:
        """Move a file with any content. Raise GitcfgError (4) if the new path exists."""
        existing = self._texts[place] if place in self._texts else self._entry(place)
        if existing is not None:
            raise GitcfgError(f"{place} already exists.", code=REFUSED)
        content = self.content(path)
        self.write(path, None)
        self.write(place, content)

    def write(self, path: str, text: str | bytes | None) -> None:
        """Set the content of a file; None deletes it."""
        before = self._texts[path] if path in self._texts else self._entry(path)
        known = (before is None) == (text is None)
        self._texts[path] = text
        if not known or path.startswith(_MODEL_FILES):
            self._model = None

    def path(self, kind: Kind, name: str) -> str:
        """Return the file of a definition. Raise GitcfgError if there is no such definition."""
        known = definitions(self.model, kind)
        if name not in known:
            raise GitcfgError(f"There is no {kind.noun} {shown(name)}.", did_you_mean(name, known))
        return str(known[name].origin.file)


def _data(text: str | bytes | None) -> bytes | None:
    return text.encode() if isinstance(text, str) else text


def definitions(model: Model, kind: Kind) -> Mapping[str, Any]:
    """Return all definitions of a kind, by name."""
    known: Mapping[str, Any] = getattr(model, kind.folder)
    return known


# Where definitions are, and where new ones are put.

NODE, NODESET = KINDS["node"], KINDS["nodeset"]


class Place(msgspec.Struct, frozen=True):
    """A file, and the path of keys in it to a definition."""

    file: str
    within: tuple[str, ...] = ()


def find_place(draft: Draft, kind: Kind, name: str) -> Place:
    """Return the place of a definition. Create the file of a node that only its set names.

    Raise GitcfgError if there is no such definition.
    """
    known = definitions(draft.model, kind)
    if name in known:
        return Place(str(known[name].origin.file), _within(kind, name))
    if kind.name == "node" and find_set(draft, name) is not None:
        place = Place(f"{kind.folder}/{name}.yaml")
        draft.write(place.file, "{}\n")
        return place
    members = (member for found in draft.model.nodesets.values() for member in found.members)
    names = (*known, *members) if kind.name == "node" else known
    raise GitcfgError(f"There is no {kind.noun} {shown(name)}.", did_you_mean(name, names))


def find_set(draft: Draft, node: str) -> str | None:
    """Return the node set that a node is in."""
    sets = draft.model.nodesets.items()
    return next((name for name, found in sets if node in found.members), None)


def refuse_existing_name(draft: Draft, kind: Kind, name: str) -> None:
    """Raise GitcfgError if a name is not legal for a kind, or taken."""
    if not kind.names.fullmatch(name):
        label = shown(name) or "An empty text"
        raise GitcfgError(f"{label} is not a valid name for a {kind.noun}.", "See `gitcfg help GC103`.")
    known = definitions(draft.model, kind)
    if name in known:
        raise GitcfgError(
            f"The {kind.noun} {shown(name)} already exists.", f"See {known[name].origin}.", code=REFUSED
        )


def choose_place(draft: Draft, kind: Kind, name: str, where: str) -> Place:
    """Return the place for a new definition; `where` is a file or folder.

    Raise GitcfgError if the name is not legal or taken, or if `where` is needed and missing.
    """
    refuse_existing_name(draft, kind, name)
    place = Place(_sheet(draft, kind, where) if kind.sheet else _file(kind, name, where), _within(kind, name))
    if not kind.sheet and draft.text(place.file) is not None:
        raise GitcfgError(f"{place.file} already exists.", code=REFUSED)
    return place


def files_beside(draft: Draft, kind: Kind, file: str) -> tuple[str, ...]:
    """Return the files that are moved and deleted with the file of a definition: a secret's content."""
    beside = sealed_path(file)
    return (beside,) if kind.name == "secret" and draft.tree.entry(beside) is not None else ()


def sealed_path(file: str) -> str:
    """Return the path of a secret's encrypted content."""
    return f"{file.removesuffix('.yaml')}.age"


def _within(kind: Kind, name: str) -> tuple[str, ...]:
    return (kind.sheet, name) if kind.sheet else ()


def _file(kind: Kind, name: str, where: str) -> str:
    folder = _inside(kind, where)
    if folder.endswith(".yaml"):
        if folder.rpartition("/")[2] != f"{name}.yaml":
            raise GitcfgError(
                f"The file of {shown(name)} must be {shown(name)}.yaml.", "Use the name of its folder."
            )
        return folder
    return f"{folder}/{name}.yaml"


def _sheet(draft: Draft, kind: Kind, where: str) -> str:
    """Return the given file, or the only one of the kind."""
    if where:
        found = _inside(kind, where)
        return found if found.endswith(".yaml") else f"{found}/{kind.sheet}.yaml"
    files = sorted(entry.path for entry in draft.tree.entries(kind.folder) if entry.path.endswith(".yaml"))
    if len(files) > 1:
        raise GitcfgError(
            f"{kind.noun.capitalize()}s are in {len(files)} files.",
            f"Use `--in` to choose one of: {', '.join(files[:9])}.",
        )
    return files[0] if files else f"{kind.folder}/{kind.sheet}.yaml"


def _inside(kind: Kind, where: str) -> str:
    """Return a path below the kind's folder. Raise GitcfgError if it leads out of the folder."""
    steps = [step for step in where.split("/") if step not in ("", ".")]
    elsewhere = steps[:1] != [kind.folder] and steps[:1] in [[other.folder] for other in KINDS.values()]
    if steps[:1] != [kind.folder]:
        steps = [kind.folder, *steps]
    if elsewhere or where.startswith("/") or any(step == ".." or step.startswith(".") for step in steps):
        raise GitcfgError(
            f"{shown(where)} is not below {kind.folder}/.",
            f"Use a path in {kind.folder}/, the folder of these definitions.",
        )
    return "/".join(steps)
