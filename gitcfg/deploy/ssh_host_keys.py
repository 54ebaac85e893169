"""Host keys: the files of OpenSSH (known_hosts), and the decision whether to trust a host's key."""

import base64
import binascii
import fcntl
import hmac
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path
from typing import Any

import msgspec

from gitcfg.deploy.network import ConnectError
from gitcfg.deploy.outcomes import Outcome

_PORT = 22
_HASHED = "|1|"
_REVOKED, _AUTHORITY = "@revoked", "@cert-authority"
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
_USER = "~/.ssh/known_hosts ~/.ssh/known_hosts2"
_SYSTEM = "/etc/ssh/ssh_known_hosts /etc/ssh/ssh_known_hosts2"
_RSA = ("rsa-sha2-512", "rsa-sha2-256")
"""The signature algorithms of hosts with a key of the kind ssh-rsa."""


class HostKey(msgspec.Struct, frozen=True):
    """A public key, `kind` and `body` as OpenSSH writes them; `place` is its source."""

    kind: str
    body: str
    place: str = ""

    @property
    def fingerprint(self) -> str:
        """The fingerprint as `ssh-keygen -l` shows it; also of text that is not a key."""
        try:
            data = base64.b64decode(self.body)
        except (binascii.Error, ValueError):
            data = self.body.encode()
        return "SHA256:" + base64.b64encode(sha256(data).digest()).decode().rstrip("=")

    def same(self, other: "HostKey") -> bool:
        """Return whether it is the same key, from any source."""
        return (self.kind, self.body) == (other.kind, other.body)


class HashedEntry(msgspec.Struct, frozen=True):
    """A line about one name, of which the file has only the hash."""

    salt: bytes
    digest: bytes
    key: HostKey

    def fits(self, name: str) -> bool:
        """Return whether it is about this host."""
        return hmac.digest(self.salt, name.encode(), "sha1") == self.digest


class PatternEntry(msgspec.Struct, frozen=True):
    """A line about all names that match its patterns."""

    hosts: str
    key: HostKey

    def fits(self, name: str) -> bool:
        """Return whether it is about this host."""
        patterns = self.hosts.split(",")
        refused = any(fnmatchcase(name, one[1:]) for one in patterns if one.startswith("!"))
        return not refused and any(fnmatchcase(name, one) for one in patterns if not one.startswith("!"))


class KnownHosts(msgspec.Struct, frozen=True):
    """The content of files. Names without a pattern are found at once, for any number of lines."""

    plain: dict[str, list[HostKey]]
    others: list[HashedEntry | PatternEntry]
    revoked: list[HostKey]

    def keys(self, host: str, port: int) -> tuple[HostKey, ...]:
        """Return the keys of a host; those without a port count if there are none with it."""
        for name in (host,) if port == _PORT else (f"[{host}]:{port}", host):
            low = name.lower()
            keys = (*self.plain.get(low, ()), *(entry.key for entry in self.others if entry.fits(low)))
            if keys:
                return keys
        return ()


def format_host(host: str, port: int) -> str:
    """Return a host's name in these files."""
    return host if port == _PORT else f"[{host}]:{port}"


def read_known_hosts(files: Iterable[str]) -> KnownHosts:
    """Read files, without those that do not exist. Raise OSError if one cannot be read."""
    found = KnownHosts({}, [], [])
    for file in files:
        path = Path(file)
        if path.is_file():
            for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
                _add_line(found, line, f"{file}:{number}")
    return found


def _add_line(found: KnownHosts, line: str, place: str) -> None:
    words = line.split()
    if not words or words[0].startswith("#"):
        return
    mark = words.pop(0) if words[0].startswith("@") else ""
    if len(words) < 3 or mark == _AUTHORITY:  # paramiko cannot check a host's certificate
        return
    hosts, key = words[0], HostKey(words[1], words[2], place)
    if mark == _REVOKED:
        found.revoked.append(key)
    elif hosts.startswith(_HASHED):
        salt, _, digest = hosts.removeprefix(_HASHED).partition("|")
        with suppress(ValueError):  # not the format of OpenSSH
            found.others.append(HashedEntry(base64.b64decode(salt), base64.b64decode(digest), key))
    elif any(sign in hosts for sign in "*?!"):
        found.others.append(PatternEntry(hosts.lower(), key))
    else:
        for name in hosts.lower().split(","):
            found.plain.setdefault(name, []).append(key)


def hash_host(name: str, salt: bytes) -> str:
    """Return a name in the form of `HashKnownHosts`."""
    digest = hmac.digest(salt, name.encode(), "sha1")
    return f"{_HASHED}{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def add_host_key(file: str, hosts: str, key: HostKey) -> None:
    """Add a line, safely beside other writers. Raise OSError if it cannot be written."""
    path = Path(file)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = os.open(path, _APPEND, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        size = os.fstat(opened).st_size
        is_torn = size and os.pread(opened, 1, size - 1) != b"\n"
        line = f"{hosts} {key.kind} {key.body}\n"
        os.write(opened, (f"\n{line}" if is_torn else line).encode())
    finally:
        os.close(opened)


class Host(msgspec.Struct, frozen=True):
    """A host by the names of its keys: its address, or else what it is `called`.

    `node` is the node's key in the repository (keys/), which may be its host key, or its agent's own.
    """

    name: str
    port: int
    called: str = ""
    node: HostKey | None = None

    def keys(self, known: KnownHosts) -> tuple[HostKey, ...]:
        """Return the known keys of the host."""
        return known.keys(self.name, self.port) or known.keys(self.called, self.port)


class Distrust(msgspec.Struct, frozen=True):
    """Why a host is not trusted; `new` means that the only reason is that it is unknown."""

    message: str
    hints: tuple[str, ...] = ()
    new: bool = False


def judge_host_key(known: KnownHosts, host: Host, shown: HostKey) -> Distrust | None:
    """Return why a host with this key must not be trusted, None if it is the expected host."""
    revoked = next((key for key in known.revoked if key.same(shown)), None)
    if revoked is not None:
        return Distrust(f"Its host key {shown.fingerprint} is revoked ({revoked.place}).")
    keys = host.keys(known)
    if any(key.same(shown) for key in keys) or (host.node is not None and host.node.same(shown)):
        return None
    return _explain_another(host, shown, keys) if keys else _explain_unknown(host, shown)


def find_kinds(known: KnownHosts, host: Host) -> tuple[str, ...]:
    """Return the kinds of the known keys, which the host should be asked for."""
    keys = host.keys(known) or ((host.node,) if host.node is not None else ())
    return tuple(dict.fromkeys(key.kind for key in keys))


def _explain_another(host: Host, shown: HostKey, keys: tuple[HostKey, ...]) -> Distrust:
    key = next((one for one in keys if one.kind == shown.kind), keys[0])
    same = "" if key.kind == shown.kind else f"{key.kind} "
    return Distrust(
        f"Its host key has changed: it is {shown.kind} {shown.fingerprint} instead of"
        f" {same}{key.fingerprint} ({key.place}).",
        (
            "Another machine may be answering. If the node was reinstalled, compare the key on the"
            " node itself,"
            f" then remove the old one: `ssh-keygen -R '{format_host(host.name, host.port)}'`.",
        ),
    )


def _explain_unknown(host: Host, shown: HostKey) -> Distrust:
    message = f"Its host key is not known: {shown.kind} {shown.fingerprint}."
    if host.node is not None:
        message += f" keys/ has another key of it, {host.node.fingerprint}, which may be its agent's."
    return Distrust(
        message,
        (
            "Run `ssh-keygen -lf /etc/ssh/ssh_host_ed25519_key.pub` on the node itself to compare it.",
            "Log in once with `ssh` to trust it, or use `--accept-new` to trust and record all unknown keys.",
        ),
        new=True,
    )


class Trust:
    """A host key policy for paramiko, which gets no known keys and therefore asks for each host.

    `options` are those of ssh_config for the host. They may name other files, but cannot make the policy less
    strict.
    """

    def __init__(self, known: KnownHosts, host: Host, options: Mapping[str, Any], accept_new: bool) -> None:
        self._known = known
        self._host = host
        self._options = options
        self._accept_new = accept_new

    def key_types(self) -> tuple[str, ...]:
        """Return the signature algorithms of the known keys; without them, the host may show another key."""
        kinds = find_kinds(self._known, self._host)
        return tuple(name for kind in kinds for name in (_RSA if kind == "ssh-rsa" else (kind,)))

    def missing_host_key(self, client: object, hostname: str, key: Any) -> None:
        """Judge the key that a host has shown and proved to have. Raise ConnectError if it is not trusted."""
        shown = HostKey(key.get_name(), key.get_base64())
        wrong = judge_host_key(self._known, self._host, shown)
        if wrong is None:
            return
        if not (wrong.new and self._accept_new):
            raise ConnectError(Outcome.HOST_KEY, wrong.message, *wrong.hints)
        self._remember(shown)

    def _remember(self, shown: HostKey) -> None:
        file = _files(self._options, "userknownhostsfile", _USER)[0]
        name = format_host(self._host.name, self._host.port)
        if self._options.get("hashknownhosts") == "yes":
            name = hash_host(name, os.urandom(20))
        try:
            add_host_key(file, name, shown)
        except OSError as error:
            message = f"Cannot record its new host key in {file}: {error.strerror}."
            raise ConnectError(Outcome.HOST_KEY, message) from None


def find_files(options: Mapping[str, Any]) -> tuple[str, ...]:
    """Return all files of host keys for a host with these options of ssh_config."""
    return (*_files(options, "userknownhostsfile", _USER), *_files(options, "globalknownhostsfile", _SYSTEM))


def _files(options: Mapping[str, Any], option: str, default: str) -> tuple[str, ...]:
    names = str(options.get(option) or default).replace('"', "").split()
    return tuple(os.path.expanduser(name) for name in names if name != "none")
