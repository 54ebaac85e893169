"""IP addresses as numbers: IPv4's as they are, IPv6's far above them."""

import re
from ipaddress import AddressValueError, IPv4Address, IPv6Address

from gitcfg.domain.problem import DomainProblem
from gitcfg.model.names import shown

SIX = 1 << 130
"""What IPv6's numbers begin with. So no interval can run from IPv4 into IPv6, and IPv4 sorts first."""

_LONGEST = len("ffff:ffff:ffff:ffff:ffff:ffff:255.255.255.255")
_FOUR = re.compile(r"[0-9]+(?:\.[0-9]+){3}")
_PADDED = re.compile(r"(?:^|\.)0[0-9]")


def number(value: object) -> int:
    """The number of an address that is written in any way. DomainProblem: it is none."""
    if not isinstance(value, str) or len(value) > _LONGEST or "%" in value:
        raise _none(value)
    try:
        return SIX + int(IPv6Address(value)) if ":" in value else int(IPv4Address(value))
    except AddressValueError:
        raise _none(value) from None


def _none(value: object) -> DomainProblem:
    text = str(value)
    hint = "write it like 10.0.0.1 or 2001:db8::1"
    if "%" in text:
        hint = "an address stands without the name of an interface"
    elif _PADDED.search(text) and ":" not in text:
        hint = "the parts of an IPv4 address have no zeros in front"
    elif _FOUR.fullmatch(text):
        hint = "the parts of an IPv4 address are between 0 and 255"
    return DomainProblem(f"'{shown(text)}' is no IP address", hint=hint)


def text(number: int) -> str:
    """The one way to write an address: compressed, lower case."""
    if number < SIX:
        return str(IPv4Address(number))
    address = IPv6Address(number - SIX)
    # Versions of Python differ in how they write these; RFC 5952 (section 5) recommends this.
    mapped = address.ipv4_mapped
    return f"::ffff:{mapped}" if mapped else str(address)


def bits(number: int) -> int:
    """How long the addresses of a number's family are."""
    return 32 if number < SIX else 128


def family(number: int) -> str:
    """A number's family, in words."""
    return "IPv4" if number < SIX else "IPv6"
