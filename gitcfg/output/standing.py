"""Whether a file stands as it is meant to, without reading it where what is known of it is enough."""

import os
import stat

import msgspec

from gitcfg.output.places import Blocked, NodeFolder, read_content
from gitcfg.output.record import Record, Trace
from gitcfg.output.source import File

_SECOND = 1_000_000_000
_TICK = _SECOND // 50  # clocks of file systems go in steps: 4 ms is usual, 10 ms on slow kernels


class Witness(msgspec.Struct, frozen=True):
    """What is known of files is as of this time, in ns: when the manifest was saved."""

    saved: int

    def knows(self, trace: Trace, state: os.stat_result) -> bool:
        """Is a file the one of which this is known? One written in the same tick as the manifest may have
        been changed after it without any trace, so it is not."""
        step = _TICK if trace.mtime % _SECOND else 2 * _SECOND
        same = state.st_size == trace.size and state.st_mtime_ns == trace.mtime
        return same and trace.mtime + step < self.saved

    def all_match(self, home: NodeFolder, record: Record) -> bool:
        """Do all files of a record stand as it says, so that nothing needs to be looked into?"""
        try:
            return all(self._matches(home, trace) for trace in record.files) and home.exists()
        except (Blocked, OSError):
            return False

    def _matches(self, home: NodeFolder, trace: Trace) -> bool:
        state = home.state(trace.path)
        return state is not None and self.knows(trace, state) and mode_of(state) == trace.mode

    def find_right(self, home: NodeFolder, file: File, known: list[Trace]) -> Trace | None:
        """The file as it stands, if it is right; None if it is to be written."""
        state = home.state(file.path)
        if state is None or mode_of(state) != file.mode or state.st_size != len(file.content):
            return None
        if len(known) == 1 and known[0].digest == file.digest and self.knows(known[0], state):
            return known[0]
        return trace_of(file, state) if read_content(home.folder + file.path) == file.content else None


def trace_of(file: File, state: os.stat_result) -> Trace:
    """A file in place, to be known by later."""
    return Trace(file.path, file.mode, file.digest, state.st_size, state.st_mtime_ns)


def mode_of(state: os.stat_result) -> str:
    """A file's mode as entries write it."""
    return f"{stat.S_IMODE(state.st_mode):04o}"
