"""Blocks of addresses: `10.0.0.0/8`."""

import re

import msgspec

from gitcfg.domain import ip
from gitcfg.domain.problem import DomainProblem
from gitcfg.model.names import shown

_LENGTH = re.compile(r"[0-9]{1,3}")


class Block(msgspec.Struct, frozen=True, gc=False):
    """The addresses that agree in their first `length` bits."""

    first: int
    length: int

    @property
    def last(self) -> int:
        """Its last address."""
        return self.first + (1 << ip.bits(self.first) - self.length) - 1

    def __str__(self) -> str:
        return f"{ip.text(self.first)}/{self.length}"


def block(value: object) -> Block:
    """The block that a text stands for. DomainProblem: it is none, or bits after its length are set."""
    address, slash, length = value.partition("/") if isinstance(value, str) else ("", "", "")
    if not slash:
        raise DomainProblem(
            f"'{shown(str(value))}' is no network", hint="write an address and a length: 10.0.0.0/8"
        )
    number = ip.number(address)
    found = Block(number, length_of(length, number, len(address) + 2))
    within = number % (found.last - number + 1)
    if within:
        whole = Block(number - within, found.length)
        raise DomainProblem(
            f"{ip.text(number)} is an address within {whole}, not its first",
            hint=f"write {whole} for the network, {ip.text(number)} for the address",
        )
    return found


def length_of(text: str, number: int, column: int) -> int:
    """The length of a network's prefix, as it is written. DomainProblem: the address is not so long."""
    most = ip.bits(number)
    if not _LENGTH.fullmatch(text) or int(text) > most:
        raise DomainProblem(
            f"'{shown(text)}' is no prefix length of {ip.family(number)}",
            column,
            f"it is between 0 and {most}",
        )
    return int(text)


def whole(first: int, last: int) -> Block | None:
    """The block that holds just these addresses."""
    count = last - first + 1
    if count & (count - 1) or first % count:
        return None
    return Block(first, ip.bits(first) - count.bit_length() + 1)
