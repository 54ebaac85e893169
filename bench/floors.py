"""What no program can do without: one kind of work on a fleet, timed alone; prints its figures as JSON."""

import hashlib
import json
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pygit2
import yaml

from bench.fleet import FLEETS, draw, params


class Clock:
    """Time of the work alone; what is made for it in between does not count."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0

    def __enter__(self) -> None:
        self.cpu -= time.process_time()
        self.wall -= time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.cpu += time.process_time()
        self.wall += time.perf_counter()


def blobs(repository: pygit2.Repository, tree: pygit2.Tree) -> Iterator[pygit2.Oid]:
    """The ids of all files below a tree."""
    for entry in tree:
        if isinstance(entry, pygit2.Tree):
            yield from blobs(repository, entry)
        else:
            yield entry.id


def texts(repository: str) -> list[bytes]:
    """All files of HEAD~1."""
    opened = pygit2.Repository(repository)
    top = opened.revparse_single("HEAD~1").peel(pygit2.Tree)
    return [opened[one].peel(pygit2.Blob).data for one in blobs(opened, top)]


def read(clock: Clock, fleet: str, repository: str, folder: Path) -> None:
    """All blobs, by id."""
    with clock:
        texts(repository)


def events(clock: Clock, fleet: str, repository: str, folder: Path) -> None:
    """libyaml's events of all files."""
    found = texts(repository)
    with clock:
        for text in found:
            for _ in yaml.parse(text, yaml.CLoader):
                pass


def answers(fleet: str) -> Iterator[tuple[str, Mapping[str, object]]]:
    """Each node with its parameters."""
    drawn = draw(FLEETS[fleet])
    return ((name, params(drawn, node)) for name, node in drawn.nodes.items())


def dump(clock: Clock, fleet: str, repository: str, folder: Path) -> None:
    """JSON of every node."""
    for _, found in answers(fleet):
        with clock:
            json.dumps(found, sort_keys=True)


def digest(clock: Clock, fleet: str, repository: str, folder: Path) -> None:
    """SHA-256 of each node's JSON."""
    for _, found in answers(fleet):
        text = json.dumps(found, sort_keys=True).encode()
        with clock:
            hashlib.sha256(text).digest()


def one_file(clock: Clock, fleet: str, repository: str, folder: Path) -> None:
    """All nodes' JSON into one file."""
    with (folder / "all").open("wb") as file:
        for _, found in answers(fleet):
            text = json.dumps(found, sort_keys=True).encode()
            with clock:
                file.write(text)


def many_files(clock: Clock, fleet: str, repository: str, folder: Path) -> None:
    """A new file for each node's JSON."""
    for name, found in answers(fleet):
        text = json.dumps(found, sort_keys=True).encode()
        with clock:
            (folder / name).write_bytes(text)


WORK: Mapping[str, Callable[[Clock, str, str, Path], None]] = {
    "read all blobs by id": read,
    "events of all YAML by libyaml": events,
    "json.dumps of every node": dump,
    "hash all output": digest,
    "write all output as one file": one_file,
    "write a file a node": many_files,
}


def main(work: str, fleet: str, repository: str, place: str) -> None:
    """Do it once."""
    folder = Path(place)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    clock = Clock()
    WORK[work](clock, fleet, repository, folder)
    shutil.rmtree(folder)
    print(json.dumps({"cpu": clock.cpu, "wall": clock.wall}))


if __name__ == "__main__":
    main(*sys.argv[1:])
