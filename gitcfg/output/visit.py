"""A visit to one node's folder: file by file, with what came of each."""

import os

from gitcfg.output import places
from gitcfg.output.places import Blocked, Linked, NodeFolder
from gitcfg.output.record import Record, Trace
from gitcfg.output.source import File
from gitcfg.output.standing import Witness, trace_of


class Visit:
    """What was found and done so far. `traces` are what is known of the node's files after it."""

    def __init__(self, home: NodeFolder, witness: Witness) -> None:
        self.home = home
        self._witness = witness
        self.traces: list[Trace] = []
        self.same = self.written = self.removed = self.held = 0
        self.edited: list[str] = []
        self.blocked: dict[str, None] = {}
        self.unmade: list[str] = []

    def is_new(self) -> bool:
        """Is the node's own folder not there yet?"""
        try:
            return not self.home.exists()
        except (Blocked, OSError):
            return False

    def prepare(self) -> None:
        """Make the node's own folder, which even a node without files has."""
        try:
            self.home.make("/")
        except (Blocked, OSError) as error:
            self._blocked(error, "")

    def lack(self, path: str, known: Record) -> None:
        """A file cannot be made: what was there stays."""
        self.unmade.append(path)
        self.traces += [trace for trace in known.files if trace.path == path]

    def is_right(self, file: File, known: Record) -> bool:
        """Is there nothing to write, because the file is right or something is in its way?"""
        claims = [trace for trace in known.files if trace.path == file.path]
        try:
            trace = self._witness.find_right(self.home, file, claims)
        except (Blocked, OSError) as error:
            self._blocked(error, file.path)
            self.traces += claims
            return True
        if trace is not None:
            self.same += 1
            self.traces.append(trace)
        return trace is not None

    def write(self, file: File, known: Record, spare: str) -> None:
        """Write a file; the folders that it needs are made."""
        try:
            self.home.make(file.path)
            state = places.write_file(self.home.folder + file.path, file.content, int(file.mode, 8), spare)
        except (Blocked, OSError) as error:
            self._blocked(error, file.path)
            self.traces += [trace for trace in known.files if trace.path == file.path]
        else:
            self.written += 1
            self.traces.append(trace_of(file, state))

    def remove(self, path: str, known: list[Trace]) -> None:
        """Take a file away if it is one of these, unchanged, and the folders that it leaves empty."""
        try:
            ours = self._ours(path, known)
            if ours:
                os.unlink(self.home.folder + path)
                self.removed += 1
        except (Blocked, OSError) as error:
            self._blocked(error, path)
            self.traces += known
        else:
            if ours is False:
                self.edited.append(path)
                self.traces += known
            else:
                self.home.prune(path)

    def _ours(self, path: str, known: list[Trace]) -> bool | None:
        """Is what stands at a path what gitcfg wrote there? None: that is gone, for another thing even."""
        try:
            state = self.home.state(path)
        except Linked:
            return False
        except Blocked:
            return None
        if state is None:
            return None
        return places.hash_content(places.read_content(self.home.folder + path)) in {
            trace.digest for trace in known
        }

    def hold(self, known: list[Trace]) -> None:
        """Leave a stale file where it is."""
        self.held += 1
        self.traces += known

    def record(self, node: str, made: str) -> Record:
        """What is known of the node's files now; with `made` only if nothing is left to do."""
        settled = not (self.held or self.edited or self.blocked or self.unmade)
        return Record(node, made if settled else "", tuple(sorted(self.traces, key=lambda t: t.path)))

    def _blocked(self, error: Blocked | OSError, path: str) -> None:
        self.blocked[places.describe_problem(error, self.home, path)] = None
