"""keys/**/*.txt: the nodes' public keys, a line each: `NODE ssh-ed25519 AAAA...`."""

import base64
import binascii
from collections.abc import Iterator
from hashlib import sha256

from gitcfg.git.tree import Entry, Tree
from gitcfg.load.conflicts import left_over, unresolved
from gitcfg.load.document import MAX_BYTES
from gitcfg.load.gathered import Gathered
from gitcfg.load.reading import Reading
from gitcfg.model import Finding, Key, Origin
from gitcfg.model.names import HOST, shown

FOLDER = "keys"
ALGORITHM = "ssh-ed25519"
_HEAD = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
_SIZE = len(_HEAD) + 32
_HINT = "Write NODE ssh-ed25519 AAAA..., as `gitcfg node accept` does."


class Keys(Gathered[Key]):
    """The keys by node. Of a node the first counts."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def _gather(self) -> tuple[dict[str, Key], Reading]:
        reading = Reading(self._tree)
        found: dict[str, Key] = {}
        owners: dict[str, Key] = {}
        for entry in reading.files(FOLDER, ".txt"):
            for key in _lines(reading, entry):
                first = found.setdefault(key.node, key)
                owner = owners.setdefault(key.text, key)
                if first is not key:
                    message = f"The node {key.node} has two keys."
                    reading.report("GC103", key.node, message, key.origin, first.origin)
                elif owner is not key:
                    _shared(reading, owner, key)
        return found, reading


def public_key(text: str) -> bytes | None:
    """The 32 bytes of an Ed25519 key out of `ssh-ed25519 AAAA...`; None: it is none."""
    kind, _, body = text.partition(" ")
    try:
        data = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None
    sound = kind == ALGORITHM and len(data) == _SIZE and data.startswith(_HEAD)
    return data[len(_HEAD) :] if sound else None


def written(key: bytes) -> str:
    """An Ed25519 key's 32 bytes as `ssh-ed25519 AAAA...`."""
    return f"{ALGORITHM} {base64.b64encode(_HEAD + key).decode()}"


def fingerprint(text: str) -> str:
    """An Ed25519 key as `ssh-keygen -l` shows it: `SHA256:...`; nothing for what is none."""
    key = public_key(text)
    if key is None:
        return ""
    return "SHA256:" + base64.b64encode(sha256(_HEAD + key).digest()).decode().rstrip("=")


def _lines(reading: Reading, entry: Entry) -> Iterator[Key]:
    """The keys of a file; empty lines and those that begin with `#` say nothing."""
    if entry.size > MAX_BYTES:
        message = f"The file has {entry.size} bytes; at most {MAX_BYTES} are read."
        reading.report("GC101", entry.path, message, Origin(entry.path), hint="Spread it over several files.")
        return
    data = reading.tree.read(entry)
    blocks = left_over(data.decode("utf-8", "replace"))
    if blocks:
        reading.findings.append(unresolved(entry.path, blocks))
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        text = line.strip()
        if text and not text.startswith(b"#"):
            key = _key(reading, Origin(entry.path, number, 1), text.decode("utf-8", "replace"))
            if key is not None:
                yield key


def _key(reading: Reading, origin: Origin, line: str) -> Key | None:
    node, text = line.split()[0], " ".join(line.split()[1:3])
    if not HOST.fullmatch(node):
        reading.report("GC103", node, f"{shown(node)!r} is no host name.", origin, hint=_HINT)
    elif public_key(text) is None:
        reading.report("GC101", node, f"The key of {node} is no Ed25519 key.", origin, hint=_HINT)
    else:
        return Key(node, origin, text)
    return None


def _shared(reading: Reading, owner: Key, key: Key) -> None:
    names = (min(owner.node, key.node), max(owner.node, key.node))
    message = f"The nodes {names[0]} and {names[1]} have the same key."
    reading.findings.append(Finding("GC103", names, message, (key.origin, owner.origin)))
