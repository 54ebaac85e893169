"""The files of each host, in the order in which HTCondor reads them; nothing that is not named is read."""

import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import msgspec

from gitcfg.model import GitcfgError
from gitcfg.model.names import HOST, shown

MAX_FILE = 4 << 20
MAX_ALL = 256 << 20
_EXCLUDED = re.compile(r"\..*|.*~|#.*|.*\.rpmsave|.*\.rpmnew|.*\.dpkg-.*|.*\.bak")
"""HTCondor's own LOCAL_CONFIG_DIR_EXCLUDE_REGEXP, and what other package managers and people leave behind."""


class Source(msgspec.Struct, frozen=True):
    """One file: what messages call it, and what it says."""

    name: str
    text: str


def bad(name: str, line: int, reason: str, *hints: str) -> GitcfgError:
    """The error that stops an import."""
    where = f"{name}:{line}" if line else name
    return GitcfgError(f"{where}: {reason}", *hints)


def read_hosts(first: Iterable[Path], hosts: Mapping[str, Iterable[Path]]) -> dict[str, tuple[Source, ...]]:
    """Each host's files: those of all hosts first. GitcfgError: a name is none, or a file cannot be read."""
    result, size = {}, 0
    every = tuple(source for path in first for source in _read(path))
    for host in sorted(hosts):
        if not HOST.fullmatch(host):
            raise GitcfgError(
                f"{shown(host)!r} is no host name.", "Write --host NODE=FILE, say exec01=/etc/condor."
            )
        result[host] = (*every, *(source for path in hosts[host] for source in _read(path)))
        size += sum(len(source.text) for source in result[host])
        if size > MAX_ALL:
            raise GitcfgError(
                f"The files of all hosts have more than {MAX_ALL >> 20} MiB.", "Import fewer hosts."
            )
    return result


def hosts_below(folder: Path) -> dict[str, list[Path]]:
    """A folder of one folder or file a host. GitcfgError: it is no folder, or there is nothing in it."""
    if not folder.is_dir():
        raise GitcfgError(f"{folder} is no folder.", "It holds one folder, or one file, for each host.")
    found = {_host(path): [path] for path in _listed(folder, folders=True)}
    if not found:
        raise GitcfgError(
            f"There is nothing in {folder}.", "It holds one folder, or one file, for each host."
        )
    return found


def _host(path: Path) -> str:
    suffixes = (".config", ".conf", ".cfg")
    return path.name if path.is_dir() or path.suffix not in suffixes else path.name.removesuffix(path.suffix)


def _read(path: Path) -> Iterator[Source]:
    files = _listed(path, folders=False) if path.is_dir() else (path,)
    for file in files:
        yield Source(str(file), _text(file))


def _listed(folder: Path, folders: bool) -> list[Path]:
    """What is in a folder, as HTCondor orders it, without what it leaves out."""
    found = sorted(
        (path for path in folder.iterdir() if not _EXCLUDED.fullmatch(path.name)), key=lambda path: path.name
    )
    for path in found:
        if path.is_symlink() and not path.resolve().is_relative_to(folder.resolve()):
            raise bad(str(path), 0, "It leads out of the folder, and is not read.", "Name the file itself.")
    return [path for path in found if folders or not path.is_dir()]


def _text(file: Path) -> str:
    with open(file, "rb", opener=_regular) as opened:
        data = opened.read(MAX_FILE + 1)
    if len(data) > MAX_FILE:
        line = data.count(b"\n") + 1
        raise bad(str(file), line, f"The file goes on past {MAX_FILE >> 20} MiB: this is no configuration.")
    if b"\0" in data:
        raise bad(str(file), _line(data, data.index(b"\0")), "It holds a NUL character: this is no text.")
    try:
        return data.decode("utf-8").removeprefix("\ufeff").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise bad(str(file), _line(data, error.start), "It is not UTF-8 text.") from None


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _regular(name: str, flags: int) -> int:
    """Open a file that is one: a pipe would be waited for."""
    import os

    descriptor = os.open(name, flags | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise bad(name, 0, "It is neither a file nor a folder of files.")
    return descriptor
