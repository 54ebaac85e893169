"""What a node is to run: files and subsystems, as frozen data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from .concealed import Hidden, hidden_content

SCHEMA = "gitcfg.node/1"
ACTIVE, RETIRED = "active", "retired"
_NONE: Mapping[str, Any] = MappingProxyType({})


class File(NamedTuple):
    """A file as it must stand. `concerns`: subsystem to `reload` or `restart`, when it is mended alone.

    Of a file that holds secrets `content` shows only their names; what must stand on the disk is `hidden`.
    """

    path: str
    content: bytes
    mode: str
    owner: str
    group: str
    digest: str
    concerns: Mapping[str, str] = _NONE
    hidden: Hidden | None = None

    @property
    def true(self) -> bytes | None:
        """The content that must stand; None for one that is secret and not known here."""
        return self.content if self.hidden is None else self.hidden.content

    @property
    def sum(self) -> str:
        """The SHA-256 of the content that must stand."""
        return hashlib.sha256(self.content).hexdigest() if self.hidden is None else self.hidden.sha256

    @property
    def size(self) -> int:
        """The bytes of the content that must stand."""
        return len(self.content) if self.hidden is None else self.hidden.size

    @property
    def bits(self) -> int:
        """The mode as a number."""
        return int(self.mode, 8)

    @property
    def secret(self) -> bool:
        """Whether it holds secrets or not everybody may read it, so that its content is never reported."""
        return self.hidden is not None or not self.bits & 0o004


def hidden(file: File, content: bytes) -> File:
    """A file that holds secrets, with its true content: in memory alone, whatever is recorded of it."""
    return file._replace(hidden=hidden_content(content))


class Check(NamedTuple):
    """Run after an activation: `timeout` seconds a time, at most `retries` times more after the first."""

    run: tuple[str, ...]
    timeout: float = 60.0
    retries: int = 0


class Subsystem(NamedTuple):
    """A process that settings affect, by the commands that act on it; an empty command is none.

    `covers` are globs of the subsystems that its restart restarts too.
    """

    name: str
    validate: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    restart: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    check: Check | None = None
    using: str = "new"
    covers: tuple[str, ...] = ()

    @property
    def commands(self) -> tuple[tuple[str, ...], ...]:
        """Every command that it may run."""
        own = (self.validate, self.reload, self.restart, self.stop, self.check.run if self.check else ())
        return tuple(command for command in own if command)


class Package(NamedTuple):
    """One node's configuration of one commit."""

    node: str
    commit: str
    digest: str
    state: str = ACTIVE
    features: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    params: Mapping[str, Any] = _NONE
    files: Mapping[str, File] = _NONE
    subsystems: Mapping[str, Subsystem] = _NONE

    @property
    def meant(self) -> Mapping[str, File]:
        """The files that must stand; none on a retired node."""
        return {} if self.state == RETIRED else self.files

    @property
    def running(self) -> Mapping[str, Subsystem]:
        """The subsystems that run; none on a retired node."""
        return {} if self.state == RETIRED else self.subsystems


class Actions(NamedTuple):
    """What the change asks for, as the server's comparison says."""

    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()


def file_digest(mode: str, owner: str, group: str, content: bytes) -> str:
    """SHA-256 over a file's mode, owner, group and content, as rendering takes it."""
    return hashlib.sha256("\0".join((mode, owner, group, "")).encode() + content).hexdigest()
