"""What a node is handed, as data (`gitcfg.node/1`)."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType
from msgspec.structs import replace

SCHEMA = "gitcfg.node/1"
ACTIVE, RETIRED = "active", "retired"


class Check(msgspec.Struct, frozen=True):
    """A command that must succeed after a change; `timeout` is in seconds."""

    run: tuple[str, ...]
    timeout: float
    retries: int


class RunsHere(msgspec.Struct, frozen=True):
    """A subsystem that runs on the node, with its commands; None: it has none."""

    validate: tuple[str, ...] | None
    reload: tuple[str, ...] | None
    restart: tuple[str, ...] | None
    stop: tuple[str, ...] | None
    check: Check | None
    using: str
    covers: tuple[str, ...]


class File(msgspec.Struct, frozen=True):
    """A file. `concerns` says by subsystem what it must do where this file alone is mended.

    Of one that holds secrets `content` shows their names; what is to stand is `sealed` to the node's own key,
    or None for whoever else asks.
    """

    content: str
    mode: str
    owner: str
    group: str
    digest: str
    concerns: Mapping[str, str]
    sealed: str | UnsetType | None = UNSET


class Configuration(msgspec.Struct, frozen=True):
    """A node at a commit. Nothing changes on it as long as `digest` is the same: files and subsystems."""

    node: str
    commit: str
    digest: str
    state: str
    features: tuple[str, ...]
    groups: tuple[str, ...]
    params: Mapping[str, Any]
    files: Mapping[str, File]
    subsystems: Mapping[str, RunsHere]
    schema: str = SCHEMA

    @property
    def holding(self) -> tuple[str, ...]:
        """The files that hold secrets."""
        return tuple(path for path, file in self.files.items() if file.sealed is not UNSET)

    def sealing(self, contents: Mapping[str, str]) -> "Configuration":
        """The same with the sealed contents of such files."""
        sealed = {path: replace(self.files[path], sealed=content) for path, content in contents.items()}
        return replace(self, files={**self.files, **sealed})

    def encoded(self) -> bytes:
        """As JSON, the same bytes for the same commit wherever it is written."""
        return msgspec.json.encode(self, order="sorted")
