"""Numbers for numbers: those of four digits and more, in order and equality; addresses by their bits."""

import hmac
import re

_NUMBER = re.compile(r"([-+]?0*)([1-9]\d{3,16})(\.\d*)?")
_ADDRESS = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})(?=[:/].*|$)")
_LENGTH = re.compile(r"\d|[12]\d|3[0-2]")
_BITS = 32
_LONG = re.compile(r"\d{4,}")


class Figures:
    """Other figures, always the same with the same key. Up to three digits alone say nothing: they stay."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.known: dict[str, str] = {}

    def of(self, text: str) -> str:
        """What stands for digits with only `.:/-` and a sign among them."""
        if text not in self.known:
            self.known[text] = self._other(text)
        return self.known[text]

    def _other(self, text: str) -> str:
        number = _NUMBER.fullmatch(text)
        if number is not None:
            return number[1] + str(self._ordered(int(number[2]), len(number[2]))) + (number[3] or "")
        address = _ADDRESS.match(text)
        if address is not None and all(int(octet) < 256 for octet in address.groups()):
            return self._address(address.groups()[:4], _length(text[address.end() :])) + text[address.end() :]
        return _LONG.sub(lambda found: self._digits(found[0]), text)

    def _ordered(self, number: int, digits: int) -> int:
        """A larger number for a larger one: halves of what may stand get parts of the new range by chance.

        Of four digits five are made, and so on: so all that are shorter stay below.
        """
        low, high = int("1" + "0" * (digits - 1)), int("9" * digits)
        least, most = high + 1, 10 * high + 9
        while low < high:
            middle = (low + high) // 2
            spare = (most - least) - (high - low)
            cut = least + (middle - low) + self._drawn(f"{low} {high}", spare + 1)
            if number <= middle:
                high, most = middle, cut
            else:
                low, least = middle + 1, cut + 1
        return least + self._drawn(f"{number}", most - least + 1)

    def _address(self, octets: tuple[str, ...], length: int) -> str:
        """Addresses of a network stay in one, whatever its length; a network's own bits of hosts stay 0."""
        number = int.from_bytes(bytes(map(int, octets)), "big")
        hosts = (1 << _BITS - length) - 1
        other = sum(self._bit(number, at) << at for at in range(_BITS))
        return ".".join(map(str, (other & ~hosts if not number & hosts else other).to_bytes(4, "big")))

    def _bit(self, number: int, at: int) -> int:
        """What stands for one bit: it depends on those before it, so that equal beginnings stay equal."""
        return number >> at & 1 ^ self._drawn(f"bits {at} {number >> at + 1}", 2)

    def _digits(self, digits: str) -> str:
        """As many others; which one depends on those before."""
        return "".join(
            str((int(digit) + self._drawn(f"digits {digits[:place][:64]}", 10)) % 10)
            for place, digit in enumerate(digits)
        )

    def _drawn(self, what: str, count: int) -> int:
        """A number from 0 to below the count."""
        return int.from_bytes(hmac.digest(self._key, f"number {what}".encode(), "sha256"), "big") % count


def _length(rest: str) -> int:
    """How many bits name the network, by what stands behind an address; all where nothing does."""
    length = rest.removeprefix("/")
    return int(length) if rest != length and _LENGTH.fullmatch(length) else _BITS


class SameFigures(Figures):
    """All figures stay."""

    def __init__(self) -> None:
        super().__init__(b"")

    def of(self, text: str) -> str:
        return text
