"""Sanitizing of a whole repository: its files, their paths and contents, with equal findings."""

import os
import re
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import ExitStack, suppress
from enum import StrEnum
from os.path import splitext
from pathlib import Path

from gitcfg.convert.sanitize.documents import Role, Scalar, parse_scalars, sanitize_document
from gitcfg.convert.sanitize.numbers import NumberPseudonyms, SameNumbers, Widths
from gitcfg.convert.sanitize.pseudonyms import Pseudonyms
from gitcfg.git.commit import commit_versions
from gitcfg.git.tree import SUBMODULE, Content, Entry, EntryKind, Symlink, Tree
from gitcfg.load import yaml
from gitcfg.model import REFUSED, Finding, GitcfgError
from gitcfg.model.names import FOLDERS, LAYERS, SETTINGS, SHEETS, SINGLES

RANKED = ("overrides", "nodesets", "holds")
"""Folders in which the order of names decides which definition wins."""
_FIRST_WINS = (*SHEETS, "keys")
"""Folders in which the first of two equal definitions wins."""
_ROOT = (SETTINGS, "gitcfg.yml", "allowed_signers")
_MARKER = re.compile(rb"^(?:<{7}|={7}|>{7})(?=\s|\Z)", re.MULTILINE)
_BLANKED = bytes.maketrans(
    b"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789", b"x" * 26 + b"X" * 26 + b"0" * 10
)
_JOINT = re.compile(r"[*?]([A-Za-z]{2,})")
_RANGES = re.compile(r"([^\W\d_]+)[-_.]?\[([0-9][0-9,/-]{0,10000})\]")
_LONG_RANGE = re.compile(rb"\[[0-9,/-]*[0-9]{5}")
_SHORT = 4
_GLOBS = (Role.STRUCTURE, Role.ENTRY, Role.NAMED)


class Keep(StrEnum):
    """The parts that a sanitized repository can keep unchanged."""

    PARAMETERS = "parameters"
    NUMBERS = "numbers"


class Order:
    """The order of names and paths in some trees of a repository, which a number before each name keeps."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        paths = {folder: set[str]() for folder in (*_FIRST_WINS, *SINGLES)}
        for tree in trees:
            for folder, known in paths.items():
                known.update(entry.path for entry in tree.entries(folder))
        # Names that differ only in case get one number, so that they still differ only in case.
        self._names = {
            folder: _number(_stem(path).casefold() for path in sorted(paths[folder], key=_stem))
            for folder in RANKED
        }
        self._paths = {folder: _number(sorted(paths[folder])) for folder in _FIRST_WINS}
        self._repeated = {path: place for folder in SINGLES for path, place in _find_repeated(paths[folder])}

    def rank(self, folder: str, name: str) -> str:
        """Return the number before a name, if it needs one; an illegal name stays illegal."""
        number = self._names.get(folder, {}).get(name.casefold())
        return "" if number is None or not name[:1].isalnum() else f"{number:04d}"

    def prefix(self, path: str) -> str:
        """Return the number before a file's folder, if its order decides whether it wins."""
        if path in self._repeated:
            return f"{self._repeated[path]:04d}"
        number = self._paths.get(path.partition("/")[0], {}).get(path)
        return "" if number is None else f"{number:04d}"


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".yaml")


def _number(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _find_repeated(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield files with equal names with their numbers, in order of path."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(paths):
        alike[_stem(path)].append(path)
    for same in alike.values():
        if len(same) > 1:
            yield from ((path, number) for number, path in enumerate(same))


class Sanitizer:
    """Sanitizer of trees of a repository, which gives the same result with the same key.

    `trees` are all that will be sanitized: overrides apply in order of name, and must still do so.
    """

    def __init__(
        self, key: bytes, trees: Sequence[Tree], kept: Set[str] = frozenset(), keep: Set[Keep] = frozenset()
    ) -> None:
        """Set what stays: `kept` are names with their words everywhere; `keep` are other parts."""
        numbers = (SameNumbers if Keep.NUMBERS in keep else NumberPseudonyms)(key, _find_widths(trees))
        names = set(kept) | (_find_parameters(trees) if Keep.PARAMETERS in keep else set())
        self.names = Pseudonyms(key, names, _find_joints(trees), numbers)
        self._order = Order(trees)
        self._paths: dict[str, str] = {}

    def files(self, tree: Tree) -> Mapping[str, Content]:
        """Return all files of a tree that gitcfg reads, or rejects, by their new paths."""
        entries = list(_entries(tree))
        self._paths.update((entry.path, self.path(entry.path)) for entry in entries)
        entries.sort(key=lambda entry: _is_sealed(entry.path))  # their recipients come first
        return {self._paths[entry.path]: self._content(tree, entry) for entry in entries}

    def path(self, path: str) -> str:
        """Return the new path of a file."""
        folder, slash, rest = path.partition("/")
        if not slash or folder not in FOLDERS:
            return path if path in (*_ROOT, *FOLDERS) else self.names.replace_name(path)
        inner, _, last = rest.rpartition("/")
        sealed = _is_sealed(path)
        stem, ending = splitext(last) if last.endswith(".yaml") or sealed else (last, "")
        prefix = self._order.prefix(f"{path[:-4]}.yaml" if sealed else path)
        parts = (folder, prefix + self.names.replace_name(inner), self._name(folder, stem) + ending)
        return "/".join(filter(None, parts))

    def _name(self, folder: str, name: str) -> str:
        """Return the new name of a definition; overrides, holds and node sets are numbered in order."""
        return self._order.rank(folder, name) + self.names.replace_name(name)

    def known(self) -> Mapping[str, Mapping[str, str]]:
        """Return all replacements so far: words, figures and ids, and paths."""
        return {**self.names.known(), "paths": self._paths}

    def subject(self, name: str) -> Set[str]:
        """Return the possible new subjects for the subject of a finding: a name, a path, or a keyword."""
        ranked = (self._name(folder, name) for folder in RANKED)
        return {name, self.path(name), self.names.replace_name(name), *ranked}

    def _content(self, tree: Tree, entry: Entry) -> Content:
        if entry.kind is EntryKind.SUBMODULE:
            return SUBMODULE
        if entry.kind is EntryKind.LINK:
            return Symlink(self.names.replace_name(entry.path))
        data = tree.read(entry)
        if not _is_sealed(entry.path):
            return self._replace_text(entry.path, data)
        if not _MARKER.search(data):
            return self.names.replace_sealed(data)
        # Only the conflict markers of an unresolved merge stay.
        found = (_MARKER.match(line) for line in data.split(b"\n"))
        return b"\n".join(mark[0] + b" x" * (mark[0] != b"=======") if mark else b"" for mark in found)

    def _replace_text(self, path: str, data: bytes) -> bytes:
        try:
            text = data.decode()
        except UnicodeDecodeError:
            return data.translate(_BLANKED)
        if "\0" in text:
            return data.translate(_BLANKED)
        folder = path.partition("/")[0]
        if folder == "templates":
            text = self.names.replace_jinja(text)
        elif folder == "keys" and path.endswith(".txt"):
            text = self.names.replace_public_keys(text)
        elif folder == "files" or splitext(path)[1].lower() not in (".yaml", ".yml"):
            text = self.names.replace_value(text)
        else:
            text = sanitize_document(text, self.names)
        return text.encode()


def _is_sealed(path: str) -> bool:
    """Return whether a path is that of an encrypted secret."""
    return path.startswith("secrets/") and path.endswith(".age")


def _entries(tree: Tree) -> Iterator[Entry]:
    for path in _ROOT:
        entry = tree.entry(path)
        if entry is not None:
            yield entry
    for folder in sorted(FOLDERS):
        yield from tree.entries(folder)


def _find_joints(trees: Iterable[Tree]) -> Set[str]:
    """Return the words that follow a star within a word: `*LOG` matches `STARTLOG` too."""
    scalars = (scalar for tree in trees for scalar in _find_scalars(tree, (*SHEETS, *LAYERS), _JOINT))
    globs = {scalar.value for scalar in scalars if scalar.role in _GLOBS}
    return {joint.lower() for glob in globs for joint in _JOINT.findall(glob)}


def _find_widths(trees: Iterable[Tree]) -> Widths:
    """Return the widths of numbers of more than four digits in node sets, by the word before them."""
    found: dict[tuple[str, int], int | None] = {}
    for tree in trees:
        for folder in FOLDERS:
            for entry in tree.entries(folder):
                data = tree.read(entry) if entry.kind is EntryKind.FILE else b""
                if _LONG_RANGE.search(data):
                    for ranges in _RANGES.finditer(data.decode(errors="replace")):
                        _add_widths(found, ranges[1].lower(), ranges[2])
    return found


def _add_widths(found: dict[tuple[str, int], int | None], stem: str, ranges: str) -> None:
    for one in re.findall(r"[0-9]+(?:-[0-9]+)?", ranges):
        first, last = (one.split("-") * 2)[:2]
        highest = None if len(first) != len(last) else int(last)
        for width in range(max(len(first), _SHORT + 1), len(last) + 1):
            known = found.setdefault((stem, width), highest)
            found[stem, width] = None if known is None or highest is None else max(known, highest)


def _find_parameters(trees: Iterable[Tree]) -> Set[str]:
    """Return the names of all declared parameters."""
    scalars = (scalar for tree in trees for scalar in _find_scalars(tree, ("parameters",), re.compile("")))
    return {scalar.value for scalar in scalars if scalar.key and scalar.role is Role.NAMED}


def _find_scalars(tree: Tree, folders: Iterable[str], holding: re.Pattern[str]) -> Iterator[Scalar]:
    """Yield the scalars of files whose text matches; none of files that cannot be parsed."""
    for folder in folders:
        for entry in tree.entries(folder):
            text = tree.read(entry).decode(errors="replace") if entry.kind is EntryKind.FILE else ""
            if holding.search(text):
                with suppress(yaml.YAMLError, UnicodeError):
                    yield from list(parse_scalars(text))


def write_repository(folder: Path, versions: Sequence[Mapping[str, Content]]) -> None:
    """Write a git repository of these versions, the last one checked out; its commits name no person.

    It is written beside the folder and then moved there. Raise GitcfgError (4) if the folder is not empty.
    """
    check_folder(folder)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as undone:
        new = Path(tempfile.mkdtemp(prefix=f"{folder.name}.gitcfg-", dir=folder.parent))
        undone.callback(shutil.rmtree, new, ignore_errors=True)
        commit_versions(new, versions)
        os.rename(new, folder)
        undone.pop_all()


def check_folder(folder: Path) -> None:
    """Raise GitcfgError (4) if a folder exists and is not empty."""
    if os.path.lexists(folder) and (not folder.is_dir() or any(folder.iterdir())):
        raise GitcfgError(f"{folder} already exists.", "Choose a new folder.", code=REFUSED)


# The verification of a sanitized repository: its findings are those of the original.


def compare_findings(
    original: Iterable[Finding], sanitized: Iterable[Finding], sanitizer: Sanitizer
) -> tuple[list[Finding], list[Finding]]:
    """Return the findings of the original without a counterpart, and those of the sanitized one.

    Findings correspond if they have the same code and severity on the same lines, and their nodes and
    subjects correspond.
    """
    left: defaultdict[Hashable, list[Finding]] = defaultdict(list)
    for finding in sanitized:
        left[_key(finding, None)].append(finding)
    missing = []
    for finding in original:
        alike = left[_key(finding, sanitizer)]
        found = next((other for other in alike if _correspond(finding, other, sanitizer)), None)
        if found is None:
            missing.append(finding)
        else:
            alike.remove(found)
    return missing, [finding for alike in left.values() for finding in alike]


def _key(finding: Finding, sanitizer: Sanitizer | None) -> Hashable:
    nodes = sorted(finding.nodes)
    places = {(origin.file, origin.line) for origin in finding.origins}
    if sanitizer is not None:
        nodes = sorted(map(sanitizer.names.replace_name, nodes))
        places = {(sanitizer.path(file), line) for file, line in places}
    return finding.code, finding.severity, tuple(nodes), tuple(sorted(places))


def _correspond(finding: Finding, other: Finding, sanitizer: Sanitizer) -> bool:
    """Return whether the subjects of a finding correspond to those of the other."""
    left = list(other.subjects)
    for subject in finding.subjects:
        new = next((name for name in left if name in sanitizer.subject(subject)), None)
        if new is None:
            return False
        left.remove(new)
    return not left
