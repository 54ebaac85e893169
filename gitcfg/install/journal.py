"""The journal: what an installation has begun, so that the next run can finish it or roll it back.

A line is a CRC-32, a blank and JSON. It is on the disk before anything is done because of it: a line that is
only half written had no effect, and is dropped.

    {"begin": ID, "commit", "digest", "schema": "gitcfg.journal/1"}   nothing is touched yet
    {"plan": PLAN}          everything that will be touched, on the disk before any of it is
    {"step": N}             step N of the plan has begun: it never begins again
    {"process": [PID, START]}   the process that runs it
    {"ran": N}              it succeeded
    {"undo": OUTCOME}       a step failed; files are restored
    {"back": [PATH]}        all are restored, not to be restored again; PATHs hold changes by other programs
    {"undid": [N, OK, TEXT]}    step N has been undone
    {"end": OUTCOME}        only the cleanup is left
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .outcome import Damaged, InstallError, Outcome, outcome_from_json
from .plan import Plan, plan_from_json
from .store import JOURNAL, Store


def encode_line(line: Mapping[str, Any]) -> bytes:
    """Return a line as it is written."""
    raw = json.dumps(line).encode()
    return b"%08x %s\n" % (zlib.crc32(raw), raw)


def decode_lines(raw: bytes) -> list[dict[str, Any]]:
    """Return the whole lines. Raise Damaged if a line other than the last is damaged."""
    lines = [_parse_line(part) for part in raw[: whole_size(raw)].split(b"\n")[:-1]]
    if None in lines:
        raise Damaged(
            f"The journal of an interrupted installation is damaged in line {lines.index(None) + 1}.",
            "Compare the files with the expected ones, then remove the journal in the state folder.",
        )
    return [line for line in lines if line is not None]


def whole_size(raw: bytes) -> int:
    """Return how many bytes are whole lines.

    The end of the last line can reach the disk before its middle does. The same is true for several lines
    that were not synced: the missing part is zeros without a line end, so that all of them look like one
    line.
    """
    size = raw.rfind(b"\n") + 1
    last = raw.rfind(b"\n", 0, size - 1) + 1 if size else 0
    if size == len(raw) and size and _parse_line(raw[last : size - 1]) is None:
        return last
    return size


def _parse_line(part: bytes) -> dict[str, Any] | None:
    crc, _, raw = part.partition(b" ")
    if crc != b"%08x" % zlib.crc32(raw):
        return None
    line: dict[str, Any] = json.loads(raw)
    return line


SCHEMA = "gitcfg.journal/1"


class Journal:
    """A writer of journal lines."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def begin(self, key: str, commit: str, digest: str) -> None:
        """Write the first line."""
        self.add({"begin": key, "commit": commit, "digest": digest, "schema": SCHEMA})
        self.store.disk.sync(self.store.at)

    def add(self, line: Mapping[str, Any]) -> None:
        """Append a line; it is on the disk when this returns."""
        self._append(line, sync=True)

    def note(self, line: Mapping[str, Any]) -> None:
        """Append a line that a loss of power may remove: it records an end, or a repeatable step."""
        self._append(line, sync=False)

    @contextmanager
    def _open(self) -> Iterator[int]:
        file = self.store.disk.append_to(self.store.at, JOURNAL)
        try:
            yield file
        finally:
            os.close(file)

    def _append(self, line: Mapping[str, Any], sync: bool) -> None:
        disk = self.store.disk
        with self._open() as file:
            size = os.fstat(file).st_size
            try:
                disk.write(file, encode_line(line))
            except OSError:
                # A full disk takes half a line; the next line must not be joined to it.
                disk.truncate(file, size)
                raise
            if sync:
                disk.sync(file)

    def mend(self) -> None:
        """Cut off a last line that is only half written."""
        with self._open() as file:
            size = whole_size(self.store.read(JOURNAL) or b"")
            if size != os.fstat(file).st_size:
                self.store.disk.truncate(file, size)

    def clear(self) -> None:
        """Remove the journal at the end of the installation."""
        self.store.disk.unlink(self.store.at, JOURNAL)
        self.store.disk.sync(self.store.at)


# Reading the journal of an interrupted installation.


class JournalState:
    """The state of an installation by its journal. `plan` is None until files may be touched.

    `end` is None until the installation is over.
    """

    def __init__(self, key: str, commit: str, digest: str) -> None:
        self.key = key
        self.commit = commit
        self.digest = digest
        self.plan: Plan | None = None
        self.begun: list[int] = []
        self.ran: list[int] = []
        self.process: tuple[int, int] | None = None
        self.undo: Outcome | None = None
        self.aside: tuple[str, ...] = ()
        self.back: tuple[str, ...] | None = None
        self.undone: dict[int, tuple[bool, str]] = {}
        self.end: Outcome | None = None


def read_journal(store: Store) -> JournalState | None:
    """Return the state of an interrupted installation by its journal; None if there is none."""
    lines = decode_lines(store.read(JOURNAL) or b"")
    if not lines:
        return None
    first = lines[0]
    if first.get("schema") != SCHEMA:
        raise InstallError(
            f"An interrupted installation left a journal of {first.get('schema')!r}; this version"
            f" reads {SCHEMA}.",
            "Run the version that wrote it again.",
        )
    state = JournalState(first["begin"], first["commit"], first["digest"])
    for line in lines[1:]:
        _apply_line(state, line)
    return state


def _apply_line(state: JournalState, line: Mapping[str, Any]) -> None:
    (key, value), *_ = line.items()
    if key == "plan":
        state.plan = plan_from_json(value)
    elif key == "step":
        state.begun.append(value)
    elif key == "ran":
        state.ran.append(value)
    elif key == "process":
        state.process = (value[0], value[1])
    elif key == "undo":
        state.undo = outcome_from_json(value)
    elif key == "back":
        state.back = tuple(value)
    elif key == "undid":
        state.undone[value[0]] = (value[1], value[2])
    elif key == "end":
        state.end = outcome_from_json(value)
