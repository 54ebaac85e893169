"""keys/**/*.txt, the nodes' public keys, and secrets/*.yaml, who may have which secret."""

import base64
import binascii
from collections.abc import Iterator
from hashlib import sha256

import msgspec

from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load.cache import RefRow, pack_refs, unpack_refs
from gitcfg.load.collections import Gathered, Kind, taken
from gitcfg.load.context import Reading
from gitcfg.load.document import MAX_BYTES, Document, left_over, unresolved
from gitcfg.load.parts import description, names
from gitcfg.model import Finding, Key, Origin, Ref, Secret
from gitcfg.model.names import HOST, NAME, shown

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
    """Return the 32 bytes of an Ed25519 key out of `ssh-ed25519 AAAA...`; None: it is none."""
    kind, _, body = text.partition(" ")
    try:
        data = base64.b64decode(body, validate=True)
    except (binascii.Error, ValueError):
        return None
    sound = kind == ALGORITHM and len(data) == _SIZE and data.startswith(_HEAD)
    return data[len(_HEAD) :] if sound else None


def written(key: bytes) -> str:
    """Return an Ed25519 key's 32 bytes as `ssh-ed25519 AAAA...`."""
    return f"{ALGORITHM} {base64.b64encode(_HEAD + key).decode()}"


def fingerprint(text: str) -> str:
    """Return an Ed25519 key as `ssh-keygen -l` shows it: `SHA256:...`; nothing for what is none."""
    key = public_key(text)
    if key is None:
        return ""
    return "SHA256:" + base64.b64encode(sha256(_HEAD + key).digest()).decode().rstrip("=")


def _lines(reading: Reading, entry: Entry) -> Iterator[Key]:
    """Yield the keys of a file; empty lines and those that begin with `#` say nothing."""
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


# secrets/**: who may have which secret (NAME.yaml), and where its encrypted content stands (NAME.age).


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """A secret without what stands in other files; parts that hold its file's path are rows."""

    description: str
    where: RefRow
    version: int
    recipients: list[RefRow]


def load_secrets(reading: Reading) -> dict[str, Secret]:
    """Return every secret by name."""
    return taken(reading, secrets_kind(reading.tree))


def secrets_kind(tree: Tree) -> Kind[Secret]:
    """Secrets. Of NAME.age only this is known: whether it is there."""

    def build(reading: Reading, doc: Document, name: str) -> Secret:
        return Secret(
            name,
            Origin(doc.file),
            description(doc),
            Ref(doc.value["for"], doc.at("for")),
            int(doc.value["version"]),
            names(reading, doc, "recipients"),
            _sealed(tree, doc.file),
        )

    def empty(name: str, origin: Origin) -> Secret:
        return Secret(name, origin, sealed=_sealed(tree, origin.file))

    def unpack(packed: _Packed, name: str, origin: Origin) -> Secret:
        where, *recipients = unpack_refs(origin.file, (packed.where, *packed.recipients))
        sealed = _sealed(tree, origin.file)
        return Secret(name, origin, packed.description, where, packed.version, tuple(recipients), sealed)

    return Kind("secrets", "secret", NAME, build, empty, _Packed, _pack, unpack)


def _pack(said: Secret) -> _Packed:
    assert said.where is not None  # it was understood
    where, *recipients = pack_refs([said.where, *said.recipients])
    return _Packed(said.description, where, said.version, recipients)


def _sealed(tree: Tree, file: str) -> Origin | None:
    """Return where the content of the secret stands of which this is the file."""
    path = file.removesuffix(".yaml") + ".age"
    entry = tree.entry(path)
    return Origin(path) if entry is not None and entry.kind is EntryKind.FILE else None
