"""keys/**/*.txt: the nodes' public keys."""

import base64
import binascii
from collections.abc import Iterator
from hashlib import sha256

from gitcfg.git.tree import Entry, Tree
from gitcfg.load.collections import DeferredMapping
from gitcfg.load.document import MAX_BYTES, conflict_finding, find_markers
from gitcfg.load.loader import Loader
from gitcfg.model import Finding, Key, Origin
from gitcfg.model.names import HOST, shown

FOLDER = "keys"
ALGORITHM = "ssh-ed25519"
_HEAD = b"\0\0\0\x0bssh-ed25519\0\0\0\x20"
_SIZE = len(_HEAD) + 32
_HINT = "Write NODE ssh-ed25519 AAAA..., as `gitcfg node accept` does."


class Keys(DeferredMapping[Key]):
    """The keys by node. The first key of a node counts."""

    def __init__(self, tree: Tree) -> None:
        self._tree = tree

    def _load(self) -> tuple[dict[str, Key], Loader]:
        loader = Loader(self._tree)
        found: dict[str, Key] = {}
        owners: dict[str, Key] = {}
        for entry in loader.files(FOLDER, ".txt"):
            for key in _read_keys(loader, entry):
                first = found.setdefault(key.node, key)
                owner = owners.setdefault(key.text, key)
                if first is not key:
                    message = f"The node {key.node} has two keys."
                    loader.report("GC103", key.node, message, key.origin, first.origin)
                elif owner is not key:
                    names = (min(owner.node, key.node), max(owner.node, key.node))
                    message = f"The nodes {names[0]} and {names[1]} have the same key."
                    loader.findings.append(Finding("GC103", names, message, (key.origin, owner.origin)))
        return found, loader


def public_key(text: str) -> bytes | None:
    """Return the 32 bytes of an Ed25519 key written as `ssh-ed25519 AAAA...`, or None if it is not one."""
    kind, _, body = text.partition(" ")
    try:
        data = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None
    sound = kind == ALGORITHM and len(data) == _SIZE and data.startswith(_HEAD)
    return data[len(_HEAD) :] if sound else None


def written(key: bytes) -> str:
    """Return the 32 bytes of an Ed25519 key as `ssh-ed25519 AAAA...`."""
    return f"{ALGORITHM} {base64.b64encode(_HEAD + key).decode()}"


def fingerprint(text: str) -> str:
    """Return an Ed25519 key as `ssh-keygen -l` shows it: `SHA256:...`; an empty text if it is not one."""
    key = public_key(text)
    if key is None:
        return ""
    return "SHA256:" + base64.b64encode(sha256(_HEAD + key).digest()).decode().rstrip("=")


def _read_keys(loader: Loader, entry: Entry) -> Iterator[Key]:
    """Yield the keys of a file, without empty lines and those that begin with `#`."""
    if entry.size > MAX_BYTES:
        message = f"The file has {entry.size} bytes; at most {MAX_BYTES} are read."
        loader.report("GC101", entry.path, message, Origin(entry.path), hint="Split it into several files.")
        return
    data = loader.tree.read(entry)
    blocks = find_markers(data.decode("utf-8", "replace"))
    if blocks:
        loader.findings.append(conflict_finding(entry.path, blocks))
        return
    for number, line in enumerate(data.split(b"\n"), 1):
        text = line.strip()
        if text and not text.startswith(b"#"):
            key = _parse_key(loader, Origin(entry.path, number, 1), text.decode("utf-8", "replace"))
            if key is not None:
                yield key


def _parse_key(loader: Loader, origin: Origin, line: str) -> Key | None:
    node, text = line.split()[0], " ".join(line.split()[1:3])
    if not HOST.fullmatch(node):
        loader.report("GC103", node, f"{shown(node)!r} is not a host name.", origin, hint=_HINT)
    elif public_key(text) is None:
        loader.report("GC101", node, f"The key of {node} is not an Ed25519 key.", origin, hint=_HINT)
    else:
        return Key(node, origin, text)
    return None
