"""The files of deploys: found, read and dropped; one that is damaged is told and harms nobody."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec

from gitcfg.deploy.record_lines import Kept, read
from gitcfg.deploy.record_open import content, going, opened
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

MOST_RUNS = 100
LAST = "last"
"""The newest run that can be read; no id has these letters."""
_SUFFIX = ".jsonl"
_END = 1024
_ID = re.compile(r"[0-9a-hj-km-np-tv-z]{10}")
_SHORTEST = 3


class Found(msgspec.Struct, frozen=True):
    """A file of a deploy: its run, or what is wrong with it. Both are missing where it never began."""

    id: str
    kept: Kept | None = None
    problem: str = ""


def folder_of(shared: Path) -> Path:
    """Where runs are kept; `shared` is the folder that all work trees of a repository share."""
    return shared / "gitcfg-deploys"


def place(folder: Path, run: str) -> Path:
    """The file of a run."""
    return folder / f"{run}{_SUFFIX}"


def ids(folder: Path) -> list[str]:
    """The runs of which there is a file, newest first. GitcfgError: the folder cannot be read."""
    try:
        names = os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        hint = "Who deploys from this repository must be able to read and write it."
        raise GitcfgError(f"The folder {folder} cannot be read: {error.strerror}.", hint) from None
    found = (name.removesuffix(_SUFFIX) for name in names if name.endswith(_SUFFIX))
    return sorted(filter(_ID.fullmatch, found), reverse=True)


def files(folder: Path) -> Iterator[Found]:
    """All of them, newest first; each is read when its turn comes."""
    return (found_in(folder, run) for run in ids(folder))


def runs(folder: Path) -> Iterator[Kept]:
    """The runs that can be read, newest first."""
    return (found.kept for found in files(folder) if found.kept is not None)


def runs_in_order(folder: Path) -> Iterator[Kept]:
    """The same, in the order in which they began."""
    found = (found_in(folder, run) for run in reversed(ids(folder)))
    return (one.kept for one in found if one.kept is not None)


def untold(folder: Path) -> Iterator[Kept]:
    """Those that are over and of which nobody was told, in the order in which they began."""
    asked = (run for run in reversed(ids(folder)) if not _ends_as_told(place(folder, run)))
    found = (found_in(folder, run).kept for run in asked)
    return (kept for kept in found if kept is not None and kept.told is None and not kept.going)


def _ends_as_told(path: Path) -> bool:
    """By its end alone: to read a hundred runs of 10,000 nodes took 2.2 s of CPU time after each deploy."""
    with contextlib.suppress(OSError, ValueError), opened(path) as file:
        end = os.pread(file, _END, max(0, os.fstat(file).st_size - _END))
        return b'{"what":"told",' in end
    return False


def found_in(folder: Path, run: str) -> Found:
    """One of them."""
    file = place(folder, run)
    try:
        data, at_work = content(file)
        kept = read(data, at_work)
    except OSError as error:
        return Found(run, problem=f"{file} cannot be read: {error.strerror}.")
    except ValueError as error:
        return Found(run, problem=f"{file} is no record of a deploy: {error}.")
    if kept is not None and kept.run.id != run:
        return Found(run, problem=f"{file} is the record of another deploy.")
    return Found(run, kept)


def named(folder: Path, text: str) -> Kept:
    """The run of an id, or of how one alone begins or ends, or the last one. GitcfgError: not one of them."""
    if text == LAST:
        return _last(folder)
    known = ids(folder)
    low = text.lower()
    near = [run for run in known if len(low) >= _SHORTEST and (run.startswith(low) or run.endswith(low))]
    listed = "`gitcfg deploys` lists them."
    if not near:
        raise GitcfgError(f"There is no deploy {shown(text)}.", listed)
    if len(near) > 1:
        raise GitcfgError(f"{shown(text)} may be any of {len(near)} deploys.", listed)
    found = found_in(folder, near[0])
    if found.kept is None:
        raise GitcfgError(found.problem or f"The deploy {found.id} never began.", listed)
    return found.kept


def _last(folder: Path) -> Kept:
    found = next(runs(folder), None)
    if found is None:
        raise GitcfgError("Nothing was deployed from here yet.", "`gitcfg deploys` lists what was.")
    return found


def prune(folder: Path, most: int = MOST_RUNS) -> None:
    """Drop the oldest ones; never one that somebody is at."""
    for run in ids(folder)[most:]:
        with contextlib.suppress(OSError, ValueError), opened(place(folder, run)) as file:
            if not going(file):
                place(folder, run).unlink()
