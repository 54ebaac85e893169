"""The rows of gitcfg that write files: all nodes into a folder, first and after one group changed."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Command, Limits, Row, run
from bench.rows.fleet import Prepared
from bench.rows.states import bring

_WORK = "all nodes, files"


def out_rows(ready: Prepared) -> Iterator[Row]:
    """The first time into a folder that is not there, the second into what the first left."""
    folder = ready.folder / "rendered"
    old = ready.gitcfg("render", "--all", "--at", "HEAD~1", "--out", str(folder))
    new = ready.gitcfg("render", "--all", "--at", "HEAD", "--out", str(folder))
    check = ready.gitcfg("check", "--no-parsers", "--at", "HEAD~1")

    def first() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        bring(ready, [])

    def second() -> None:
        _rendered(old, ready.limits)
        bring(ready, [check])
        _age(folder)

    cases = ((old, "cold, first time", first), (new, "one group changed", second))
    for command, state, before in cases:
        yield Row(
            fleet=ready.name,
            tool="gitcfg",
            work=_WORK,
            state=state,
            nodes=len(ready.fleet.nodes),
            command=command,
            before=before,
            judge=lambda _: f"{_new(folder)} files written",
        )


def _rendered(command: Command, limits: Limits) -> None:
    used = run(command, limits)
    if used.late or used.exit:
        raise ValueError(f"the files cannot be written: {command.complaint[:80]}")


def _age(folder: Path) -> None:
    """Make every file look old, so that those written afterwards can be told."""
    for path in _files(folder):
        os.utime(path, (1, 1))


def _new(folder: Path) -> int:
    return sum(path.stat().st_mtime > 1 for path in _files(folder))


def _files(folder: Path) -> Iterator[Path]:
    """Nodes' files; .gitcfg beside the nodes' folders is gitcfg's own."""
    return (path for path in folder.glob("[!.]*/**/*") if path.is_file())
