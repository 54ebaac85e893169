"""Host keys that are known: files as OpenSSH keeps them (known_hosts), read, asked and added to."""

import base64
import binascii
import fcntl
import hmac
import os
from collections.abc import Iterable, Iterator
from contextlib import suppress
from fnmatch import fnmatchcase
from hashlib import sha256
from pathlib import Path

import msgspec

_PORT = 22
_HASHED = "|1|"
_REVOKED, _AUTHORITY = "@revoked", "@cert-authority"
_APPEND = os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC


class HostKey(msgspec.Struct, frozen=True):
    """A public key, `kind` and `body` as OpenSSH writes them; `place` is where it is known from."""

    kind: str
    body: str
    place: str = ""

    @property
    def fingerprint(self) -> str:
        """As `ssh-keygen -l` shows it; also of what is no key."""
        try:
            data = base64.b64decode(self.body)
        except (binascii.Error, ValueError):
            data = self.body.encode()
        return "SHA256:" + base64.b64encode(sha256(data).digest()).decode().rstrip("=")

    def same(self, other: "HostKey") -> bool:
        """Is it the same key, wherever it is known from?"""
        return (self.kind, self.body) == (other.kind, other.body)


class Hashed(msgspec.Struct, frozen=True):
    """A line about one name, of which only the hash stands there."""

    salt: bytes
    digest: bytes
    key: HostKey

    def fits(self, name: str) -> bool:
        """Is it about this one?"""
        return hmac.digest(self.salt, name.encode(), "sha1") == self.digest


class Patterns(msgspec.Struct, frozen=True):
    """A line about all names that its patterns fit."""

    hosts: str
    key: HostKey

    def fits(self, name: str) -> bool:
        """Is it about this one?"""
        patterns = self.hosts.split(",")
        refused = any(fnmatchcase(name, one[1:]) for one in patterns if one.startswith("!"))
        return not refused and any(fnmatchcase(name, one) for one in patterns if not one.startswith("!"))


class KnownHosts(msgspec.Struct, frozen=True):
    """What files say. Names without a pattern are found at once, whatever number of lines there is."""

    plain: dict[str, list[HostKey]]
    others: list[Hashed | Patterns]
    revoked: list[HostKey]

    def keys(self, host: str, port: int) -> tuple[HostKey, ...]:
        """The keys of a host; what is known without a port counts where nothing is known with it."""
        names = (host,) if port == _PORT else (f"[{host}]:{port}", host)
        return next(filter(None, map(self._of, names)), ())

    def _of(self, name: str) -> tuple[HostKey, ...]:
        found = self.plain.get(name.lower())
        return (*(found or ()), *(one.key for one in self.others if one.fits(name.lower())))


def named(host: str, port: int) -> str:
    """A host as these files name it."""
    return host if port == _PORT else f"[{host}]:{port}"


def read(files: Iterable[str]) -> KnownHosts:
    """What files say; one that is not there says nothing. OSError: one cannot be read."""
    found = KnownHosts({}, [], [])
    for file in files:
        path = Path(file)
        if path.is_file():
            for number, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
                _take(found, line, f"{file}:{number}")
    return found


def _take(found: KnownHosts, line: str, place: str) -> None:
    words = line.split()
    if not words or words[0].startswith("#"):
        return
    mark = words.pop(0) if words[0].startswith("@") else ""
    if len(words) < 3 or mark == _AUTHORITY:  # a host's certificate is nothing that paramiko can judge
        return
    hosts, key = words[0], HostKey(words[1], words[2], place)
    if mark == _REVOKED:
        found.revoked.append(key)
    elif hosts.startswith(_HASHED):
        found.others.extend(_hashed(hosts, key))
    elif any(sign in hosts for sign in "*?!"):
        found.others.append(Patterns(hosts.lower(), key))
    else:
        for name in hosts.lower().split(","):
            found.plain.setdefault(name, []).append(key)


def _hashed(text: str, key: HostKey) -> Iterator[Hashed]:
    """None where it is not what OpenSSH writes."""
    salt, _, digest = text.removeprefix(_HASHED).partition("|")
    with suppress(ValueError):
        yield Hashed(base64.b64decode(salt), base64.b64decode(digest), key)


def hashed(name: str, salt: bytes) -> str:
    """A name as `HashKnownHosts` wants it."""
    digest = hmac.digest(salt, name.encode(), "sha1")
    return f"{_HASHED}{base64.b64encode(salt).decode()}|{base64.b64encode(digest).decode()}"


def add(file: str, hosts: str, key: HostKey) -> None:
    """Add a line, whoever else does so too. OSError: it cannot be written."""
    path = Path(file)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    opened = os.open(path, _APPEND, 0o600)
    try:
        fcntl.flock(opened, fcntl.LOCK_EX)
        os.write(opened, "".join(_lines(opened, hosts, key)).encode())
    finally:
        os.close(opened)


def _lines(opened: int, hosts: str, key: HostKey) -> Iterator[str]:
    """The line, on one of its own."""
    size = os.fstat(opened).st_size
    if size and os.pread(opened, 1, size - 1) != b"\n":
        yield "\n"
    yield f"{hosts} {key.kind} {key.body}\n"
