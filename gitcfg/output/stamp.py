"""Stamps, by which a file says itself that gitcfg wrote it, and that nobody has changed it since.

A stamp holds the digest of all else in its file. It goes with the file into git and out of it, where line
ends may have changed.
"""

import hashlib
import re

_NONE = "0" * 64
_STAMP = "<!-- Made by gitcfg export docs; changes will be lost. sha256:{} -->\n"
_STAMPED = re.compile(
    rb"\A(?:<!DOCTYPE html>\n)?<!-- Made by gitcfg export docs; [a-z .]*sha256:([0-9a-f]{64}) -->\n"
)
HEAD = 256
"""Bytes that hold any stamp."""


def add_stamp(text: str, before: str = "") -> bytes:
    """A file that says that gitcfg wrote it; what has to stand `before` that is its first line."""
    blank = (before + _STAMP.format(_NONE) + text).encode("utf-8", "backslashreplace")
    return blank.replace(_NONE.encode(), hashlib.sha256(blank).hexdigest().encode(), 1)


def is_ours(content: bytes) -> bool:
    """Has gitcfg written this, and nobody changed it?"""
    plain = normalize_line_ends(content)
    stamp = _STAMPED.match(plain)
    if stamp is None:
        return False
    blank = plain.replace(stamp[1], _NONE.encode(), 1)
    return hashlib.sha256(blank).hexdigest().encode() == stamp[1]


def has_stamp(head: bytes) -> bool:
    """Is there a stamp at all in the beginning of a file, be it true or not?"""
    return _STAMPED.match(normalize_line_ends(head)) is not None


def normalize_line_ends(content: bytes) -> bytes:
    """A content with the line ends that gitcfg writes."""
    return content.replace(b"\r\n", b"\n")
