"""Where a server listens, and whether what it says can be read along on the way."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .values import Reader


@dataclass(frozen=True)
class Server:
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
    from urllib.parse import urlsplit

    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        host, port = "", None
    rest = (parts.path.strip("/"), parts.query, parts.fragment, parts.username or "") if host else ("",)
    if not host or parts.scheme not in ("http", "https") or any(rest):
        raise read.wrong("server", f"is {text!r}; https://HOST or https://HOST:PORT is meant")
    tls = parts.scheme == "https"
    if not tls and not plain and not loopback(host):
        raise read.wrong(
            "server", f"is {text!r}, and http:// lets others read along", "Write https://, or plain = true."
        )
    return Server(host, port or (443 if tls else 80), tls)


def loopback(host: str) -> bool:
    """Whether a host is this machine itself."""
    return host in ("localhost", "::1") or bool(re.fullmatch(r"127(\.\d{1,3}){3}", host))
