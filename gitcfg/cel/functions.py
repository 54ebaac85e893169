"""The functions that expressions have from us: addresses and networks, of IPv4 and IPv6."""

from collections.abc import Callable
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import msgspec

if TYPE_CHECKING:
    from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network

_LONGEST = 100
"""The library takes as long as a text is, and repeats it in what it says."""

_Address: TypeAlias = "IPv4Address | IPv6Address"
_Network: TypeAlias = "IPv4Network | IPv6Network"


class Function(msgspec.Struct, frozen=True):
    """Its types are words as those of variables. A ValueError becomes CEL's error on that node."""

    name: str
    parameters: tuple[str, ...]
    gives: str
    call: Callable[..., Any]


def in_net(address: str, net: str) -> bool:
    """Is an address in a network? Not if one of them is IPv4 and the other IPv6."""
    return _address(address) in _network(net)


def net_of(address: str, prefix_length: int) -> str:
    """The network of an address."""
    found = _address(address)
    if not 0 <= prefix_length <= found.max_prefixlen:
        raise ValueError(f"{prefix_length} is no length of a prefix of {found}")
    return str(_library().ip_network((found.packed, prefix_length), strict=False))


def is_address(text: str) -> bool:
    """May a text be given to the others as an address?"""
    try:
        _address(text)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1024)
def _address(text: str) -> _Address:
    try:
        address: _Address = _library().ip_address(text if len(text) <= _LONGEST else "")
    except ValueError:
        raise ValueError(f"'{_short(text)}' is no address") from None
    return address


@lru_cache(maxsize=1024)
def _network(text: str) -> _Network:
    try:
        network: _Network = _library().ip_network(text if len(text) <= _LONGEST else "", strict=False)
    except ValueError:
        raise ValueError(f"'{_short(text)}' is no network") from None
    if network.network_address != _address(text.partition("/")[0]):
        raise ValueError(f"'{text}' is no network but an address in {network}")
    return network


@cache
def _library() -> Any:
    """Imported with the first address: it takes 4 ms."""
    import ipaddress

    return ipaddress


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


FUNCTIONS = (
    Function("in_net", ("string", "string"), "bool", in_net),
    Function("net_of", ("string", "int"), "string", net_of),
    Function("is_address", ("string",), "bool", is_address),
)
"""Cheap whatever they are given: 4 us for an address, seen before or not."""
