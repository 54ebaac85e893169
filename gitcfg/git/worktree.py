"""The files of a folder as a tree: a work tree, or any folder where there is no git.

The index says which files are unchanged and need no reading, unless attributes convert their content.
"""

import hashlib
import os
import re
import stat
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from enum import IntEnum
from functools import cached_property
from pathlib import Path

import pygit2
from pygit2.enums import ConfigLevel, RepositoryOpenFlag

from gitcfg.git.index import AFTER, Index, whole_index
from gitcfg.git.objects import SUBMODULE, Objects, common_folder, entry_kind, escape_name
from gitcfg.git.tree import NO_ID, Entry, EntryKind, blob_id, sort_entries
from gitcfg.model import GitcfgError

_NAME = ".gitattributes"
_LINE_ENDS = "core.autocrlf"
_SETTING = "core.attributesFile"


class Form(IntEnum):
    """What git stores of a file. Each value includes the possibilities of the values before it."""

    SAME = 0
    """The same bytes as on disk."""
    ENDS = 1
    """Other line ends, or without an identifier: the number of bytes then differs, too."""
    ANY = 2
    """The result of a program or an encoding, perhaps with the same number of bytes."""


class Conversions:
    """Attributes and settings that change content; each file of attributes is read once."""

    def __init__(self, git: pygit2.Repository, top: str, shared: Path) -> None:
        self._git = git
        self._top = top
        self._shared = shared
        self._known: dict[str, Form] = {}

    def form(self, folder: str) -> Form:
        """Return what git stores of the files of a folder."""
        if folder not in self._known:
            own = _read_attributes(os.path.join(folder, _NAME))
            inside = len(folder) > len(self._top)
            self._known[folder] = max(
                own, self.form(os.path.dirname(folder)) if inside else self._outside_form()
            )
        return self._known[folder]

    def _outside_form(self) -> Form:
        """Return the form according to files and settings outside the work tree."""
        config, searched = self._git.config, pygit2.settings.search_path
        files = [f"{place}/attributes" for place in searched[ConfigLevel.XDG].split(os.pathsep)]
        if _SETTING in config:
            home = searched[ConfigLevel.GLOBAL].partition(os.pathsep)[0]
            files = [re.sub("^~(?=/)", lambda _: home, config[_SETTING] or "")]
        files += [f"{place}/gitattributes" for place in searched[ConfigLevel.SYSTEM].split(os.pathsep)]
        files.append(str(self._shared / "info" / "attributes"))
        return max(Form.ENDS if _LINE_ENDS in config else Form.SAME, *map(_read_attributes, files))


def _read_attributes(file: str) -> Form:
    """Return the form according to a file of attributes. An unreadable one may mean any form."""
    try:
        with open(file, "rb") as opened:
            words = opened.read()
    except (FileNotFoundError, NotADirectoryError):
        return Form.SAME
    except OSError:
        return Form.ANY
    if b"filter" in words or b"working-tree-encoding" in words:
        return Form.ANY
    return Form.ENDS if words.strip() else Form.SAME


class NoGit:
    """git's information about paths on disk, which are absolute: nothing, in a folder without git."""

    def ignored(self, place: str) -> bool:
        """Return whether a file is ignored."""
        return False

    def other(self, folder: str) -> bool:
        """Return whether a folder belongs to another repository."""
        return os.path.lexists(f"{folder}/.git")

    def checked_out(self, folder: str) -> str:
        """Return the commit that is checked out in another repository's folder."""
        try:
            return str(pygit2.Repository(folder, RepositoryOpenFlag.NO_SEARCH).head.target)
        except (pygit2.GitError, KeyError, ValueError):
            return NO_ID

    def unchanged(self, place: str) -> str | None:
        """Return the id of a file whose content is exactly the blob in git; None if that is unknown."""
        return None

    def skipped(self, folder: str, path: str) -> Iterable[Entry]:
        """List the entries at or below a folder, `path` in the tree, that are left out of the work tree."""
        return ()

    def content(self, id: str) -> bytes | None:
        """Return the content of a blob of git; None if it cannot be read."""
        return None


class WorkTree(NoGit):
    """git's information about the files of a repository's work tree."""

    def __init__(self, git: pygit2.Repository) -> None:
        self._git = git
        self._objects = Objects(git, self._ids)
        top = str(Path(git.workdir).resolve()).rstrip("/")
        self._before = len(top) + 1
        self._conversions = Conversions(git, top, common_folder(git))

    @cached_property
    def _index(self) -> Index:
        # The work tree's own index, even while a commit is made from another: each has the metadata of its
        # time.
        return whole_index(self._git, Path(self._git.path) / "index")

    @cached_property
    def _left_out(self) -> list[str]:
        """The paths that git leaves out of the work tree, in order."""
        return sorted(path for path, staged in self._index.files.items() if staged.skipped)

    def _ids(self) -> Iterator[str]:
        return (self._index.files[path].id.hex() for path in self._left_out)

    def ignored(self, place: str) -> bool:
        name = self._name(place)
        return name not in self._index.files and self._git.path_is_ignored(escape_name(name))

    def other(self, folder: str) -> bool:
        return self._linked(folder) is not None or super().other(folder)

    def checked_out(self, folder: str) -> str:
        found = super().checked_out(folder)
        return (self._linked(folder) or NO_ID) if found == NO_ID else found

    def unchanged(self, place: str) -> str | None:
        staged = self._index.files.get(self._name(place))
        if staged is None:
            return None
        state = os.lstat(place)
        form = self._conversions.form(place.rpartition("/")[0])
        if form is Form.ANY or not staged.looks_like(state, self._index.written):
            return None
        id = staged.id.hex()
        return None if form is Form.ENDS and self._objects.size(id) != state.st_size else id

    def skipped(self, folder: str, path: str) -> Iterator[Entry]:
        if not self._left_out:
            return
        name = self._name(folder)
        itself = self._index.files.get(name)
        names = self._left_out[slice(*(bisect_left(self._left_out, name + end) for end in ("/", AFTER)))]
        if itself is not None and itself.skipped:
            names.append(name)
        for each in names:
            if not os.path.lexists(folder + each.removeprefix(name)):  # else it exists nevertheless
                staged = self._index.files[each]
                kind = entry_kind(staged.mode) or EntryKind.FILE
                yield Entry(path + escape_name(each.removeprefix(name)), kind, staged.id.hex(), self._objects)

    def content(self, id: str) -> bytes | None:
        return self._objects.content(id)

    def _linked(self, folder: str) -> str | None:
        """Return the commit that is staged for another repository's folder."""
        staged = self._index.files.get(self._name(folder))
        return staged.id.hex() if staged is not None and staged.mode >> 12 == SUBMODULE else None

    def _name(self, place: str) -> str:
        """Return git's path of a path on disk."""
        return place[self._before :]


_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_BLOCK = 1 << 16


class Disk:
    """Files on disk. The first look at a file counts: its id is of that content, and reading gives only that.

    The key of an entry is its path on disk.
    """

    def __init__(self, known: NoGit) -> None:
        self._known = known
        self._ids: dict[str, str] = {}
        self._stored = set[str]()

    def id_of(self, entry: Entry) -> str:
        id = self._ids.get(entry.path)
        if id is None:
            id = self._ids[entry.path] = self._find_id(entry)
        return id

    def size_of(self, entry: Entry) -> int:
        return os.lstat(entry.key).st_size if entry.kind is EntryKind.FILE else 0

    def read(self, entry: Entry) -> bytes:
        """Return the content of a file. Raise GitcfgError if it has changed since the first look."""
        if entry.kind is not EntryKind.FILE:
            return b""
        known = self._ids.get(entry.path)
        data = self._known.content(known) if known in self._stored else None
        if data is None:
            data = b"".join(_read_blocks(entry.key))
            found = blob_id(data)
            if self._ids.setdefault(entry.path, found) != found:
                raise GitcfgError(f"{entry.path} changed while it was read.", "Try again.")
        return data

    def _find_id(self, entry: Entry) -> str:
        # A file that is gone or unreadable has no id, so no content is ever taken for it.
        try:
            if entry.kind is EntryKind.SUBMODULE:
                return self._known.checked_out(entry.key)
            if entry.kind is EntryKind.LINK:
                return blob_id(os.readlink(os.fsencode(entry.key)))
            stored = self._known.unchanged(entry.key)
            if stored is None:
                return _hash_file(entry.key)
            self._stored.add(stored)
            return stored
        except OSError:
            return NO_ID


def _hash_file(place: str) -> str:
    """Return the id of a file's content, which need not fit into memory."""
    size = os.lstat(place).st_size
    digest = hashlib.sha1(b"blob %d\0" % size, usedforsecurity=False)
    for block in _read_blocks(place):
        digest.update(block)
        size -= len(block)
    if size:
        raise GitcfgError(f"{place} changed while it was read.", "Try again.")
    return digest.hexdigest()


def _read_blocks(place: str) -> Iterator[bytes]:
    descriptor = os.open(place, _FLAGS)
    try:
        while block := os.read(descriptor, _BLOCK):
            yield block
    finally:
        os.close(descriptor)


class FolderTree:
    """Files on disk. Symbolic links are never followed; files that git ignores are left out.

    The first look at a file counts: its id is of that content, and reading gives that or nothing.
    """

    commit: str | None = None

    def __init__(self, root: Path, known: NoGit) -> None:
        self.root = root
        self._start = os.path.join(root, "")
        self._known = known
        self._disk = Disk(known)
        self._folders: dict[str, bool] = {}

    def entries(self, folder: str) -> Iterator[Entry]:
        place = self._place(folder)
        if self._inside(folder):
            return iter(sort_entries([*self._walk(place, folder), *self._known.skipped(place, folder)]))
        if not os.path.lexists(place):
            return iter(sort_entries(list(self._known.skipped(place, folder))))
        itself = self.entry(folder)
        return iter(() if itself is None or itself.kind is EntryKind.FILE else (itself,))

    def entry(self, path: str) -> Entry | None:
        place = self._place(path)
        if not self._inside(path.rpartition("/")[0]):
            return self._skipped(place, path)
        try:
            mode = os.lstat(place).st_mode
        except (OSError, ValueError):
            return self._skipped(place, path)
        if stat.S_ISDIR(mode):
            other = self._known.other(place)
            return Entry(path, EntryKind.SUBMODULE, place, self._disk) if other else None
        kind = EntryKind.FILE if stat.S_ISREG(mode) else EntryKind.LINK
        return None if self._known.ignored(place) else Entry(path, kind, place, self._disk)

    def read(self, entry: Entry) -> bytes:
        if isinstance(entry.source, Objects):  # it is left out of the work tree
            return entry.source.read(entry)
        return self._disk.read(entry)

    def _skipped(self, place: str, path: str) -> Entry | None:
        """Return a file that is left out of the work tree."""
        return next((entry for entry in self._known.skipped(place, path) if entry.path == path), None)

    def _walk(self, place: str, path: str) -> Iterator[Entry]:
        with os.scandir(place) as found:
            for each in found:
                inner = f"{path}/{escape_name(each.name)}"
                if not each.is_dir(follow_symlinks=False):
                    kind = EntryKind.FILE if each.is_file(follow_symlinks=False) else EntryKind.LINK
                    if not self._known.ignored(each.path):
                        yield Entry(inner, kind, each.path, self._disk)
                elif self._known.other(each.path):
                    yield Entry(inner, EntryKind.SUBMODULE, each.path, self._disk)
                else:
                    yield from self._walk(each.path, inner)

    def _inside(self, folder: str) -> bool:
        """Return whether it is a folder of this tree, not behind a link or in another repository."""
        if folder not in self._folders:
            self._folders[folder] = self._is_inside(folder)
        return self._folders[folder]

    def _is_inside(self, folder: str) -> bool:
        if not folder:
            return True
        place = self._place(folder)
        if not self._inside(folder.rpartition("/")[0]) or os.path.islink(place) or not os.path.isdir(place):
            return False
        return not self._known.other(place)

    def _place(self, path: str) -> str:
        return self._start + path
