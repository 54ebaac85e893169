"""What git's fsck refuses in trees: entries that git never checks out, and two entries of the same name."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator

import msgspec
import pygit2

from gitcfg.git.commit_tree import Row, read_rows
from gitcfg.git.objects import FOLDER, LINK, Store, decode_name
from gitcfg.git.repository import Repository

# Searched in all names of a tree at once; single names are examined only if it is found.
_SUSPECT = re.compile(
    rb"^\.{0,2}$|^\.git|git~1|gitmod~|/|\\|\xe2\x80|\xe2\x81|\xef\xbb\xbf", re.MULTILINE | re.IGNORECASE
)
_NTFS = re.compile(rb"(?:^|\\)(?:\.git|git~1)[. ]*(?:\Z|[\\:])|(?:^|\\)\.{1,2}(?:\Z|\\)", re.IGNORECASE)
_MODULES = re.compile(rb"(?:\.gitmodules|gitmod~[1-4])[. ]*(?:\Z|:)", re.IGNORECASE)
_IGNORED_BY_HFS = dict.fromkeys(
    (*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF)
)


class UnsoundEntry(msgspec.Struct, frozen=True):
    """An entry of a commit's tree, and whether another one has the same name."""

    commit: str
    path: str
    double: bool = False


def find_unsound_entries(repository: Repository, commits: Iterable[str]) -> Iterator[UnsoundEntry]:
    """Yield what is wrong with the trees of commits; what they share with first parents was examined before.

    Raise GitcfgError if a tree is broken.
    """
    git = repository.git_or_error()
    store = Store(git)
    judged = set[bytes]()
    for id in commits:
        commit = git[id].peel(pygit2.Commit)
        parent = commit.parents[0].tree_id.raw if commit.parents else None
        pending = [(commit.tree_id.raw, parent, "")]
        while pending:
            tree, before, path = pending.pop()
            if tree in judged or tree == before:
                continue
            judged.add(tree)
            found = read_rows(store, tree)
            for name, double in _find_unsound(found):
                yield UnsoundEntry(id, path + decode_name(name), double)
            older = _folders(read_rows(store, before)) if before is not None else {}
            folders = _folders(found).items()
            pending += [(below, older.get(name), f"{path}{decode_name(name)}/") for name, below in folders]


def _folders(found: Iterable[Row]) -> dict[bytes, bytes]:
    return {name: id for mode, name, id in found if int(mode, 8) >> 12 == FOLDER}


def _find_unsound(found: list[Row]) -> Iterator[tuple[bytes, bool]]:
    names = [name for _, name, _ in found]
    if len(set(names)) < len(names):
        yield Counter(names).most_common(1)[0][0], True
    if _SUSPECT.search(b"\n".join(names)):
        for mode, name, _ in found:
            if is_refused(name) or (int(mode, 8) >> 12 == LINK and _MODULES.match(_hfs(name))):
                yield name, False


def is_refused(name: bytes) -> bool:
    """Return whether git refuses to check out an entry of this name on any system."""
    return name in (b"", b".", b"..") or b"/" in name or bool(_NTFS.search(name)) or _hfs(name) == b".git"


def _hfs(name: bytes) -> bytes:
    """Return a name as macOS reads it, which ignores invisible characters."""
    return name.decode("utf-8", "replace").translate(_IGNORED_BY_HFS).lower().encode()
