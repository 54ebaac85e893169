"""What a node is to run: files and subsystems, as frozen data."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

SCHEMA = "gitcfg.node/1"
ACTIVE, RETIRED = "active", "retired"


@dataclass(frozen=True)
class File:
    """A file as it must stand. `concerns`: subsystem to `reload` or `restart`, when it is mended alone."""

    path: str
    content: bytes
    mode: str
    owner: str
    group: str
    digest: str
    concerns: Mapping[str, str] = field(default_factory=dict)

    @property
    def bits(self) -> int:
        """The mode as a number."""
        return int(self.mode, 8)

    @property
    def secret(self) -> bool:
        """Whether only its owner may read it, so that its content is never reported."""
        return not self.bits & 0o077


@dataclass(frozen=True)
class Check:
    """Run after an activation: `timeout` seconds a time, at most `retries` times more after the first."""

    run: tuple[str, ...]
    timeout: float = 60.0
    retries: int = 0


@dataclass(frozen=True)
class Subsystem:
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


@dataclass(frozen=True)
class Package:
    """One node's configuration of one commit."""

    node: str
    commit: str
    digest: str
    state: str = ACTIVE
    features: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    params: Mapping[str, Any] = field(default_factory=dict)
    files: Mapping[str, File] = field(default_factory=dict)
    subsystems: Mapping[str, Subsystem] = field(default_factory=dict)

    @property
    def meant(self) -> Mapping[str, File]:
        """The files that must stand; none on a retired node."""
        return {} if self.state == RETIRED else self.files

    @property
    def running(self) -> Mapping[str, Subsystem]:
        """The subsystems that run; none on a retired node."""
        return {} if self.state == RETIRED else self.subsystems


@dataclass(frozen=True)
class Actions:
    """What the change asks for, as the server's comparison says."""

    restart: tuple[str, ...] = ()
    reload: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()


def file_digest(mode: str, owner: str, group: str, content: bytes) -> str:
    """SHA-256 over a file's mode, owner, group and content, as rendering takes it."""
    return hashlib.sha256("\0".join((mode, owner, group, "")).encode() + content).hexdigest()


def package_to_json(package: Package) -> dict[str, Any]:
    """As gitcfg.node/1, which `read_package` reads back."""
    return {
        "schema": SCHEMA,
        "node": package.node,
        "commit": package.commit,
        "digest": package.digest,
        "state": package.state,
        "features": list(package.features),
        "groups": list(package.groups),
        "params": dict(package.params),
        "files": {path: _file_to_json(file) for path, file in package.files.items()},
        "subsystems": {name: _subsystem_to_json(found) for name, found in package.subsystems.items()},
    }


def _file_to_json(file: File) -> dict[str, Any]:
    import base64

    try:
        content = {"content": file.content.decode()}
    except UnicodeDecodeError:
        content = {"base64": base64.b64encode(file.content).decode()}
    return {
        **content,
        "mode": file.mode,
        "owner": file.owner,
        "group": file.group,
        "digest": file.digest,
        "concerns": dict(file.concerns),
    }


def _subsystem_to_json(found: Subsystem) -> dict[str, Any]:
    check = found.check
    return {
        "validate": list(found.validate) or None,
        "reload": list(found.reload) or None,
        "restart": list(found.restart) or None,
        "stop": list(found.stop) or None,
        "check": check and {"run": list(check.run), "timeout": check.timeout, "retries": check.retries},
        "using": found.using,
        "covers": list(found.covers),
    }
