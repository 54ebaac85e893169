"""The settings in agent.toml, read from a file that other users cannot write."""

from __future__ import annotations

import base64
import binascii
import importlib
import os
import re
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from ..install.disk import read_open_file
from ..install.policy import AGENT, Policy
from .errors import SettingsError

_DURATION = re.compile(r"([0-9]{1,9})(ms|s|m|h|d)")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_MOST = 7 * 86400.0


class Reader:
    """A reader of the keys of a table; keys that nothing reads are refused."""

    def __init__(self, table: Mapping[str, Any], path: str) -> None:
        self._left = dict(table)
        self._path = path
        self._known: list[str] = []

    def wrong(self, key: str, why: str, *hints: str) -> SettingsError:
        """Return an error about a key."""
        return SettingsError(f"{self._path}: `{key}` {why}.", *hints)

    def finished(self) -> None:
        """Raise SettingsError if keys are left."""
        for key in self._left:
            import difflib

            near = difflib.get_close_matches(key, self._known, 1)
            hint = f"Did you mean `{near[0]}`?" if near else f"Known keys: {', '.join(sorted(self._known))}."
            raise self.wrong(key, "is not a key that this version knows", hint)

    def _take(self, key: str, default: object) -> Any:
        self._known.append(key)
        return self._left.pop(key, default)

    def text(self, key: str, default: str) -> str:
        """Return text."""
        value = self._take(key, default)
        if not isinstance(value, str) or "\0" in value:
            raise self.wrong(key, "must be text")
        return value

    def switch(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self._take(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "must be true or false")
        return value

    def choice(self, key: str, words: Sequence[str]) -> str:
        """Return one of some words; the first one if the key is missing."""
        value = self.text(key, words[0])
        if value not in words:
            raise self.wrong(key, f"is {value!r}, and must be one of {', '.join(words)}")
        return value

    def seconds(self, key: str, default: float, least: float = 0.0) -> float:
        """Return a duration in seconds: `500ms`, `60s`, `10m`, `2h`, `7d`."""
        value = self._take(key, None)
        if value is None:
            return default
        found = _DURATION.fullmatch(value) if isinstance(value, str) else None
        if found is None:
            raise self.wrong(key, "must be a duration", "Write 500ms, 60s, 10m or 2h.")
        length = int(found[1]) * _SECONDS[found[2]]
        if not least <= length <= _MOST:
            raise self.wrong(key, f"must be from {least:g}s to 7d")
        return length

    def texts(self, key: str) -> tuple[str, ...]:
        """Return a list of texts; a single text is a list of one."""
        value = self._take(key, [])
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or any(not isinstance(one, str) or "\0" in one for one in listed):
            raise self.wrong(key, "must be text, or a list of texts")
        return tuple(listed)

    def paths(self, key: str) -> Iterator[str]:
        """Yield absolute paths, which may be globs."""
        for path in self.texts(key):
            if not path.startswith("/") or any(name in ("", ".", "..") for name in path.split("/")[1:]):
                raise self.wrong(key, f"has {path!r}, which is not an absolute path")
            yield path

    def line(self, key: str) -> tuple[str, ...]:
        """Return a command as a list of words; empty if the key is missing."""
        value = self._take(key, [])
        return () if value == [] else self._words(key, value)

    def lines(self, key: str) -> Iterator[tuple[str, ...]]:
        """Yield the commands of a list."""
        value = self._take(key, [])
        if not isinstance(value, list):
            raise self.wrong(key, "must be a list of commands")
        for one in value:
            yield self._words(key, one)

    def _words(self, key: str, value: object) -> tuple[str, ...]:
        if not isinstance(value, list) or not value or any(not isinstance(word, str) for word in value):
            raise self.wrong(key, "must have each command as a list of words", '["/usr/bin/x", "**"]')
        return tuple(value)

    def tables(self, key: str) -> tuple[Mapping[str, Any], ...]:
        """Return a list of tables."""
        value = self._take(key, [])
        if not isinstance(value, list) or any(not isinstance(one, dict) for one in value):
            raise self.wrong(key, "must be a list of tables", '[{htcondor = "/etc/..."}]')
        return tuple(value)


# Without urllib, which takes 4 ms of each start and accepts much that is not a server's address.
_URL = re.compile(
    r"(?P<scheme>https?)://(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<host>[a-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?/*",
    re.IGNORECASE,
)
_MOST_PORT = 65_535


class Server(NamedTuple):
    """The address of a server."""

    host: str
    port: int
    tls: bool

    @property
    def authority(self) -> str:
        """The value of the Host header."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.authority}"


def parse_server(read: Reader, text: str, plain: bool) -> Server:
    """Return the server of a URL; http:// only for this machine, or with `plain` in agent.toml."""
    found = _URL.fullmatch(text)
    port = int(found["port"] or 0) if found else 0
    if found is None or port > _MOST_PORT:
        raise read.wrong("server", f"is {text!r}, which is not https://HOST or https://HOST:PORT")
    host, tls = (found["six"] or found["host"]).lower(), found["scheme"].lower() == "https"
    if not tls and not plain and not is_loopback(host):
        raise read.wrong(
            "server", f"is {text!r}, and http:// is not encrypted", "Write https://, or plain = true."
        )
    return Server(host, port or (443 if tls else 80), tls)


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine itself."""
    return host in ("localhost", "::1") or bool(re.fullmatch(r"127(\.\d{1,3}){3}", host))


REPORT, REPAIR = "report", "repair"

_LABEL = "[A-Za-z0-9_](?:[A-Za-z0-9_-]*[A-Za-z0-9_])?"
_HOST = re.compile(rf"(?=.{{1,253}}\Z){_LABEL}(?:\.{_LABEL})*")


class Advert(NamedTuple):
    """What receives the node's description: a snippet for HTCondor at `path`, a command, or both."""

    path: str = ""
    command: tuple[str, ...] = ()


class Settings(NamedTuple):
    """The settings of agent.toml; times are in seconds. With `reach` 0, no check after an installation."""

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
        """Return the settings with more paths that gitcfg must never touch."""
        known = self.policy
        return self._replace(policy=Policy(known.paths, known.commands, (*known.never, *paths)))


def parse_settings(table: Mapping[str, Any], path: str, host: Callable[[], str]) -> Settings:
    """Return the settings of a table; `host` returns the name of the node if the table has none."""
    read = Reader(table, path)
    plain = read.switch("plain", False)
    servers = tuple(parse_server(read, one, plain) for one in read.texts("server"))
    keys = tuple(_parse_key(read, one) for one in read.texts("server_key"))
    if not servers or not keys:
        missing = "server" if not servers else "server_key"
        raise read.wrong(missing, "is missing", "`gitcfg serve` prints both lines when it starts.")
    node = read.text("node", "") or host()
    if not _HOST.fullmatch(node):
        raise read.wrong("node", f"is {node!r}, which is not a node's name")
    commands = tuple(read.lines("commands"))
    if any(not line[0].startswith("/") and line != ("**",) for line in commands):
        raise read.wrong("commands", "must have absolute paths of programs")
    settings = Settings(
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
        advertise=tuple(_parse_advert(Reader(one, f"{path}: advertise")) for one in read.tables("advertise")),
    )
    read.finished()
    return settings


def _parse_key(read: Reader, text: str) -> bytes:
    kind, _, body = text.partition(":")
    try:
        raw = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        raw = b""
    if kind != "ed25519" or len(raw) != 32:
        raise read.wrong("server_key", f"is {text!r}, which is not ed25519:BASE64 of 32 bytes")
    return raw


def _parse_advert(read: Reader) -> Advert:
    paths = tuple(read.paths("htcondor"))
    advert = Advert(paths[0] if paths else "", read.line("run"))
    if len(paths) > 1 or not (advert.path or advert.command):
        raise read.wrong("htcondor", "must be one path, or `run` a command")
    if advert.command and not advert.command[0].startswith("/"):
        raise read.wrong("run", "must have the absolute path of its program")
    read.finished()
    return advert


_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
_MOST_TRUSTED = 1 << 20
EXAMPLE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "example.toml")
"""An example of agent.toml with the keys that every node needs; it is part of the program."""


def read_trusted(path: str) -> bytes:
    """Return the content of a file that belongs to root (or this user) and that others cannot write.

    The same must hold for its folder. Owner and mode are those of the opened file, so that the file cannot be
    replaced between check and read.
    """
    try:
        folder = os.open(os.path.dirname(path) or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            _check_trusted(os.fstat(folder), os.path.dirname(path) or ".")
            file = os.open(os.path.basename(path), _FLAGS, dir_fd=folder)
        finally:
            os.close(folder)
    except FileNotFoundError:
        raise SettingsError(f"{path} does not exist.", f"Start with the example in {EXAMPLE}.") from None
    except OSError as error:
        hints = ("Run it as root.",) if isinstance(error, PermissionError) and os.geteuid() else ()
        raise SettingsError(f"Cannot read {path}: {error.strerror}.", *hints) from error
    try:
        found = os.fstat(file)
        if not stat.S_ISREG(found.st_mode):
            raise SettingsError(f"{path} is not a file.")
        _check_trusted(found, path)
        raw = read_open_file(file, _MOST_TRUSTED + 1)
    finally:
        os.close(file)
    if len(raw) > _MOST_TRUSTED:
        raise SettingsError(f"{path} is larger than {_MOST_TRUSTED >> 20} MiB.")
    return raw


def _check_trusted(found: os.stat_result, path: str) -> None:
    if found.st_uid not in (0, os.geteuid()):
        raise SettingsError(
            f"{path} belongs to the user {found.st_uid} instead of root.", f"Run `chown root {path}`."
        )
    if stat.S_IMODE(found.st_mode) & 0o022:
        raise SettingsError(f"{path} is writable by other users than its owner.", f"Run `chmod go-w {path}`.")


DEFAULT = "/etc/gitcfg/agent.toml"


def load_settings(root: str, config: str = "") -> Settings:
    """Return the settings of the node with its files below `root`; `config` is the path of agent.toml."""
    path = config or os.path.join(root, DEFAULT.lstrip("/"))
    settings = parse_settings(parse_toml(read_trusted(path), path), path, host_name)
    if settings.ca and not os.path.isfile(settings.ca):
        raise SettingsError(f"{path}: `ca` is {settings.ca}, which does not exist.")
    return settings.sparing(_own_paths(root, path, settings))


def host_name() -> str:
    """Return this machine's full name; DNS is only asked if the system's own name is a short one."""
    import socket

    name = socket.gethostname()
    return (name if "." in name else socket.getfqdn(name)).lower()


def parse_toml(raw: bytes, path: str) -> dict[str, Any]:
    """Return TOML as plain data. Python has a parser from 3.11 on; before, tomli is the same code."""
    try:
        toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    except ImportError:
        version = ".".join(map(str, sys.version_info[:2]))
        raise SettingsError(
            f"Python {version} cannot read TOML by itself.", "Install tomli, or use Python 3.11 or newer."
        ) from None
    try:
        table: dict[str, Any] = toml.loads(raw.decode())
    except (UnicodeDecodeError, toml.TOMLDecodeError) as error:
        raise SettingsError(f"{path} is not TOML: {error}.") from None
    return table


def _own_paths(root: str, path: str, settings: Settings) -> tuple[str, ...]:
    """Return more paths that no package may touch: this program, and the files that its settings name."""
    own = [_below(root, os.path.realpath(path)), settings.ca, *(one.path for one in settings.advertise)]
    if root == "/":
        own.append(f"{os.path.dirname(os.path.dirname(os.path.realpath(__file__)))}/**")
        if sys.prefix != sys.base_prefix:
            own.append(f"{sys.prefix}/**")
    return tuple(one for one in own if one)


def _below(root: str, path: str) -> str:
    top = os.path.realpath(root)
    return path if top == "/" else path[len(top) :] if path.startswith(f"{top}/") else ""
