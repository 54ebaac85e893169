"""What depends on the order of names and paths: numbers in front keep it."""

import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack
from os.path import splitext
from pathlib import Path

from gitcfg.convert.sanitize.documents import Role, Scalar, parse_scalars
from gitcfg.convert.sanitize.documents import sanitize_document as document
from gitcfg.convert.sanitize.keep import Keep
from gitcfg.convert.sanitize.numbers import NumberPseudonyms, SameNumbers, Widths
from gitcfg.convert.sanitize.pseudonyms import Pseudonyms
from gitcfg.git.commit import commit_versions
from gitcfg.git.tree import SUBMODULE, Content, Entry, EntryKind, Symlink, Tree
from gitcfg.load import yaml
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.folders import FOLDERS, LAYERS, SETTINGS, SHEETS, SINGLES

RANKED = ("overrides", "nodesets", "holds")
"""Of these, the order of names says which one counts."""
_MANY = (*SHEETS, "keys")
"""Of what is said twice in these, the first file's counts."""


class Order:
    """Where names and paths stand among those of some trees of a repository."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        paths = {folder: set[str]() for folder in (*_MANY, *SINGLES)}
        for tree in trees:
            for folder, known in paths.items():
                known.update(entry.path for entry in tree.entries(folder))
        self._names = {
            folder: _number(map(_fold_case, sorted(paths[folder], key=_stem))) for folder in RANKED
        }
        self._paths = {folder: _number(sorted(paths[folder])) for folder in _MANY}
        self._twice = {path: place for folder in SINGLES for path, place in _find_repeated(paths[folder])}

    def rank(self, folder: str, name: str) -> str:
        """The number in front of a name, where there is one; a name that is not legal stays so."""
        number = self._names.get(folder, {}).get(name.casefold())
        return "" if number is None or not name[:1].isalnum() else f"{number:04d}"

    def prefix(self, path: str) -> str:
        """The number in front of a file's folder, where its place among others says whether it counts."""
        if path in self._twice:
            return f"{self._twice[path]:04d}"
        number = self._paths.get(path.partition("/")[0], {}).get(path)
        return "" if number is None else f"{number:04d}"


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".yaml")


def _fold_case(path: str) -> str:
    """Names that differ only in case get one number: they still differ only in case."""
    return _stem(path).casefold()


def _number(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _find_repeated(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Files of one name: each with its number among them, in order of path."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(paths):
        alike[_stem(path)].append(path)
    for same in alike.values():
        if len(same) > 1:
            yield from ((path, number) for number, path in enumerate(same))


# What must be known of a whole repository before its first word is replaced.

_JOINT = re.compile(r"[*?]([A-Za-z]{2,})")
_RANGES = re.compile(r"([^\W\d_]+)[-_.]?\[([0-9][0-9,/-]{0,10000})\]")
_LONG_RANGE = re.compile(rb"\[[0-9,/-]*[0-9]{5}")
_SHORT = 4
_GLOBS = (Role.STRUCTURE, Role.ENTRY, Role.NAMED)


def find_joints(trees: Iterable[Tree]) -> Set[str]:
    """Words that follow a star within a word: `*LOG` means `STARTLOG` too."""
    said = (scalar for tree in trees for scalar in _find_scalars(tree, (*SHEETS, *LAYERS), _JOINT))
    globs = {scalar.value for scalar in said if scalar.role in _GLOBS}
    return {joint.lower() for glob in globs for joint in _JOINT.findall(glob)}


def find_widths(trees: Iterable[Tree]) -> Widths:
    """The widths of the numbers of more than four digits in node sets, by the word before them."""
    found: dict[tuple[str, int], int | None] = {}
    for tree in trees:
        for folder in FOLDERS:
            for entry in tree.entries(folder):
                data = tree.read(entry) if entry.kind is EntryKind.FILE else b""
                if _LONG_RANGE.search(data):
                    for said in _RANGES.finditer(data.decode(errors="replace")):
                        _add_widths(found, said[1].lower(), said[2])
    return found


def _add_widths(found: dict[tuple[str, int], int | None], stem: str, ranges: str) -> None:
    for one in re.findall(r"[0-9]+(?:-[0-9]+)?", ranges):
        first, last = (one.split("-") * 2)[:2]
        highest = None if len(first) != len(last) else int(last)
        for width in range(max(len(first), _SHORT + 1), len(last) + 1):
            known = found.setdefault((stem, width), highest)
            found[stem, width] = None if known is None or highest is None else max(known, highest)


def find_parameters(trees: Iterable[Tree]) -> Set[str]:
    """The names of all parameters that are declared."""
    said = (scalar for tree in trees for scalar in _find_scalars(tree, ("parameters",), re.compile("")))
    return {scalar.value for scalar in said if scalar.key and scalar.role is Role.NAMED}


def _find_scalars(tree: Tree, folders: Iterable[str], holding: re.Pattern[str]) -> Iterator[Scalar]:
    """Those of files whose text holds something; of what cannot be parsed, none."""
    for folder in folders:
        for entry in tree.entries(folder):
            text = tree.read(entry).decode(errors="replace") if entry.kind is EntryKind.FILE else ""
            if holding.search(text):
                yield from _parse_or_skip(text)


def _parse_or_skip(text: str) -> Iterator[Scalar]:
    try:
        yield from list(parse_scalars(text))
    except (yaml.YAMLError, UnicodeError):
        return


# A whole repository in other words: which files it has, where they stand, and what each holds.

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


# A sanitized repository on disk: there whole, or not at all.


def write_repository(folder: Path, versions: Sequence[Mapping[str, Content]]) -> None:
    """Make a git repository of these versions, the last one checked out; its commits name nobody.

    It is made beside the folder and moved there. GitcfgError (4): the folder is there and holds something.
    """
    check_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as undone:
        made = Path(tempfile.mkdtemp(prefix=f"{folder.name}.gitcfg-", dir=folder.parent))
        undone.callback(shutil.rmtree, made, ignore_errors=True)
        commit_versions(made, versions)
        os.rename(made, folder)
        undone.pop_all()


def check_folder(folder: Path) -> None:
    """GitcfgError (4): something is there already."""
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise GitcfgError(f"{folder} is there already.", "Choose a new folder.", code=REFUSED)
