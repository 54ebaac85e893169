"""Where a server listens, and whether what it says can be read along on the way."""

from __future__ import annotations

import re
from typing import NamedTuple

from .values import Reader

# Not by urllib, which takes 4 ms of each start, and takes much that is no server's address.
_URL = re.compile(
    r"(?P<scheme>https?)://(?:\[(?P<six>[0-9a-f:.]+)\]|(?P<host>[a-z0-9._-]+))(?::(?P<port>[0-9]{1,5}))?/*",
    re.IGNORECASE,
)
_MOST_PORT = 65_535


class Server(NamedTuple):
    """Where a server listens."""

    host: str
    port: int
    tls: bool

    @property
    def authority(self) -> str:
        """As the Host header has it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    def __str__(self) -> str:
        return f"{'https' if self.tls else 'http'}://{self.authority}"


def server_of(read: Reader, text: str, plain: bool) -> Server:
    """The server that a URL names; http:// only to this machine, or where agent.toml says `plain`."""
    found = _URL.fullmatch(text)
    port = int(found["port"] or 0) if found else 0
    if found is None or port > _MOST_PORT:
        raise read.wrong("server", f"is {text!r}; https://HOST or https://HOST:PORT is meant")
    host, tls = (found["six"] or found["host"]).lower(), found["scheme"].lower() == "https"
    if not tls and not plain and not loopback(host):
        raise read.wrong(
            "server", f"is {text!r}, and http:// lets others read along", "Write https://, or plain = true."
        )
    return Server(host, port or (443 if tls else 80), tls)


def loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    return host in ("localhost", "::1") or bool(re.fullmatch(r"127(\.\d{1,3}){3}", host))
