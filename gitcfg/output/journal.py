"""DIR/.gitcfg/journal: what a run is about to write, said first, so that it is known if the run is killed."""

import os
from collections.abc import Iterable
from pathlib import Path

import msgspec

from gitcfg.output import record
from gitcfg.output.record import Record


class Journal:
    """Lines at the end of one file, from all workers."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._file: int | None = None

    def write(self, intended: Record) -> None:
        """Write down what is about to be written. OSError: it cannot be, so nothing must be written."""
        if self._file is None:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
            self._file = os.open(self._path, flags, 0o666)
        # The line end in front parts it from a line of which another could write only a part.
        text = b"\n" + record.encode_record(intended)
        while os.write(self._file, text) < len(text):
            pass  # the disk is all but full: the next try says so, or writes the line in one piece

    def close(self) -> None:
        """Say no more."""
        if self._file is not None:
            os.close(self._file)
            self._file = None


def read_journal(path: Path) -> dict[str, Record]:
    """What runs that came to no end said they would write, by node. What is no whole line is nothing."""
    found: dict[str, list[Record]] = {}
    try:
        lines: Iterable[bytes] = path.read_bytes().split(b"\n")
    except FileNotFoundError:
        lines = ()
    for text in filter(None, lines):
        try:
            said = record.decode_record(text)
        except (msgspec.DecodeError, UnicodeDecodeError):
            continue
        found.setdefault(said.node, []).append(said)
    return {node: record.join_records(node, said) for node, said in found.items()}
