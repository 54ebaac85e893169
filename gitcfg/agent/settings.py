"""agent.toml: which server a node believes, and what gitcfg may do on it."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

from ..install.policy import AGENT, Policy
from .servers import Server, server_of
from .values import Reader

REPORT, REPAIR = "report", "repair"

_LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")


class Advert(NamedTuple):
    """Who is told what the node is: a snippet for HTCondor at a path, or (`path` empty) a command alone."""

    path: str = ""
    command: tuple[str, ...] = ()


class Settings(NamedTuple):
    """What agent.toml says; times are seconds. `reach` of 0: an installation need not reach the server."""

    servers: tuple[Server, ...]
    server_keys: tuple[bytes, ...]
    node: str
    policy: Policy
    drift: str
    interval: float
    wait: float
    timeout: float
    reach: float
    delay: float
    ca: str
    advertise: tuple[Advert, ...]

    def sparing(self, paths: Iterable[str]) -> Settings:
        """The same with more that gitcfg must never touch."""
        known = self.policy
        return self._replace(policy=Policy(known.paths, known.commands, (*known.never, *paths)))


def settings_from(said: Mapping[str, Any], path: str, host: Callable[[], str]) -> Settings:
    """The settings that a table says; `host` tells the node's name where it says none."""
    read = Reader(said, path)
    plain = read.switch("plain", False)
    servers = tuple(server_of(read, one, plain) for one in read.texts("server"))
    keys = tuple(_key(read, one) for one in read.texts("server_key"))
    if not servers or not keys:
        missing = "server" if not servers else "server_key"
        raise read.wrong(missing, "must be there", "`gitcfg serve` prints both lines when it starts.")
    node = read.text("node", "") or host()
    if not _HOST.fullmatch(node):
        raise read.wrong("node", f"is {node!r}, which is not a node's name")
    commands = tuple(read.lines("commands"))
    if any(not line[0].startswith("/") and line != ("**",) for line in commands):
        raise read.wrong("commands", "must name programs by their whole paths")
    made = Settings(
        servers=servers,
        server_keys=keys,
        node=node,
        policy=Policy(tuple(read.paths("paths")), commands, AGENT),
        drift=read.choice("drift", (REPORT, REPAIR)),
        interval=read.seconds("interval", 60.0, least=1.0),
        wait=read.seconds("wait", 60.0),
        timeout=read.seconds("timeout", 30.0, least=0.1),
        reach=read.seconds("reach", 60.0),
        delay=read.seconds("delay", 10.0),
        ca=read.text("ca", ""),
        advertise=tuple(_advert(Reader(one, f"{path}: advertise")) for one in read.tables("advertise")),
    )
    read.finished()
    return made


def _key(read: Reader, text: str) -> bytes:
    kind, _, body = text.partition(":")
    try:
        raw = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if kind != "ed25519" or len(raw) != 32:
        raise read.wrong("server_key", f"is {text!r}; ed25519:BASE64 of 32 bytes is meant")
    return raw


def _advert(read: Reader) -> Advert:
    paths = tuple(read.paths("htcondor"))
    made = Advert(paths[0] if paths else "", read.line("run"))
    if len(paths) > 1 or not (made.path or made.command):
        raise read.wrong("htcondor", "must be one path, or `run` a command")
    if made.command and not made.command[0].startswith("/"):
        raise read.wrong("run", "must name its program by its whole path")
    read.finished()
    return made
