"""How long an output folder takes, first and again, beside plain writes and plain stats of the same files.

`python -m bench.output [REPOSITORY] [FOLDER]`: FOLDER is where folders are made, and says which file system
is measured. ext4 is slow at making files where many were removed in the last minutes: take a fresh one.
"""

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from functools import partial
from pathlib import Path

from gitcfg.compile.fleet import Fleet, compile_tree
from gitcfg.generate import large, repository
from gitcfg.git.tree import DictTree
from gitcfg.output.folder import Scope, Stale, UpdateRequest, update_folder
from gitcfg.output.source import File, Ingredients, Source, open_fleet_source

Contents = dict[str, list[File]]
CHANGED = 20  # of so many nodes one is changed


class Held:
    """A source that has all files already: what is left is the folder's own time."""

    def __init__(self, contents: Contents, mark: str = "") -> None:
        self._contents, self._mark = contents, mark

    def _changed(self, node: str) -> bool:
        return bool(self._mark) and sum(node.encode()) % CHANGED == 0

    def fingerprint(self, node: str) -> str:
        """An id that changes with the mark."""
        return f"made{self._mark if self._changed(node) else ''}"

    def files(self, node: str) -> Iterator[File]:
        """The files; those of a changed node end otherwise."""
        for file in self._contents[node]:
            if self._changed(node):
                data = file.content + self._mark.encode()
                yield File(file.path, file.mode, data, self._mark.rjust(64, "0"))
            else:
                yield file

    @contextmanager
    def opened(self) -> Iterator[Source]:
        """Itself: nothing is to be opened."""
        yield self


def taken(work: Callable[[], object]) -> tuple[float, float]:
    """Seconds of the wall, and of processors, workers' too."""
    start, before = time.perf_counter(), os.times()
    work()
    after = os.times()
    return time.perf_counter() - start, sum(after[:4]) - sum(before[:4])


def write_plainly(top: Path, contents: Contents) -> None:
    """Every file as a shell script would write it."""
    for node, files in contents.items():
        for file in files:
            place = f"{top}/{node}{file.path}"
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb", buffering=0) as open_file:
                open_file.write(file.content)


def stat_plainly(top: Path, contents: Contents) -> None:
    """Every file's state."""
    for node, files in contents.items():
        for file in files:
            os.lstat(f"{top}/{node}{file.path}")


def fleet(argument: str | None) -> Fleet:
    """A repository's fleet as it lies there, or a generated one."""
    if argument is None:
        return compile_tree(DictTree(repository(large(7))), date(2026, 11, 20))
    import gitcfg

    return gitcfg.open(argument).worktree().compiled


def _made(source: Source, node: str) -> list[File]:
    return [file for file in source.files(node) if isinstance(file, File)]


def rows(subject: Fleet, home: Path) -> Iterator[tuple[str, tuple[float, float]]]:
    """What is measured, each with its seconds."""
    ingredients = Ingredients(subject)

    def rendered() -> AbstractContextManager[Source]:
        return open_fleet_source(subject, ingredients)

    with open_fleet_source(subject, ingredients) as source:
        contents = {node: _made(source, node) for node in subject.names}
    size = sum(len(file.content) for files in contents.values() for file in files)
    print(f"{len(contents)} nodes, {sum(map(len, contents.values()))} files, {size / 1e6:.0f} MB, in {home}")
    yield "plain writes", taken(lambda: write_plainly(home / "plain", contents))
    yield "plain stats", taken(lambda: stat_plainly(home / "plain", contents))
    before, after = Held(contents), Held(contents, "new")
    for workers in (1, 2):
        who = f"{workers} worker" + "s" * (workers > 1)
        held, made = home / f"held{workers}", home / f"made{workers}"
        for what, top, opened in (
            ("first, {}, rendered before", held, before.opened),
            ("again, {}, rendered before", held, before.opened),
            (f"again, {{}}, 1 in {CHANGED} nodes changed", held, after.opened),
            ("first, {}, compiled and rendered", made, rendered),
            ("again, {}, compiled", made, rendered),
        ):
            request = UpdateRequest(top, subject.names, Scope.ALL, Stale.REMOVE, workers)
            yield what.format(who), taken(partial(update_folder, request, opened))


def main() -> None:
    """Print seconds, and ratios to the floor: writes for what writes, stats for what does not."""
    arguments = [*sys.argv[1:], None, None]
    home = Path(tempfile.mkdtemp(prefix="gitcfg-bench-", dir=arguments[1]))
    floors: dict[str, float] = {}
    try:
        for name, (wall, processor) in rows(fleet(arguments[0]), home):
            kind = "stats" if name.startswith("again") else "writes"
            floors.setdefault(name.removeprefix("plain "), wall)
            ratio = f"{wall / floors[kind]:7.1f} x {kind}" if kind in floors else ""
            print(f"{name:<52}{wall:8.2f} s{processor:8.2f} s CPU {ratio}")
    finally:
        shutil.rmtree(home)


if __name__ == "__main__":
    main()
