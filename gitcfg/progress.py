"""What this process is doing and how far it is, for a person who waits and for a process that watches."""

import mmap
import os
import struct
from collections.abc import Callable
from typing import NamedTuple

_SIZE = 4096
_HEAD = struct.Struct("<HQQ")
_board: mmap.mmap | None = None
_listener: "Listener | None" = None
_counts: dict[str, int] = {}


class Step(NamedTuple):
    """What is being done, in words that follow "It was", and its number of a `total`; 0 is unknown.

    `blocks`: nothing is noted until it is done, which may take long.
    """

    doing: str
    name: str
    done: int
    total: int
    blocks: bool = False


Listener = Callable[[Step], None]


def share() -> None:
    """Let what is noted from now on, here and in processes that are forked from here, be read here."""
    global _board
    _board = mmap.mmap(-1, _SIZE)


def listen(listener: Listener | None) -> None:
    """Let a listener hear of each step of this process from now on; None: no one."""
    global _listener
    _listener = listener


os.register_at_fork(after_in_child=lambda: listen(None))  # two processes would draw over each other


def note(doing: str, name: str = "", total: int = 0, done: int = 0, blocks: bool = False) -> None:
    """Note what is being done, in words that follow "It was": `reading`, and a file's path.

    Unless `done` says how many steps there were, those with the same words are counted, from 1 again once
    there were `total` of them.
    """
    if _board is None and _listener is None:
        return
    if not done:
        done = _counts.get(doing, 0) + 1
        done = 1 if 0 < total < done else done
        _counts[doing] = done
    if _board is not None:  # 0.7 us
        text = f"{doing}\0{name}".encode("utf-8", "backslashreplace")[: _SIZE - _HEAD.size]
        _board[: _HEAD.size + len(text)] = _HEAD.pack(len(text), done, total) + text
    if _listener is not None:
        _listener(Step(doing, name, done, total, blocks))


def relay(listener: Listener | None) -> None:
    """Let a listener hear of the last step of the processes that share."""
    if listener is not None and (step := last()) is not None:
        listener(step)


def last() -> Step | None:
    """Return the last step of the processes that share; None if there was none."""
    if _board is None:
        return None
    size, done, total = _HEAD.unpack_from(_board)
    doing, _, name = _board[_HEAD.size : _HEAD.size + size].decode("utf-8", "replace").partition("\0")
    return Step(doing, name, done, total) if doing else None
