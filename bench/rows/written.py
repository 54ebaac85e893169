"""The rows of gitcfg that write files: all nodes into a folder, first and after one group changed."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from bench.measure import Command, Limits, Row, run
from bench.rows.fleet import Prepared
from bench.rows.states import bring

_WORK = "all nodes, files"
Stood = dict[str, tuple[int, int]]


def out_rows(ready: Prepared) -> Iterator[Row]:
    """The first time into a folder that is not there, the second into what the first left."""
    folder = ready.folder / "rendered"
    old = ready.gitcfg("render", "--all", "--at", "HEAD~1", "--out", str(folder))
    new = ready.gitcfg("render", "--all", "--at", "HEAD", "--out", str(folder))
    check = ready.gitcfg("check", "--no-parsers", "--at", "HEAD~1")

    before: Stood = {}

    def first() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        before.clear()
        bring(ready, [])

    def second() -> None:
        _rendered(old, ready.limits)
        bring(ready, [check])
        before.update(_stood(folder))

    cases = ((old, "cold, first time", first), (new, "one group changed", second))
    for command, state, prepare in cases:
        yield Row(
            fleet=ready.name,
            tool="gitcfg",
            work=_WORK,
            state=state,
            nodes=len(ready.fleet.nodes),
            command=command,
            before=prepare,
            judge=lambda _: f"{_new(folder, before)} files written",
        )


def _rendered(command: Command, limits: Limits) -> None:
    used = run(command, limits)
    if used.late or used.exit:
        raise ValueError(f"the files cannot be written: {command.complaint[:80]}")


def _stood(folder: Path) -> Stood:
    """Which files stand there: a file that is written anew is another one."""
    return {str(path): (path.stat().st_ino, path.stat().st_mtime_ns) for path in _files(folder)}


def _new(folder: Path, before: Stood) -> int:
    """How many files were written since then."""
    return len(_stood(folder).items() - before.items())


def _files(folder: Path) -> Iterator[Path]:
    """Nodes' files; .gitcfg beside the nodes' folders is gitcfg's own."""
    return (path for path in folder.glob("[!.]*/**/*") if path.is_file())
