"""Where requests come from: a proxy that is trusted says it of others, and nobody else does."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import msgspec
from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
FOR, PROTO = "X-Forwarded-For", "X-Forwarded-Proto"


class Origin(msgspec.Struct, frozen=True):
    """Where a request comes from; `secure`: over TLS. `disbelieved`: what a proxy says of it counts not.

    `near`: from this very machine, and of nobody else's as far as can be told.
    """

    address: str
    secure: bool
    disbelieved: bool = False
    near: bool = False

    @property
    def private(self) -> bool:
        """Can nobody on the way read the answer?"""
        return self.secure or self.near


ORIGIN = web.RequestKey("origin", Origin)


def origin(request: web.Request, trusted: Sequence[Network]) -> Origin:
    """Where a request comes from: the last one on the way to here that is no trusted proxy.

    What stands to the left of that one anybody may have written. `Forwarded` (RFC 7239) is not read:
    a proxy that writes one of the two lets the other one through as it came.
    """
    peer, secure = _address(request.remote or ""), request.secure
    said = FOR in request.headers or PROTO in request.headers
    if peer is None or not _among(trusted, peer):
        near = peer is not None and peer.is_loopback and not said
        return Origin(request.remote or "", secure, disbelieved=said, near=near)
    for text in reversed(_items(request, FOR)):
        found = _address(text)
        if found is None:
            break
        peer = found
        if not _among(trusted, found):
            break
    return Origin(str(peer), secure or _items(request, PROTO)[-1:] == ["https"])


def network(text: str) -> Network:
    """An address or a network, as it is trusted. GitcfgError: it is neither."""
    try:
        return ip_network(text)
    except ValueError:
        hint = "Write 10.0.0.7, 10.0.0.0/24 or 2001:db8::/64."
        raise GitcfgError(f"{shown(text)} is no address and no network.", hint) from None


def _among(networks: Sequence[Network], address: Address) -> bool:
    return any(address in one for one in networks)


def _items(request: web.Request, name: str) -> list[str]:
    """What a header lists, which may stand there more than once."""
    return [item.strip() for item in ",".join(request.headers.getall(name, ())).split(",")]


def _address(text: str) -> Address | None:
    """An address, which some proxies write with a port; None: it is none."""
    host = text.partition("]")[0].removeprefix("[") if text.startswith("[") else text
    host = host.partition(":")[0] if host.count(":") == 1 else host
    try:
        found = ip_address(host)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
