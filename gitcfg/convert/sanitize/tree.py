"""A whole repository in other words: which files it has, where they stand, and what each holds."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from os.path import splitext

from gitcfg.convert.sanitize.documents import sanitize_document as document
from gitcfg.convert.sanitize.figures import NumberPseudonyms, SameNumbers
from gitcfg.convert.sanitize.found import find_joints, find_parameters, find_widths
from gitcfg.convert.sanitize.keep import Keep
from gitcfg.convert.sanitize.order import RANKED, Order
from gitcfg.convert.sanitize.pseudonyms import Pseudonyms
from gitcfg.git.tree import SUBMODULE, Content, Entry, EntryKind, Symlink, Tree
from gitcfg.model.folders import FOLDERS, SETTINGS

_ROOT = (SETTINGS, "gitcfg.yml", "allowed_signers")
_MARKER = re.compile(rb"^(?:<{7}|={7}|>{7})(?=\s|\Z)", re.MULTILINE)
_BLANKED = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", b"x" * 26 + b"X" * 26 + b"0" * 10
)


class Sanitizer:
    """Turns trees of one repository into trees of another one, always alike with the same key.

    `trees` are those that will be asked for: overrides apply in order of name, and must still do so.
    """

    def __init__(
        self, key: bytes, trees: Sequence[Tree], kept: Set[str] = frozenset(), keep: Set[Keep] = frozenset()
    ) -> None:
        """`kept` are names that stay, with their words wherever these stand; `keep` is what else stays."""
        numbered = find_widths(trees)
        figures = SameNumbers(key, numbered) if Keep.NUMBERS in keep else NumberPseudonyms(key, numbered)
        names = set(kept) | (find_parameters(trees) if Keep.PARAMETERS in keep else set())
        self.names = Pseudonyms(key, names, find_joints(trees), figures)
        self._order = Order(trees)
        self._paths: dict[str, str] = {}

    def files(self, tree: Tree) -> Mapping[str, Content]:
        """Everything of a tree that gitcfg reads, or refuses, by its new path."""
        entries = list(_entries(tree))
        self._paths.update((entry.path, self.path(entry.path)) for entry in entries)
        entries.sort(key=lambda entry: _is_sealed(entry.path))  # for whom they are is said beside them
        return {self._paths[entry.path]: self._content(tree, entry) for entry in entries}

    def path(self, path: str) -> str:
        """The new path of a file."""
        folder, slash, rest = path.partition("/")
        if not slash or folder not in FOLDERS:
            return path if path in (*_ROOT, *FOLDERS) else self.names.replace_name(path)
        inner, _, last = rest.rpartition("/")
        stem, ending = splitext(last) if last.endswith(".yaml") or _is_sealed(path) else (last, "")
        inner = self._order.prefix(
            f"{path[:-4]}.yaml" if _is_sealed(path) else path
        ) + self.names.replace_name(inner)
        new = self.ranked(folder, stem) + ending
        return "/".join(part for part in (folder, inner, new) if part)

    def ranked(self, folder: str, name: str) -> str:
        """The new name of what has this one; overrides, holds and node sets are numbered, in order."""
        return self._order.rank(folder, name) + self.names.replace_name(name)

    def known(self) -> Mapping[str, Mapping[str, str]]:
        """What has been replaced by what until now: words and figures, and the files by their old paths."""
        return {**self.names.known(), "paths": self._paths}

    def subject(self, name: str) -> Set[str]:
        """What a finding's subject may have become: it may be a name, a path, or the format's word."""
        return {
            name,
            self.path(name),
            self.names.replace_name(name),
            *(self.ranked(folder, name) for folder in RANKED),
        }

    def _content(self, tree: Tree, entry: Entry) -> Content:
        if entry.kind is EntryKind.SUBMODULE:
            return SUBMODULE
        if entry.kind is EntryKind.LINK:
            return Symlink(self.names.replace_name(entry.path))
        if _is_sealed(entry.path):
            data = tree.read(entry)
            return _mask_conflict(data) if _MARKER.search(data) else self.names.replace_sealed(data)
        return self._text(entry.path, tree.read(entry))

    def _text(self, path: str, data: bytes) -> bytes:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return data.translate(_BLANKED)
        if "\0" in text:
            return data.translate(_BLANKED)
        return self._way(path)(text).encode()

    def _way(self, path: str) -> Callable[[str], str]:
        folder = path.partition("/")[0]
        if folder == "templates":
            return self.names.replace_jinja
        if folder == "keys" and path.endswith(".txt"):
            return self.names.replace_public_keys
        if folder == "files" or splitext(path)[1].lower() not in (".yaml", ".yml"):
            return self.names.replace_value
        return lambda text: document(text, self.names)


def _mask_conflict(data: bytes) -> bytes:
    """An encrypted file with an unresolved merge in it: of its lines the marks alone."""
    found = (_MARKER.match(line) for line in data.split(b"\n"))
    return b"\n".join(mark[0] + b" x" * (mark[0] != b"=======") if mark else b"" for mark in found)


def _is_sealed(path: str) -> bool:
    """Does the content of a secret stand there?"""
    return path.startswith("secrets/") and path.endswith(".age")


def _entries(tree: Tree) -> Iterator[Entry]:
    for path in _ROOT:
        entry = tree.entry(path)
        if entry is not None:
            yield entry
    for folder in sorted(FOLDERS):
        yield from tree.entries(folder)
