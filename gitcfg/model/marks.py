"""What other tools' encrypted text and private keys look like, wherever text is written."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

_MARKS: Mapping[str, str] = {
    "ansible": r"\$ANSIBLE_VAULT;\d",
    "eyaml": r"ENC\[(?:PKCS7|GPG|KMS|GKMS),[A-Za-z0-9+/]",
    "sops": r"ENC\[AES256_GCM,data:",
    "pgp": r"-----BEGIN PGP MESSAGE-----",
    "age": r"-----BEGIN AGE ENCRYPTED FILE-----",
    "identity": r"AGE-SECRET-KEY-1[A-Z0-9]{16}",
    # The key itself, with what PEM may say above it: a template that only frames a key holds none. All is
    # bounded, for whoever pushes may write megabytes of beginnings.
    "pem": r"-----BEGIN (?:[A-Z0-9]{1,16} ){0,3}PRIVATE KEY-----(?:\s|\\[nr]){0,8}"
    r"(?:[A-Za-z-]{1,32}: [^\n]{0,256}\n\s{0,8}){0,4}[A-Za-z0-9+/]{16}",
}
WORDS: Mapping[str, str] = {
    "ansible": "text that Ansible Vault encrypted",
    "eyaml": "text that hiera-eyaml encrypted",
    "sops": "text that sops encrypted",
    "pgp": "text that PGP encrypted",
    "age": "text that age encrypted",
    "identity": "a private key of age",
    "pem": "a private key",
}
"""What a mark is a mark of."""
OPEN = frozenset({"identity", "pem"})
"""The marks of what everybody can read."""
_SHORTEST = 16  # no mark is shorter, and most values are
_PARTS = ("$ANSIBLE_VAULT;", "ENC[", "-----BEGIN ", "AGE-SECRET-KEY-1")
"""Each mark has one of them: to look for these takes a twentieth of the time."""
_KEY = "KEY-"
_OPEN_PARTS = ("PRIVATE KEY-----", "AGE-SECRET-KEY-1")
_MARK = re.compile("|".join(f"(?P<{name}>{mark})" for name, mark in _MARKS.items()))
_OPEN_MARK = re.compile("|".join(f"(?P<{name}>{_MARKS[name]})" for name in sorted(OPEN)))
_END = "-----END "


def marked(text: str) -> re.Match[str] | None:
    """The first such thing in a text; its group says which."""
    return _MARK.search(text) if any(part in text for part in _PARTS) else None


def mark_in(value: Any) -> str:
    """The mark that stands in a value, or in one inside it; nothing if none does."""
    if type(value) is str:
        found = marked(value) if len(value) >= _SHORTEST else None
        return (found.lastgroup or "") if found else ""
    if type(value) is dict or type(value) is list:
        inside = value.values() if type(value) is dict else value
        return next(filter(None, map(mark_in, inside)), "")
    return ""


def open_mark(text: str) -> str:
    """The mark of the first private key in a text; nothing if there is none."""
    found = next(keys(text), None)
    return (found.lastgroup or "") if found else ""


def may_hold_key(text: str) -> bool:
    """False says for certain, and soon, that there is no private key in a text."""
    return _KEY in text and any(part in text for part in _OPEN_PARTS)


def lines_of_keys(text: str) -> frozenset[int]:
    """The lines, from 1, in which private keys stand: of each from its beginning to its end."""
    lines: set[int] = set()
    line, seen = 1, 0
    for found in keys(text):
        if found.start() < seen:
            continue  # within the one before
        end = text.find(_END, found.end()) if found.lastgroup == "pem" else found.end()
        first = line + text.count("\n", seen, found.start())
        seen = end if end >= 0 else len(text)
        line = first + text.count("\n", found.start(), seen)
        lines.update(range(first, line + 1))
    return frozenset(lines)


def keys(text: str) -> Iterator[re.Match[str]]:
    """The beginning of each private key in a text; its group says which kind."""
    return _OPEN_MARK.finditer(text) if may_hold_key(text) else iter(())
