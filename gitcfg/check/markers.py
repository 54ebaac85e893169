"""GC513: other tools' encrypted text, and private keys that everybody can read, wherever text is written."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from gitcfg.check.fold import of
from gitcfg.check.places import bindings, files
from gitcfg.compile.fleet import Fleet
from gitcfg.model import Finding, Origin
from gitcfg.model.names import shown

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
_WORDS: Mapping[str, str] = {
    "ansible": "text that Ansible Vault encrypted",
    "eyaml": "text that hiera-eyaml encrypted",
    "sops": "text that sops encrypted",
    "pgp": "text that PGP encrypted",
    "age": "text that age encrypted",
    "identity": "a private key of age",
    "pem": "a private key",
}
_PLAIN = frozenset({"identity", "pem"})
_SHORTEST = 16  # no mark is shorter, and most values are
_PARTS = ("$ANSIBLE_VAULT;", "ENC[", "-----BEGIN ", "AGE-SECRET-KEY-1")
"""Each mark has one of them: to look for these takes a twentieth of the time."""
_MARK = re.compile("|".join(f"(?P<{name}>{mark})" for name, mark in _MARKS.items()))

_ENCRYPTED = "Nodes get it as it is, encrypted. `gitcfg secret set NAME` keeps a secret that they can read."
_OPEN = "Whoever reads the repository has it: make a new one, and keep that with `gitcfg secret set NAME`."


def markers(fleet: Fleet) -> Iterator[Finding]:
    """GC513 for every value, text, template and file that holds such a thing, at its first place."""
    for name, binding in bindings(fleet):
        if mark := _in_value(binding.given):
            yield from _of_value(fleet, name, mark, binding.at)
    for parameter in fleet.model.parameters.values():
        if parameter.default is not None and (mark := _in_value(parameter.default.given)):
            yield from _of_value(fleet, parameter.name, mark, parameter.default.at)
    yield from _in_facts(fleet)
    for entry in files(fleet.model):
        if entry.text is not None and (found := _search(entry.text)):
            yield _told(entry.path, f"The text of {shown(entry.path)}", _kind(found), entry.origin)
    for folder, noun, texts in (
        ("templates", "template", fleet.templates),
        ("files", "file", fleet.sources if fleet.model.sources else {}),
    ):
        yield from _in_texts(folder, noun, texts)


def _in_texts(folder: str, noun: str, texts: Mapping[str, str | None]) -> Iterator[Finding]:
    for name, text in texts.items():
        found = _search(text) if text else None
        if text and found:
            place = Origin(f"{folder}/{name}", text.count("\n", 0, found.start()) + 1)
            yield _told(name, f"The {noun} {shown(name)}", _kind(found), place)


def _in_facts(fleet: Fleet) -> Iterator[Finding]:
    for node in fleet.model.hosts():
        for name, fact in node.facts.items():
            if mark := _in_value(fact.value):
                yield _told(name, f"The fact {shown(name)} of {shown(node.name)}", mark, node.origin)


def _of_value(fleet: Fleet, name: str, mark: str, at: Origin) -> Iterator[Finding]:
    """Of a parameter that is declared secret it is told already that its value is plain (GC206)."""
    if not fleet.declarations.secret(name):
        yield _told(name, f"The value of {shown(name)}", mark, at)


def _in_value(value: Any) -> str:
    """The mark that stands in a value, or in one inside it; nothing if none does."""
    if type(value) is str:
        found = _search(value) if len(value) >= _SHORTEST else None
        return _kind(found) if found else ""
    if type(value) is dict or type(value) is list:
        inside = value.values() if type(value) is dict else value
        return next(filter(None, map(_in_value, inside)), "")
    return ""


def _search(text: str) -> re.Match[str] | None:
    return _MARK.search(text) if any(part in text for part in _PARTS) else None


def _kind(found: re.Match[str]) -> str:
    return found.lastgroup or ""


def _told(subject: str, what: str, mark: str, at: Origin) -> Finding:
    hint = _OPEN if mark in _PLAIN else _ENCRYPTED
    return of("GC513", subject, f"{what} holds {_WORDS[mark]}.", [at], hint=hint, veiled=mark in _PLAIN)
