"""The files that were saved from each host, and the places in them of the machine's paths."""

import os
import stat
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path, PurePosixPath
from posixpath import normpath

import msgspec

from gitcfg.convert.base import Note, Place
from gitcfg.load.schema import OwnSchema
from gitcfg.model import GitcfgError
from gitcfg.model.names import HOST, shown

MAX_FILE = 4 << 20
MAX_ALL = 256 << 20
MAX_ENTRIES = 100_000
MAIN = "condor_config"
LOCAL = "condor_config.local"
LOCAL_FOLDER = "config.d"
ROOT = "/etc/condor"
"""The folder of a main file that was saved without the folders above it."""

EXCLUDED = (
    r"^((\..*)|(.*\.pl)|(.*\.py)|(.*\.sh)|(.*~)|(#.*)|(.*\.rpmsave)|(.*\.rpmnew)"
    r"|(.*\.dpkg-old)|(.*\.dpkg-dist)|(.*\.cfsaved))$"
)
"""HTCondor's own LOCAL_CONFIG_DIR_EXCLUDE_REGEXP."""

_ROOTS = ("etc/condor", "usr/local/etc", ".", "condor")
_SUFFIXES = (".config", ".conf", ".cfg")
_LAYOUT = f"Save {MAIN}, {LOCAL_FOLDER} and {LOCAL} of each host, as they are in {ROOT}."
_LONGEST_PATH, _LONGEST_NAME = 4096, 255


class Source(msgspec.Struct, frozen=True):
    """A file: its name in messages, and its text."""

    name: str
    text: str


class Folder:
    """A folder with files of a host. Places are paths relative to it; nothing outside it is read."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def root(self) -> str:
        """The place of /etc/condor of the machine."""
        for name in (MAIN, LOCAL_FOLDER, LOCAL):
            for place in _ROOTS:
                if self._has(f"{place}/{name}"):
                    return place
        return "."

    @property
    def config_root(self) -> str:
        """The value of $(CONFIG_ROOT) on the machine: the folder of its main file."""
        return f"/{self.root}" if "/" in self.root else ROOT

    @cached_property
    def main(self) -> str | None:
        """The place of the main file, None if there is none."""
        place = normpath(f"{self.root}/{MAIN}")
        return place if self.is_file(place) else None

    @cached_property
    def is_flat(self) -> bool:
        """Whether the folder itself is one of configuration files, as LOCAL_CONFIG_DIR names them."""
        return not any(self._has(f"{self.root}/{name}") for name in (MAIN, LOCAL_FOLDER, LOCAL))

    def find_packaged(self, name: str) -> str | None:
        """Return the place of this name beside the main file, where HTCondor's packages have it."""
        place = normpath(f"{self.root}/{name}")
        return place if self._has(place) else None

    def find(self, path: str) -> str | None:
        """Return the place of a path of the machine, None if it was not saved."""
        return next(filter(self._has, self._places(path)), None) if path.startswith("/") else None

    def _places(self, path: str) -> Iterator[str]:
        path = normpath(path)
        yield path.lstrip("/")
        for above, place in ((self.config_root, self.root), (str(self.path.absolute()), ".")):
            if PurePosixPath(path).is_relative_to(above):
                yield normpath(f"{place}/{PurePosixPath(path).relative_to(above)}")
        if self.is_flat and PurePosixPath(path).name == self.path.absolute().name:
            yield "."

    def guess(self, path: str) -> str | None:
        """Return the place of a file with the same last name as a path of the machine."""
        name = PurePosixPath(path).name
        return self.find_packaged(name) if name and name != ".." else None

    def _has(self, place: str) -> bool:
        parts = PurePosixPath(place).parts
        if len(place) > _LONGEST_PATH or any(len(part.encode()) > _LONGEST_NAME for part in parts):
            return False
        return (self.path / place).exists() and self._is_inside(self.path / place)

    def _is_inside(self, path: Path) -> bool:
        return path.resolve().is_relative_to(self.path.resolve())

    def is_file(self, place: str) -> bool:
        """Return whether there is a file to read at a place."""
        return self._has(place) and not (self.path / place).is_dir()

    def list_files(self, place: str) -> list[str]:
        """Return the places of the files right below one, in the order in which HTCondor reads them."""
        folder = self.path / place
        if not folder.is_dir():
            return []
        found = sorted((path for path in folder.iterdir() if not path.is_dir()), key=lambda path: path.name)
        return [path.relative_to(self.path).as_posix() for path in found]

    def source(self, place: str) -> Source:
        """Read the file at a place. Raise GitcfgError if it is not text, or lies outside the folder."""
        path = self.path / place
        if not self._is_inside(path):
            raise import_error(
                str(path),
                0,
                "It is a link to a place outside of the folder.",
                "Give the path of the file itself.",
            )
        return Source(str(path), _read_text(path))

    def find_unread(self, read: Iterable[str]) -> Iterator[str]:
        """Yield the places of all files that are not in `read`. Raise GitcfgError if there are too many."""
        known = {(self.path / place).resolve() for place in read}
        number = 0
        for above, folders, files in os.walk(self.path):
            folders.sort()
            number += len(folders) + len(files)
            if number > MAX_ENTRIES:
                raise import_error(
                    str(self.path), 0, f"The folder has more than {MAX_ENTRIES} files.", _LAYOUT
                )
            for path in (Path(above, name) for name in sorted(files)):
                if path.resolve() not in known:
                    yield path.relative_to(self.path).as_posix()


Input = Source | Folder
"""An input of a host: a file, or a folder with files as they are on the machine."""


class Exclusion:
    """The file names that LOCAL_CONFIG_DIR_EXCLUDE_REGEXP excludes; GitcfgError if it is invalid."""

    def __init__(self, pattern: str) -> None:
        self._schema = OwnSchema({"pattern": pattern})
        if self._schema.refusal is not None:
            reason = f"Cannot use this LOCAL_CONFIG_DIR_EXCLUDE_REGEXP: {shown(pattern)}"
            raise GitcfgError(reason, self._schema.refusal)

    def covers(self, name: str) -> bool:
        """Return whether HTCondor skips a file of this name."""
        return self._schema.problem(name) is None


def import_error(name: str, line: int, reason: str, *hints: str) -> GitcfgError:
    """Return the error that stops an import, with its place."""
    where = f"{name}:{line}" if line else name
    return GitcfgError(f"{where}: {reason}", *hints)


def no_files_error(hosts: Sequence[str], every: int) -> GitcfgError:
    """Return the error that some of the hosts have no file."""
    names = ", ".join(hosts[:5]) + (f" and {len(hosts) - 5} more" if len(hosts) > 5 else "")
    which = f" ({len(hosts)} of {every} hosts)" if every > 1 else ""
    return GitcfgError(f"Found no configuration file of {names}{which}.", _LAYOUT)


def read_hosts(first: Iterable[Path], hosts: Mapping[str, Iterable[Path]]) -> dict[str, tuple[Input, ...]]:
    """Read the inputs of each host: first those of all hosts. Raise GitcfgError for a bad name or file."""
    result = {}
    every = tuple(map(_read_input, first))
    for host in sorted(hosts):
        if not HOST.fullmatch(host):
            raise GitcfgError(
                f"{shown(host)!r} is not a host name.", "Write --host NODE=FILE, like exec01=/etc/condor."
            )
        result[host] = (*every, *map(_read_input, hosts[host]))
    return result


def _read_input(path: Path) -> Input:
    return Folder(path) if path.is_dir() else Source(str(path), _read_text(path))


def find_hosts(folder: Path, notes: list[Note]) -> dict[str, list[Path]]:
    """Find each host's folder or file in a folder; note entries with the names of copies.

    Raise GitcfgError if it is not a folder, is empty, or has two entries of one host.
    """
    if not folder.is_dir():
        raise GitcfgError(
            f"{folder} is not a folder.", "Use a folder that has a folder or a file for each host."
        )
    found: dict[str, list[Path]] = {}
    copy = Exclusion(EXCLUDED)
    for path in sorted(folder.iterdir(), key=lambda path: path.name):
        if copy.covers(path.name):
            reason = "It is not read: its name is that of a copy or a hidden file, not of a host."
            Place(notes, "file", str(path)).dropped("", reason)
            continue
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            raise import_error(
                str(path),
                0,
                "It is a link to a place outside of the folder.",
                "Give the path of the file itself.",
            )
        plain = path.is_dir() or path.suffix not in _SUFFIXES
        found.setdefault(path.name if plain else path.stem, []).append(path)
    for host, same in found.items():
        if len(same) > 1:
            raise GitcfgError(
                f"{same[0]} and {same[1]} both belong to the host {shown(host)}.",
                f"Set their order: --host {shown(host)}={same[0]} --host {shown(host)}={same[1]}",
            )
    if not found:
        raise GitcfgError(f"{folder} is empty.", "Use a folder that has a folder or a file for each host.")
    return found


def _read_text(file: Path) -> str:
    with open(file, "rb", opener=_open_regular) as opened:
        data = opened.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        line = data.count(b"\n") + 1
        raise import_error(
            str(file), line, f"The file is larger than {MAX_FILE >> 20} MiB: this is not a configuration."
        )
    if b"\0" in data:
        raise import_error(
            str(file), _line_number(data, data.index(b"\0")), "It contains a NUL character: this is not text."
        )
    try:
        return data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise import_error(str(file), _line_number(data, error.start), "It is not UTF-8 text.") from None


def _line_number(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _open_regular(name: str, flags: int) -> int:
    """Open a regular file, because opening a pipe would wait for its writer."""
    descriptor = os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise import_error(name, 0, "It is neither a file nor a folder of files.")
    return descriptor
