"""Where requests come from: only trusted proxies may say it of others."""

from collections.abc import Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import msgspec
from aiohttp import web

from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
FORWARDED_FOR, FORWARDED_PROTO = "X-Forwarded-For", "X-Forwarded-Proto"


class Origin(msgspec.Struct, frozen=True):
    """Where a request comes from; `secure`: over TLS. `disbelieved`: it has headers of an untrusted proxy.

    `near`: from this very machine, and of nobody else's as far as can be told.
    """

    address: str
    secure: bool
    disbelieved: bool = False
    near: bool = False

    @property
    def private(self) -> bool:
        """Whether nobody on the way can read the answer."""
        return self.secure or self.near


ORIGIN = web.RequestKey("origin", Origin)


def find_origin(request: web.Request, trusted: Sequence[Network]) -> Origin:
    """Find where a request comes from: the last address on its way that is no trusted proxy.

    What stands to the left of that one anybody may have written. `Forwarded` (RFC 7239) is not read:
    a proxy that writes one of the two lets the other one through as it came.
    """
    peer, secure = _parse_address(request.remote or ""), request.secure
    forwarded = FORWARDED_FOR in request.headers or FORWARDED_PROTO in request.headers
    if peer is None or not _is_in(trusted, peer):
        near = peer is not None and peer.is_loopback and not forwarded
        return Origin(request.remote or "", secure, disbelieved=forwarded, near=near)
    for text in reversed(_list_header(request, FORWARDED_FOR)):
        found = _parse_address(text)
        if found is None:
            break
        peer = found
        if not _is_in(trusted, found):
            break
    return Origin(str(peer), secure or _list_header(request, FORWARDED_PROTO)[-1:] == ["https"])


def parse_network(text: str) -> Network:
    """Parse an address or a network. Raise GitcfgError if it is neither."""
    try:
        return ip_network(text)
    except ValueError:
        hint = "Write 10.0.0.7, 10.0.0.0/24 or 2001:db8::/64."
        raise GitcfgError(f"{shown(text)} is no address and no network.", hint) from None


def _is_in(networks: Sequence[Network], address: Address) -> bool:
    return any(address in one for one in networks)


def _list_header(request: web.Request, name: str) -> list[str]:
    """Return the items of a header, which may occur more than once."""
    return [item.strip() for item in ",".join(request.headers.getall(name, ())).split(",")]


def _parse_address(text: str) -> Address | None:
    """Parse an address, which some proxies write with a port; None if it is none."""
    host = text.partition("]")[0].removeprefix("[") if text.startswith("[") else text
    host = host.partition(":")[0] if host.count(":") == 1 else host
    try:
        found = ip_address(host)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found
