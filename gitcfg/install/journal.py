"""The journal: what an installation has begun, so that whoever comes next can finish it or take it back.

A line is on the disk before anything is done by it: one that is half written was never acted on, and is
dropped (`lines`).

    {"begin": ID, "commit", "digest", "schema": "gitcfg.journal/1"}   nothing is touched yet
    {"plan": PLAN}          all that will be touched, on the disk before anything is
    {"step": N}             step N of the plan is begun: never begun again
    {"process": [PID, START]}   what runs it
    {"ran": N}              it ended well
    {"undo": OUTCOME}       a step failed; files go back
    {"back": [PATH]}        they stand as before, not to be put back again; kept is what somebody wrote
    {"undid": [N, OK, TEXT]}    step N has been undone
    {"end": OUTCOME}        nothing but tidying is left
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from .lines import encoded, whole
from .store import JOURNAL, Store

SCHEMA = "gitcfg.journal/1"


class Journal:
    """Appends lines."""

    def __init__(self, store: Store) -> None:
        self.store = store

    def begin(self, key: str, commit: str, digest: str) -> None:
        """The first line."""
        self.add({"begin": key, "commit": commit, "digest": digest, "schema": SCHEMA})
        self.store.disk.sync(self.store.at)

    def add(self, line: Mapping[str, Any]) -> None:
        """One more line, on the disk when this returns."""
        with self._opened() as file:
            self._append(file, line)
            self.store.disk.sync(file)

    def note(self, line: Mapping[str, Any]) -> None:
        """One more line, which a loss of power may take: what it tells ends with that, or is done again."""
        with self._opened() as file:
            self._append(file, line)

    @contextmanager
    def _opened(self) -> Iterator[int]:
        file = self.store.disk.append_to(self.store.at, JOURNAL)
        try:
            yield file
        finally:
            os.close(file)

    def _append(self, file: int, line: Mapping[str, Any]) -> None:
        size = os.fstat(file).st_size
        try:
            self.store.disk.write(file, encoded(line))
        except OSError:
            # A full disk takes half a line; what comes after it must not be joined to that.
            self.store.disk.truncate(file, size)
            raise

    def mend(self) -> None:
        """Cut off a last line that is half written."""
        with self._opened() as file:
            size = whole(self.store.read(JOURNAL) or b"")
            if size != os.fstat(file).st_size:
                self.store.disk.truncate(file, size)

    def clear(self) -> None:
        """The installation is over."""
        self.store.disk.unlink(self.store.at, JOURNAL)
        self.store.disk.sync(self.store.at)
