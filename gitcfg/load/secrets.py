"""secrets/**: who may have which secret (NAME.yaml), and where its encrypted content stands (NAME.age)."""

import msgspec

from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load.document import Document
from gitcfg.load.kind import Kind
from gitcfg.load.packed import RefRow, pack_refs, unpack_refs
from gitcfg.load.parts import description, names
from gitcfg.load.reading import Reading
from gitcfg.load.shelf import taken
from gitcfg.model import Origin, Ref, Secret
from gitcfg.model.names import NAME


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """A secret without what stands in other files; parts that hold its file's path are rows."""

    description: str
    where: RefRow
    version: int
    recipients: list[RefRow]


def load_secrets(reading: Reading) -> dict[str, Secret]:
    """Every secret by name."""
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
    """Where the content of the secret stands of which this is the file."""
    path = file.removesuffix(".yaml") + ".age"
    entry = tree.entry(path)
    return Origin(path) if entry is not None and entry.kind is EntryKind.FILE else None
