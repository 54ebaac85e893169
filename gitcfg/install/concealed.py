"""The true content of a file that holds secrets: in memory alone, on the disk only by its SHA-256."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from .fields import hexadecimal, known, mapping, number

_KEYS = ("sha256", "size")
_LENGTHS = (64,)


class Hidden:
    """`content` is None where it is not known here; two of the same SHA-256 are the same.

    No tuple: what is written or told of a package by mistake must not have the content in it.
    """

    __slots__ = ("content", "sha256", "size")

    def __init__(self, sha256: str, size: int, content: bytes | None = None) -> None:
        self.sha256 = sha256
        self.size = size
        self.content = content

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Hidden) and (self.sha256, self.size) == (other.sha256, other.size)

    def __hash__(self) -> int:
        return hash(self.sha256)

    def __repr__(self) -> str:
        return f"<hidden {self.sha256[:8]}>"

    def __reduce__(self) -> str:
        raise TypeError("A hidden content is never written.")


UNKNOWN = Hidden("unknown", 0)
"""Of a file whose content nobody has handed along: what stands is never it."""


def hidden_content(content: bytes) -> Hidden:
    """A content that is known."""
    return Hidden(hashlib.sha256(content).hexdigest(), len(content), content)


def hidden_to_json(found: Hidden) -> dict[str, Any]:
    """What a record keeps: `sealed` null says that the content shown is not the one that stands."""
    return {
        "sealed": None,
        "hidden": None if found == UNKNOWN else {"sha256": found.sha256, "size": found.size},
    }


def hidden_from_json(said: Mapping[str, Any], where: str, most: int) -> Hidden | None:
    """Of a file that holds secrets what is known of its content; None for any other file."""
    if said.get("hidden") is None:
        return UNKNOWN if "sealed" in said else None
    kept = mapping(said["hidden"], f"{where}: hidden")
    known(kept, f"{where}: hidden", _KEYS)
    digest = hexadecimal(kept.get("sha256"), f"{where}: sha256", _LENGTHS)
    return Hidden(digest, int(number(kept.get("size"), f"{where}: size", most)))
