"""Secrets as definitions: who may have which, and how a value that is a secret is shown."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from gitcfg.model.findings import Origin, Ref

_KEY = "$secret"  # no plain value of type map can have it
PLAIN = "<plain text where a secret belongs>"
"""What is shown of a value that is written in plain though its parameter is secret."""


class Secret(msgspec.Struct, frozen=True, gc=False):
    """What secrets/NAME.yaml says. `where` (CEL) says which nodes may have it; None: none may.

    `recipients` are age or SSH public keys, each with its place. `sealed` is where secrets/NAME.age stands,
    None if there is none.
    """

    name: str
    origin: Origin
    description: str = ""
    where: Ref | None = None
    version: int = 1
    recipients: tuple[Ref, ...] = ()
    sealed: Origin | None = None


def secret_value(name: str, version: int | None) -> dict[str, Any]:
    """A secret as a parameter's value, everywhere but on the way into its own node; as JSON has it, too.

    One that does not exist has no version: what binds it binds no value.
    """
    return {_KEY: name, "version": version}


def has_version(value: dict[str, Any]) -> bool:
    """Return whether the secret that a value is exists."""
    return value["version"] is not None


def is_secret(value: Any) -> bool:
    """Return whether a value is a secret's name and version."""
    return type(value) is dict and _KEY in value


def shown(value: Any) -> Any:
    """Return a value as files and people see it: of a secret its name, and its version if it exists."""
    if not is_secret(value):
        return value
    version = f" v{value['version']}" if has_version(value) else ""
    return f"<secret {value[_KEY]}{version}>"


def unversioned(value: Any) -> Any:
    """Return a value as it is shown, whichever version of a secret it is."""
    return shown(secret_value(secret_name(value), None)) if is_secret(value) else value


def secret_name(value: Any) -> str:
    """Return the name of the secret that a value is; only of one that is a secret."""
    name: str = value[_KEY]
    return name


# What other tools' encrypted text and private keys look like, wherever text is written.

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
_KEY_MARKS = "KEY-"
_OPEN_PARTS = ("PRIVATE KEY-----", "AGE-SECRET-KEY-1")
_MARK = re.compile("|".join(f"(?P<{name}>{mark})" for name, mark in _MARKS.items()))
_OPEN_MARK = re.compile("|".join(f"(?P<{name}>{_MARKS[name]})" for name in sorted(OPEN)))
_END = "-----END "


def marked(text: str) -> re.Match[str] | None:
    """Return the first such thing in a text; its group says which."""
    return _MARK.search(text) if any(part in text for part in _PARTS) else None


def mark_in(value: Any) -> str:
    """Return the mark that stands in a value, or in one inside it; nothing if none does."""
    if type(value) is str:
        found = marked(value) if len(value) >= _SHORTEST else None
        return (found.lastgroup or "") if found else ""
    if type(value) is dict or type(value) is list:
        inside = value.values() if type(value) is dict else value
        return next(filter(None, map(mark_in, inside)), "")
    return ""


def open_mark(text: str) -> str:
    """Return the mark of the first private key in a text; nothing if there is none."""
    found = next(keys(text), None)
    return (found.lastgroup or "") if found else ""


def may_hold_key(text: str) -> bool:
    """False says for certain, and soon, that there is no private key in a text."""
    return _KEY_MARKS in text and any(part in text for part in _OPEN_PARTS)


def lines_of_keys(text: str) -> frozenset[int]:
    """Return the lines, from 1, in which private keys stand: of each from its beginning to its end."""
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
    """Yield the beginning of each private key in a text; its group says which kind."""
    return _OPEN_MARK.finditer(text) if may_hold_key(text) else iter(())
