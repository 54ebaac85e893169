"""Secrets as definitions: which nodes may have them, and how a value that is a secret is shown."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.model.findings import Origin, Ref

_KEY = "$secret"  # no plain value of type map can have this key
PLAIN = "<plain text where a secret belongs>"
"""Shown instead of a plain value of a parameter that is declared secret."""


class Secret(msgspec.Struct, frozen=True, gc=False):
    """The content of secrets/NAME.yaml. `where` (CEL) selects the nodes that may have it; None: no node may.

    `recipients` are age or SSH public keys, each with its place. `sealed` is the place of secrets/NAME.age,
    or None if there is no such file.
    """

    name: str
    origin: Origin
    description: str = ""
    where: Ref | None = None
    version: int = 1
    recipients: tuple[Ref, ...] = ()
    sealed: Origin | None = None


def secret_value(name: str, version: int | None) -> dict[str, Any]:
    """Return the value of a parameter that is a secret: its name and version, also in JSON.

    The true value is used only for files of the secret's own nodes. A secret that does not exist has no
    version, and its binding has no value.
    """
    return {_KEY: name, "version": version}


def has_version(value: dict[str, Any]) -> bool:
    """Return whether the secret that a value names exists."""
    return value["version"] is not None


def is_secret(value: Any) -> bool:
    """Return whether a value is a secret's name and version."""
    return type(value) is dict and _KEY in value


def shown(value: Any) -> Any:
    """Return a value as it is shown: for a secret its name, and its version if it exists."""
    if not is_secret(value):
        return value
    version = f" v{value['version']}" if has_version(value) else ""
    return f"<secret {value[_KEY]}{version}>"


def unversioned(value: Any) -> Any:
    """Return a value as it is shown, without the version of a secret."""
    return shown(secret_value(secret_name(value), None)) if is_secret(value) else value


def secret_name(value: Any) -> str:
    """Return the name of the secret that a value is. The value must be a secret."""
    name: str = value[_KEY]
    return name


# How encrypted text of other tools and private keys look, in any text.

_MARKS: Mapping[str, str] = {
    "ansible": r"\$ANSIBLE_VAULT;\d",
    "eyaml": r"ENC\[(?:PKCS7|GPG|KMS|GKMS),[A-Za-z0-9+/]",
    "sops": r"ENC\[AES256_GCM,data:",
    "pgp": r"-----BEGIN PGP MESSAGE-----",
    "age": r"-----BEGIN AGE ENCRYPTED FILE-----",
    "identity": r"AGE-SECRET-KEY-1[A-Z0-9]{16}",
    # The key itself, with the headers that PEM allows before it: a template that only frames a key has none.
    # All repetitions are bounded, since anyone who pushes may write megabytes of beginnings.
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
"""What each mark is a sign of, in words."""
OPEN = frozenset({"identity", "pem"})
"""The marks of what everyone can read."""
_SHORTEST = 16  # no mark is shorter, and most values are
_PARTS = ("$ANSIBLE_VAULT;", "ENC[", "-----BEGIN ", "AGE-SECRET-KEY-1")
"""A part of each mark: a search for these takes a twentieth of the time."""
_KEY_MARKS = "KEY-"
_OPEN_PARTS = ("PRIVATE KEY-----", "AGE-SECRET-KEY-1")
_MARK = re.compile("|".join(f"(?P<{name}>{mark})" for name, mark in _MARKS.items()))
_OPEN_MARK = re.compile("|".join(f"(?P<{name}>{_MARKS[name]})" for name in sorted(OPEN)))
_END = "-----END "


def marked(text: str) -> re.Match[str] | None:
    """Return the first mark in a text; its group is the kind of mark."""
    return _MARK.search(text) if any(part in text for part in _PARTS) else None


def mark_in(value: Any) -> str:
    """Return the mark in a value or in a nested one; an empty text if there is none."""
    if type(value) is str:
        found = marked(value) if len(value) >= _SHORTEST else None
        return (found.lastgroup or "") if found else ""
    if type(value) is dict or type(value) is list:
        inside = value.values() if type(value) is dict else value
        return next(filter(None, map(mark_in, inside)), "")
    return ""


def open_mark(text: str) -> str:
    """Return the mark of the first private key in a text; an empty text if there is none."""
    found = next(keys(text), None)
    return (found.lastgroup or "") if found else ""


def may_hold_key(text: str) -> bool:
    """Return False if a text certainly has no private key. This is fast."""
    return _KEY_MARKS in text and any(part in text for part in _OPEN_PARTS)


def lines_of_keys(text: str) -> frozenset[int]:
    """Return the lines, from 1, that private keys occupy, each from its beginning to its end."""
    lines: set[int] = set()
    line, seen = 1, 0
    for found in keys(text):
        if found.start() < seen:
            continue  # within the previous key
        end = text.find(_END, found.end()) if found.lastgroup == "pem" else found.end()
        first = line + text.count("\n", seen, found.start())
        seen = end if end >= 0 else len(text)
        line = first + text.count("\n", found.start(), seen)
        lines.update(range(first, line + 1))
    return frozenset(lines)


def keys(text: str) -> Iterator[re.Match[str]]:
    """Yield the beginning of each private key in a text; its group is the kind of key."""
    return _OPEN_MARK.finditer(text) if may_hold_key(text) else iter(())
