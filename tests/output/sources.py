"""Sources that say what they are told, folders as they are, and runs of gitcfg's that need no fleet."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from gitcfg.output.files import hash_content
from gitcfg.output.folder import Scope, Stale, UpdateOutcome, UpdateRequest, update_folder
from gitcfg.output.manifest import NAME
from gitcfg.output.source import File, Unmade

Said = Mapping[str, Mapping[str, str]]
"""Contents by node and path; a path may end in a mode: `/etc/x 0600`, or `fails`."""


class Told:
    """A source that says what it is told. `asked` are the nodes whose files were asked for."""

    def __init__(self, said: Said, made: Mapping[str, str] | None = None) -> None:
        self.said = said
        self._made = made or {}
        self.asked: list[str] = []

    def fingerprint(self, node: str) -> str:
        return self._made.get(node, "")

    def files(self, node: str) -> Iterator[File | Unmade]:
        self.asked.append(node)
        for place, text in sorted(self.said[node].items()):
            path, _, mode = place.partition(" ")
            if mode == "fails":
                yield Unmade(path)
                continue
            yield File(path, mode or "0644", text.encode(), hash_content(text.encode()))


def run(
    top: Path,
    said: Said | Told,
    nodes: list[str] | None = None,
    stale: Stale = Stale.REMOVE,
    workers: int = 1,
) -> UpdateOutcome:
    """Bring a folder up to date, of all nodes or only of some."""
    source = said if isinstance(said, Told) else Told(said)

    @contextmanager
    def opened() -> Iterator[Told]:
        yield source

    scope = Scope.ALL if nodes is None else Scope.NAMED
    names = sorted(source.said) if nodes is None else nodes
    return update_folder(UpdateRequest(top, names, scope, stale, workers), opened)


def held(top: Path) -> dict[str, str]:
    """What a folder holds but for gitcfg's own: contents and modes by path, folders with a slash."""
    found = {}
    for place in sorted(top.rglob("*")):
        name = place.relative_to(top).as_posix()
        if name.partition("/")[0] == NAME:
            continue
        if place.is_symlink():
            found[name] = f"-> {place.readlink()}"
        elif place.is_dir():
            found[name + "/"] = ""
        else:
            found[name] = f"{place.stat().st_mode & 0o7777:04o} {place.read_text()}"
    return found


def fresh(top: Path, said: Said) -> dict[str, str]:
    """What a new folder holds after one run."""
    run(top, said)
    return held(top)


def times(top: Path) -> dict[str, tuple[int, int]]:
    """When everything in a folder was changed last, but for where files are made."""
    found = [place for place in (top, *top.rglob("*")) if place.name != "new"]
    return {str(place): (place.lstat().st_ino, place.lstat().st_mtime_ns) for place in found}


def age(top: Path) -> None:
    """As if the manifest had been saved a while after the files: then what it says of them is enough."""
    later = (top / ".gitcfg/manifest").stat().st_mtime_ns + 10**12
    os.utime(top / ".gitcfg/manifest", ns=(later, later))
