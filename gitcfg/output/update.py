"""Brings an output folder up to date: its nodes are spread over workers, and what came of it is told."""

import os
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import msgspec

from gitcfg.model import GitcfgError
from gitcfg.output import journal, manifest, record
from gitcfg.output.journal import Journal
from gitcfg.output.manifest import Known
from gitcfg.output.plan import CHUNK, Job, Scope, Task, chunks, plan
from gitcfg.output.settle import Settled, Settler, Stale
from gitcfg.output.source import Source
from gitcfg.output.standing import Witness
from gitcfg.output.state import State, opened
from gitcfg.parallel import spread

Opened = Callable[[], AbstractContextManager[Source]]
"""Opens a source for one worker: what a source has open must not be shared."""

Visited = tuple[list[bytes], Settled]
"""What is known of nodes now, a line each, and what was done."""


class Request(msgspec.Struct, frozen=True):
    """Which nodes are to be brought up to date, where, and by how many workers."""

    top: Path
    nodes: Sequence[str]
    scope: Scope
    stale: Stale
    workers: int


class Outcome(msgspec.Struct, frozen=True):
    """What was done, and what is doubtful about the folder itself: sentences."""

    settled: Settled
    doubts: tuple[str, ...]


def update(request: Request, source: Opened) -> Outcome:
    """Make a folder hold what a source says of the nodes.

    GitcfgError: another gitcfg writes there, the disk is full, ... Wherever it ends, every file is whole, as
    it was or as it is to be, and the next run knows which ones are gitcfg's.
    """
    with opened(request.top) as state, manifest.reading(state.manifest) as known:
        return Outcome(_updated(request, source, state, known), tuple(_doubts(state, known)))


def _updated(request: Request, source: Opened, state: State, known: Known) -> Settled:
    settled, nodes = Settled(), 0
    try:
        with manifest.writing(state, known) as new, closing(_visits(request, source, state, known)) as visits:
            for lines, done in visits:
                for line in lines:
                    new.add(line)
                nodes, settled = nodes + len(lines), settled + done
        state.journal.unlink(missing_ok=True)
    except OSError as error:
        raise _ended(error, request.top, nodes) from error
    return settled


def _visits(request: Request, source: Opened, state: State, known: Known) -> Generator[Visited, None, None]:
    said = journal.read(state.journal)
    jobs = plan(request.nodes, request.scope, known.lines, said)
    few = request.scope is Scope.NAMED and len(request.nodes) <= CHUNK
    return spread(_work(request, source, state, known), chunks(jobs), 1 if few else request.workers)


def _work(
    request: Request, source: Opened, state: State, known: Known
) -> Callable[[], AbstractContextManager[Callable[[list[Job]], Visited]]]:
    @contextmanager
    def work() -> Iterator[Callable[[list[Job]], Visited]]:
        spare = str(state.spare / str(os.getpid()))
        with source() as opened_, closing(Journal(state.journal)) as said:
            settler = Settler(str(request.top), Witness(known.saved), said, request.stale, spare)
            yield lambda jobs: _visit(jobs, settler, opened_)

    return work


def _visit(jobs: list[Job], settler: Settler, source: Source) -> Visited:
    lines, done = [], Settled()
    for job in jobs:
        line = job.line
        if job.task is not Task.LEAVE:
            before = record.record(line)
            clear = job.task is Task.CLEAR
            after, what = settler.clear(before) if clear else settler.settle(before, source)
            done += what
            line = line if after is before else record.line(after)
            if clear and not after.files:
                continue
        lines.append(line)
    return lines, done


def _doubts(state: State, known: Known) -> Iterator[str]:
    if known.problem:
        yield f"{state.manifest} {known.problem}: all files were compared, and none was removed."
    if not state.locked:
        yield f"{state.top} is on a file system without locks: nobody else may write there at the same time."


def _ended(error: OSError, top: Path, nodes: int) -> GitcfgError:
    """What is left behind: whatever is not done yet is as it was."""
    done = f"{nodes} nodes' folders are done. Every file is whole, as it was or as it is to be."
    return GitcfgError(
        f"{error.filename or top}: {error.strerror or error}.", done, "Run it again: it goes on from there."
    )
