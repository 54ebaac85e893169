"""Answers kept beside a repository's objects: one file a question, checked and never simply believed."""

import contextlib
import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from gitcfg import __version__

T = TypeVar("T")

MOST_BYTES = 64 << 20
MOST_FILES = 512
LARGEST = 16 << 20
_HEAD = f"gitcfg log 1 {__version__}\n".encode()
"""The format and the program's version: another's file is not even decoded."""
_DIGEST = hashlib.sha256().digest_size
_FOREIGN = stat.S_IWGRP | stat.S_IWOTH


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """A question with its answer, which is decoded only for that question."""

    question: str
    answer: msgspec.Raw


class Cache:
    """A folder of answers. Only what `user` owns and nobody else can write is read.

    Nothing that goes wrong with it is ever told: then there is no answer, or none is kept.
    """

    def __init__(self, folder: Path, user: int) -> None:
        self._folder = folder
        self._user = user

    def get(self, question: str, kind: type[T]) -> T | None:
        """The answer kept for a question; None if there is none that is whole and ours."""
        try:
            with self._opened() as folder:
                data = self._read(folder, _name(question))
            kept = msgspec.msgpack.decode(_body(data), type=_Kept)
            return msgspec.msgpack.decode(kept.answer, type=kind) if kept.question == question else None
        except (OSError, ValueError):
            return None

    def put(self, question: str, answer: Any) -> None:
        """Keep an answer, and drop the oldest ones if there are too many."""
        try:
            body = msgspec.msgpack.encode(_Kept(question, msgspec.Raw(msgspec.msgpack.encode(answer))))
        except (OverflowError, ValueError):
            return
        data = _HEAD + hashlib.sha256(body).digest() + body
        if len(data) > LARGEST:
            return
        with contextlib.suppress(OSError):
            self._folder.mkdir(mode=0o700, exist_ok=True)
            with self._opened():
                self._write(_name(question), data)
                self._prune(_name(question))

    @contextlib.contextmanager
    def _opened(self) -> Iterator[int]:
        """The folder, which no link leads to. OSError: it is not there, or not ours."""
        folder = os.open(self._folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            self._judge(os.fstat(folder))
            yield folder
        finally:
            os.close(folder)

    def _judge(self, state: os.stat_result) -> None:
        if state.st_uid != self._user or state.st_mode & _FOREIGN:
            raise PermissionError(self._folder)

    def _read(self, folder: int, name: str) -> bytes:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
        with open(os.open(name, flags, dir_fd=folder), "rb") as file:
            state = os.fstat(file.fileno())
            self._judge(state)
            if not stat.S_ISREG(state.st_mode) or state.st_size > LARGEST:
                raise PermissionError(name)
            return file.read(LARGEST)

    def _write(self, name: str, data: bytes) -> None:
        """Put a file in place whole: a reader sees the old or the new one."""
        descriptor, new = tempfile.mkstemp(dir=self._folder, prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
            os.replace(new, self._folder / name)
        except OSError:
            Path(new).unlink(missing_ok=True)
            raise

    def _prune(self, kept: str) -> None:
        states = [(found.stat(follow_symlinks=False), found.name) for found in os.scandir(self._folder)]
        oldest = sorted((state.st_mtime_ns, name, state.st_size) for state, name in states)
        size, count = sum(state.st_size for state, _ in states), len(states)
        for _, name, bytes_ in oldest:
            if size <= MOST_BYTES and count <= MOST_FILES:
                break
            if name != kept:
                (self._folder / name).unlink(missing_ok=True)
                size, count = size - bytes_, count - 1


def _name(question: str) -> str:
    return hashlib.sha256(question.encode()).hexdigest()[:32]


def _body(data: bytes) -> bytes:
    """What a file holds. ValueError: it is none of this version's, or not whole."""
    head, digest, body = data[: len(_HEAD)], data[len(_HEAD) :][:_DIGEST], data[len(_HEAD) + _DIGEST :]
    if head != _HEAD or hashlib.sha256(body).digest() != digest:
        raise ValueError("not whole")
    return body
