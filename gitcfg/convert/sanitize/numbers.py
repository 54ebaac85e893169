"""Pseudonyms of numbers of four digits and more, in the same order, of addresses and networks, and of ids."""

import binascii
import hmac
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from ipaddress import AddressValueError, IPv6Address

from gitcfg.load.keys import public_key, written
from gitcfg.model.age import ED25519, RSA, X25519, Recipient, Stanza, age_key, header, recipient

_NUMBER = re.compile(r"([-+]?0*)([1-9]\d{3,16})(\.\d*)?")
_OCTET = r"(\d{1,3})"
_ADDRESS = re.compile(rf"{_OCTET}\.{_OCTET}\.{_OCTET}\.{_OCTET}(?=[:/].*|$)")
_DASHED = re.compile(rf"{_OCTET}-{_OCTET}-{_OCTET}-{_OCTET}")
_ADDRESSES = re.compile(r"(\d+\.\d+\.\d+\.\d+)-(\d+\.\d+\.\d+\.\d+)")
_DATE = re.compile(r"\d{4}-\d\d-\d\d")
_LENGTH = re.compile(r"\d|[12]\d|3[0-2]")
_BITS = 32
_RUN = re.compile(r"\d+")
_LONG = re.compile(r"\d{4,}")
_BASED = re.compile(r"(0x)(?P<hex>[0-9a-fA-F]+)|(0o)(?P<octal>[0-7]+)|(?P<mantissa>[^eE]+)[eE].*")
_SHORT = 4
_TOO_LARGE = 1 << 53  # for the format, of any number
_MANY = 7  # this number of digits with signs between them may be a telephone number, not a version or time
_DRAWN = 64
"""Digits after the first 64 depend only on these, because long numbers would take quadratic time."""

Widths = Mapping[tuple[str, int], int | None]
"""The highest number in node sets, by the word before the brackets and the width of the numbers.

None if the numbers have several widths.
"""


class NumberPseudonyms:
    """Replacement of each number by another one, always the same with the same key; up to three digits stay.

    `widths` are those of numbers of more than four digits in node sets.
    """

    def __init__(self, key: bytes, widths: Widths | None = None) -> None:
        self._key = key
        self._widths = widths or {}
        self.known: dict[str, str] = {}

    def replace(self, text: str) -> str:
        """Return the pseudonym of digits with only `.:/-` and a sign among them."""
        if text not in self.known:
            self.known[text] = self._replace(text)
        return self.known[text]

    def _replace(self, text: str) -> str:
        number = _NUMBER.fullmatch(text)
        if number is not None:
            rest = number[3] or ""
            point = rest if len(rest) <= _SHORT + 1 else f".{self.replace_digits(rest[1:], number[2])}"
            return number[1] + str(self._ordered(int(number[2]), len(number[2]))) + point
        address = _ADDRESS.match(text)
        if address is not None and _are_octets(address.groups()):
            rest = text[address.end() :]
            other = ".".join(self._address(address.groups(), _prefix_length(rest)))
            return other + _LONG.sub(lambda found: self.replace(found[0]), rest)
        dashed, addresses = _DASHED.fullmatch(text), _ADDRESSES.fullmatch(text)
        if addresses is not None:
            return f"{self.replace(addresses[1])}-{self.replace(addresses[2])}"
        if dashed is not None and _are_octets(dashed.groups()):
            return "-".join(self._address(dashed.groups(), _BITS))
        if address is not None:
            return ".".join(map(self._replace_octet, address.groups())) + text[address.end() :]
        many = sum(map(str.isdecimal, text)) >= _MANY and not _DATE.fullmatch(text)
        runs = _RUN if many else _LONG
        return runs.sub(
            lambda found: self.replace_digits(found[0], text[: found.start()] if many else ""), text
        )

    def replace_limit(self, digits: str) -> str:
        """Return a number of the same length that is not larger, so that it is valid in the same place."""
        number, least = int(digits), 10 ** (len(digits) - 1)
        least = max(least, _TOO_LARGE) if number >= _TOO_LARGE else least
        return str(least + self._draw_number(f"limit {digits}", number - least + 1))

    def _replace_octet(self, digits: str) -> str:
        """Return a part of an invalid address: a part that is too large, or has leading zeros, stays so."""
        if int(digits) < 256:
            return self.replace_digits(digits) if digits.startswith("0") else digits
        return str(256 + (int(digits) - 256 + self._draw_number(f"octet {digits}", 744)) % 744)

    def replace_network(self, text: str) -> str:
        """Return the pseudonym of the beginning of an address, before a star."""
        octets = text.split(".")
        if not _are_octets(octets):
            return self.replace(text)
        return ".".join(self._address((*octets, *("0",) * (4 - len(octets))), _BITS)[: len(octets)])

    def replace_address(self, text: str) -> str:
        """Return the pseudonym of an IPv6 address or network; any other text is hexadecimal digits."""
        address, slash, length = text.partition("/")
        try:
            number = int(IPv6Address(address))
        except AddressValueError:
            return self.replace_hexadecimal(text)
        if number > 1:  # not the unspecified address, and not the loopback address
            bits = (
                number >> at & 1 ^ self._draw_number(f"bits6 {at} {number >> at + 1}", 2) for at in range(128)
            )
            other = sum(bit << at for at, bit in enumerate(bits))
            hosts = (1 << 128 - int(length)) - 1 if slash and length.isdecimal() and int(length) <= 128 else 0
            number = other & ~hosts if not number & hosts else other
        return f"{IPv6Address(number)}{slash}{length}"

    def replace_hexadecimal(self, text: str) -> str:
        """Replace the digits and the letters of hexadecimal numbers; the rest stays."""
        parts, before = [], ""
        for letter in text:
            parts.append(self._hex(before[:_DRAWN], letter))
            before += letter.lower() if letter.isalnum() and len(before) < _DRAWN else ""
        return "".join(parts)

    def _hex(self, before: str, letter: str) -> str:
        if letter.isdecimal():
            return str((int(letter) + self._draw_number(f"hex {before}", 10)) % 10)
        if letter.lower() not in "abcdef":
            return letter
        found = "abcdef"[("abcdef".index(letter.lower()) + self._draw_number(f"hex {before}", 6)) % 6]
        return found.upper() if letter.isupper() else found

    def replace_based(self, text: str) -> str:
        """Return the pseudonym of a number in another notation; up to four digits stay."""
        found = _BASED.fullmatch(text)
        if found is None or sum(map(str.isalnum, found[found.lastgroup or 0])) <= _SHORT:
            return text
        start, end = found.span(found.lastgroup or 0)
        if found["hex"]:
            return text[:start] + self.replace_hexadecimal(found["hex"])
        if found["octal"]:
            drawn = self._draw_number(f"octal {found['octal']}", 8 ** len(found["octal"][:_DRAWN]))
            return f"{text[:start]}{drawn:o}"
        return _LONG.sub(lambda run: self.replace_digits(run[0], "mantissa"), text[:end]) + text[end:]

    def replace_counted(self, stem: str, digits: str) -> str | None:
        """Return a number of a node set, shifted as all numbers of the set; None if it is in no set."""
        key = stem.lower(), len(digits)
        if key not in self._widths:
            return None
        highest, count = self._widths[key], 10 ** len(digits)
        if highest is None:
            return digits
        moved = (
            int(digits) + self._draw_number(f"range {stem.lower()} {len(digits)}", count - highest)
        ) % count
        return f"{moved:0{len(digits)}d}"

    def _ordered(self, number: int, digits: int) -> int:
        """Return a pseudonym that keeps the order: each half of a range gets a random part of the new range.

        Numbers of four digits get five, and so on, so that shorter numbers stay smaller.
        """
        low, high = int("1" + "0" * (digits - 1)), int("9" * digits)
        least, most = high + 1, 10 * high + 9
        while low < high:
            middle = (low + high) // 2
            spare = (most - least) - (high - low)
            cut = least + (middle - low) + self._draw_number(f"{low} {high}", spare + 1)
            if number <= middle:
                high, most = middle, cut
            else:
                low, least = middle + 1, cut + 1
        return least + self._draw_number(f"{number}", most - least + 1)

    def _address(self, octets: Sequence[str], length: int) -> list[str]:
        """Replace an address: equal prefixes stay equal, and the host bits of a network stay 0."""
        number = int.from_bytes(bytes(map(int, octets)), "big")
        hosts = (1 << _BITS - length) - 1
        # A bit depends on those before it.
        bits = (
            number >> at & 1 ^ self._draw_number(f"bits {at} {number >> at + 1}", 2) for at in range(_BITS)
        )
        other = sum(bit << at for at, bit in enumerate(bits))
        return [*map(str, (other & ~hosts if not number & hosts else other).to_bytes(4, "big"))]

    def replace_digits(self, digits: str, before: str = "") -> str:
        """Return the same number of other digits, each depending on those before.

        Leading zeros stay; none are added.
        """
        zeros = len(digits) - len(digits.lstrip("0"))
        first, rest = digits[zeros:_DRAWN], digits[max(zeros, _DRAWN) :]
        parts = [digits[:zeros]]
        for place, digit in enumerate(first):
            drawn = self._draw_number(
                f"digits {before[-_DRAWN:]}{digits[: zeros + place]}", 9 if not place else 10
            )
            parts.append(str((int(digit) - 1 + drawn) % 9 + 1 if not place else (int(digit) + drawn) % 10))
        shift = self._draw_number(f"digits {before[-_DRAWN:]}{first}", 10) if rest else 0
        return "".join([*parts, rest.translate({ord(d): str((int(d) + shift) % 10) for d in set(rest)})])

    def _draw_number(self, what: str, count: int) -> int:
        """Return a number from 0 to below the count, drawn with the key."""
        return int.from_bytes(hmac.digest(self._key, f"number {what}".encode(), "sha256"), "big") % count


def _are_octets(parts: Iterable[str]) -> bool:
    return all(int(part) < 256 and (part == "0" or not part.startswith("0")) for part in parts)


def _prefix_length(rest: str) -> int:
    """Return the prefix length after an address, or all bits if there is none."""
    length = rest.removeprefix("/")
    return int(length) if rest != length and _LENGTH.fullmatch(length) else _BITS


class SameNumbers(NumberPseudonyms):
    """Pseudonyms that keep all numbers, except parts of names and ids."""

    def replace(self, text: str) -> str:
        return text


# Pseudonyms of commits, keys and encrypted files, which have the same form and still belong together.

_COMMIT = re.compile(r"[0-9a-f]{7,64}")
_VERSION = b"age-encryption.org/v1\n"
_MARKS = "-----BEGIN AGE ENCRYPTED FILE-----", "-----END AGE ENCRYPTED FILE-----"
_DAMAGED = {
    "has damaged armor": f"{_MARKS[0]}\n".encode(),
    "has a damaged header": _VERSION,
    "is cut off": None,
}
_BROKEN = {
    "age1": "age1",
    f"{ED25519} ": f"{ED25519} AAAA",
    f"{RSA} ": f"{RSA} AAAA",
    "AGE-SECRET-KEY-": "AGE-SECRET-KEY-1",
}
_KNOWN = (X25519, ED25519, RSA, "scrypt")


class IdPseudonyms:
    """Replacement of each id by another one of the same form, always the same with the same key."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self.known: dict[str, str] = {}
        self._tags: dict[str, str] = {}

    def replace_commit(self, text: str) -> str | None:
        """Return another commit id of the same length; None if the text is not one.

        Equal prefixes stay equal.
        """
        if not _COMMIT.fullmatch(text):
            return None
        self.known[text] = "".join(self._digit(text[:place], digit) for place, digit in enumerate(text))
        return self.known[text]

    def replace_public_key(self, text: str) -> str | None:
        """Return another `ssh-ed25519 AAAA...`; None if the text is not such a key."""
        found = public_key(text)
        if found is None:
            return None
        self.known[text] = written(hmac.digest(self._key, b"key " + found, "sha256"))
        return self.known[text]

    def replace_recipient(self, text: str, prose: Callable[[str], str]) -> str | None:
        """Return another recipient of the same kind; None if the text is not such a key."""
        try:
            found = recipient(text)
        except ValueError:
            return None
        other = _replace_recipient(found, self._key)
        self.known[found.key] = other.key
        self._tags[found.tag] = other.tag
        return f"{other.key} {prose(found.comment)}".strip()

    def replace_sealed(self, data: bytes) -> bytes:
        """Return another encrypted file, for the pseudonyms of its recipients, as far as these are known."""
        return _replace_encrypted(data, self._key, self._tags)

    def _digit(self, before: str, digit: str) -> str:
        drawn = hmac.digest(self._key, f"commit {before}".encode(), "sha256")
        return f"{int(digit, 16) ^ drawn[0] & 15:x}"


def _replace_recipient(true: Recipient, key: bytes) -> Recipient:
    """Return another recipient of the same kind."""
    seed = hmac.digest(key, f"recipient {true.key}".encode(), "sha256")
    if true.kind == X25519:
        return recipient(age_key(seed))
    if true.kind == ED25519:
        return recipient(written(seed))
    number = b"\0\xff" + _draw(seed, "modulus", 255)  # looks like a key of 2048 bits
    wire = b"".join(len(part).to_bytes(4) + part for part in (b"ssh-rsa", b"\1\0\1", number))
    return recipient(f"ssh-rsa {_base64(wire)}")


def replace_invalid_key(text: str) -> str:
    """Return a text that is as invalid as a wrong recipient; "" if it does not look like one."""
    begin = next((begin for begin in _BROKEN if text.strip().startswith(begin)), "")
    return _BROKEN.get(begin, "")


def _replace_encrypted(data: bytes, key: bytes, tags: Mapping[str, str]) -> bytes:
    """Return a file for the same number of recipients without its content; `tags` maps old to new ones."""
    try:
        found = header(data)
    except ValueError as error:
        left = _DAMAGED.get(str(error), b"")
        return _make_file(key, "cut off", (Stanza(X25519),), tags)[:-32] if left is None else left
    other = _make_file(key, found.identity, found.stanzas, tags)
    if not data.lstrip().startswith(b"-----"):
        return other
    text = _base64(other)
    lines = (text[place : place + 64] for place in range(0, len(text), 64))
    return "".join(f"{line}\n" for line in (_MARKS[0], *lines, _MARKS[1])).encode()


def _make_file(key: bytes, name: str, stanzas: tuple[Stanza, ...], tags: Mapping[str, str]) -> bytes:
    seed = hmac.digest(key, f"sealed {name}".encode(), "sha256")
    lines = [line for number, one in enumerate(stanzas) for line in _make_stanza(seed, number, one, tags)]
    mac = f"--- {_unpadded_base64(_draw(seed, 'mac', 32))}"
    head = "".join(f"{line}\n" for line in (*lines, mac))
    return _VERSION + head.encode() + _draw(seed, "payload", 48)


def _make_stanza(seed: bytes, number: int, one: Stanza, tags: Mapping[str, str]) -> Iterator[str]:
    share = _unpadded_base64(_draw(seed, f"share {number}", 32))
    other = _unpadded_base64(hmac.digest(seed, f"tag {one.tag}".encode(), "sha256")[:4])
    tag = f" {tags.get(one.tag, other)}" if one.tag else ""
    yield f"-> {one.kind if one.kind in _KNOWN else 'other'}{tag} {share}"
    yield _unpadded_base64(_draw(seed, f"body {number}", 32))


def _draw(seed: bytes, what: str, size: int) -> bytes:
    blocks = (hmac.digest(seed, f"{what} {number}".encode(), "sha256") for number in range(size // 32 + 1))
    return b"".join(blocks)[:size]


def _base64(data: bytes) -> str:
    return binascii.b2a_base64(data, newline=False).decode()


def _unpadded_base64(data: bytes) -> str:
    return _base64(data).rstrip("=")
