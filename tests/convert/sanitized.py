"""Sanitized repositories beside their originals, for the tests of what they have in common."""

import binascii
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

from gitcfg.cache import NoCache
from gitcfg.comparison.change import Change
from gitcfg.convert.sanitize.sanitizer import Sanitizer
from gitcfg.convert.sanitize.words import (
    CALLED,
    CEL,
    CHOICES,
    EVERYWHERE,
    JINJA,
    PREFIXES,
    SCHEMA,
    SCHEMA_CHOICES,
    keys,
)
from gitcfg.git.tree import Content, DictTree
from gitcfg.library import Fleet
from gitcfg.model.names import FOLDERS

TODAY = date(2026, 1, 1)
FORMAT = {
    part
    for words in (CALLED, CEL, CHOICES, EVERYWHERE, FOLDERS, JINJA, PREFIXES, SCHEMA, SCHEMA_CHOICES, keys())
    for word in words
    for part in re.findall(r"[^\W\d_]+", word.lower())
}
FORMAT |= {"gitcfg", "aaaac", "nzac", "lzdi", "aaaai"}  # the last are how every Ed25519 key begins
FORMAT |= {"ansible", "vault", "pkcs", "data", "message", "private", "begin", "encrypted", "file", "openssh"}
FORMAT |= {"secret", "aaaa"}
FORMAT |= {
    "random",
    "choice",
    "integer",
    "string",
    "substr",
    "basename",
    "dirname",
    "eval",
    "real",
}  # $REAL(x)


def fleet(
    files: Mapping[str, Content], before: Mapping[str, Content] | None = None, today: date = TODAY
) -> Fleet:
    """The fleet of files in memory, of which nothing is kept."""
    return Fleet(DictTree(files), DictTree(before) if before else None, today, NoCache())


def sanitized(
    versions: Sequence[Mapping[str, Content]], key: bytes = b"a key of tests"
) -> tuple[Sanitizer, list[Mapping[str, Content]]]:
    """Versions of one repository in other words."""
    trees = [DictTree(files) for files in versions]
    sanitizer = Sanitizer(key, trees)
    return sanitizer, [sanitizer.files(tree) for tree in trees]


def outlined(changes: Sequence[Change], sanitizer: Sanitizer | None = None) -> Counter[tuple[Any, ...]]:
    """What changes say, without values; in a sanitizer's words if there is one."""
    return Counter(_outline(change, sanitizer) for change in changes)


def _outline(change: Change, sanitizer: Sanitizer | None) -> tuple[Any, ...]:
    parts: tuple[Any, ...] = (
        *(change.nodes, change.params, change.files, change.features.added, change.features.removed),
        *(change.groups.added, change.groups.removed, change.restart, change.reload, change.stop),
    )
    new = sanitizer.names.replace_name if sanitizer is not None else str
    return (str(change.kind), *(tuple(sorted(map(new, part))) for part in parts))


def words(files: Mapping[str, Content]) -> set[str]:
    """Words of more than three letters, of paths and texts, that are none of the format's.

    What is encrypted has none: of that see `pieces`.
    """
    pairs = ((path, "" if path.endswith(".age") else data) for path, data in files.items())
    texts = (text for pair in pairs for text in map(_text, pair))
    found = {word.lower() for text in texts for word in re.findall(r"[^\W\d_]{4,}", text)}
    return found - FORMAT


def _text(content: Content) -> str:
    if isinstance(content, bytes):
        return content.decode(errors="replace")
    return content if isinstance(content, str) else ""


def pieces(files: Mapping[str, Content]) -> set[str]:
    """What encrypted files hold, in pieces that no two have by chance."""
    texts = (_bare(_text(data)) for path, data in files.items() if path.endswith(".age"))
    return {text[place : place + 12] for text in texts for place in range(len(text) - 12)}


def _bare(text: str) -> str:
    """Without armor, and without what all such files say."""
    lines = text.splitlines()
    if text.startswith("-----BEGIN"):
        raw = "".join(line for line in lines if not line.startswith("-----"))
        text = binascii.a2b_base64(raw + "===").decode("latin-1")
    return re.sub(r"age-encryption\.org/v1\n|-> (?:X25519|ssh-ed25519|scrypt) |\n--- ", "", text)
