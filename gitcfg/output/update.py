"""Brings an output folder up to date: its nodes are spread over workers, and what came of it is told."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import msgspec

from gitcfg.model import GitcfgError
from gitcfg.output import journal, manifest, record
from gitcfg.output.journal import Journal
from gitcfg.output.manifest import Manifest
from gitcfg.output.plan import CHUNK, Job, Scope, Task, plan_jobs, split_jobs
from gitcfg.output.settle import FolderChanges, FolderWriter, Stale
from gitcfg.output.source import Source
from gitcfg.output.standing import Witness
from gitcfg.output.state import StateFolder, open_state
from gitcfg.parallel import spread

OpenSource = Callable[[], AbstractContextManager[Source]]
"""Opens a source for one worker: what a source has open must not be shared."""

Visited = tuple[list[bytes], FolderChanges]
"""What is known of nodes now, a line each, and what was done."""


class UpdateRequest(msgspec.Struct, frozen=True):
    """Which nodes are to be brought up to date, where, and by how many workers."""

    top: Path
    nodes: Sequence[str]
    scope: Scope
    stale: Stale
    workers: int


class UpdateOutcome(msgspec.Struct, frozen=True):
    """What was done, and what is doubtful about the folder itself: sentences."""

    changes: FolderChanges
    doubts: tuple[str, ...]


def update_folder(request: UpdateRequest, source: OpenSource) -> UpdateOutcome:
    """Make a folder hold what a source says of the nodes.

    GitcfgError: another gitcfg writes there, the disk is full, ... Wherever it ends, every file is whole, as
    it was or as it is to be, and the next run knows which ones are gitcfg's.
    """
    with open_state(request.top) as state, manifest.open_manifest(state.manifest) as known:
        return UpdateOutcome(_update(request, source, state, known), tuple(_find_doubts(state, known)))


def _update(request: UpdateRequest, source: OpenSource, state: StateFolder, known: Manifest) -> FolderChanges:
    settled, nodes = FolderChanges(), 0
    try:
        with (
            manifest.write_manifest(state, known) as new,
            closing(_visits(request, source, state, known)) as visits,
        ):
            for lines, done in visits:
                for line in lines:
                    new.add(line)
                nodes, settled = nodes + len(lines), settled + done
        state.journal.unlink(missing_ok=True)
    except OSError as error:
        raise _interrupted(error, request.top, nodes) from error
    return settled


def _visits(
    request: UpdateRequest, source: OpenSource, state: StateFolder, known: Manifest
) -> Generator[Visited, None, None]:
    said = journal.read_journal(state.journal)
    jobs = plan_jobs(request.nodes, request.scope, known.lines, said)
    few = request.scope is Scope.NAMED and len(request.nodes) <= CHUNK
    return spread(_work(request, source, state, known), split_jobs(jobs), 1 if few else request.workers)


def _work(
    request: UpdateRequest, source: OpenSource, state: StateFolder, known: Manifest
) -> Callable[[], AbstractContextManager[Callable[[list[Job]], Visited]]]:
    @contextmanager
    def work() -> Iterator[Callable[[list[Job]], Visited]]:
        spare = str(state.spare / str(os.getpid()))
        with source() as opened_, closing(Journal(state.journal)) as said:
            writer = FolderWriter(str(request.top), Witness(known.saved), said, request.stale, spare)
            yield lambda jobs: _visit(jobs, writer, opened_)

    return work


def _visit(jobs: list[Job], writer: FolderWriter, source: Source) -> Visited:
    lines, done = [], FolderChanges()
    for job in jobs:
        line = job.line
        if job.task is not Task.LEAVE:
            before = record.decode_record(line)
            clear = job.task is Task.CLEAR
            after, what = writer.clear(before) if clear else writer.update(before, source)
            done += what
            line = line if after is before else record.encode_record(after)
            if clear and not after.files:
                continue
        lines.append(line)
    return lines, done


def _find_doubts(state: StateFolder, known: Manifest) -> Iterator[str]:
    if known.problem:
        yield f"{state.manifest} {known.problem}: all files were compared, and none was removed."
    if not state.locked:
        yield f"{state.top} is on a file system without locks: nobody else may write there at the same time."


def _interrupted(error: OSError, top: Path, nodes: int) -> GitcfgError:
    """What is left behind: whatever is not done yet is as it was."""
    done = f"{nodes} nodes' folders are done. Every file is whole, as it was or as it is to be."
    return GitcfgError(
        f"{error.filename or top}: {error.strerror or error}.", done, "Run it again: it goes on from there."
    )
