"""Which layer decides what a file on a node holds, or why the node has it not."""

import msgspec

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.explain.layers import bringing
from gitcfg.explain.why_feature import Removal, removals, unrestricted
from gitcfg.model import FileEntry, GitcfgError
from gitcfg.model.names import did_you_mean, shown
from gitcfg.render.files import mode_of, selected
from gitcfg.render.templates import TemplateEngine


class Brought(msgspec.Struct, frozen=True):
    """A layer's entry for a file, with the layer's path, and what takes the layer away."""

    entry: FileEntry
    path: tuple[str, ...]
    removals: tuple[Removal, ...] = ()


class FileAnswer(msgspec.Struct, frozen=True):
    """`entries` are those of the node's layers, lowest first: the last one decides.

    `params` is how many parameters a format writes, None where none does. `taken` are entries of
    layers that `without` takes away, `elsewhere` layers that bring the file where this node has it not.
    """

    name: str
    entries: tuple[Brought, ...]
    params: int | None
    taken: tuple[Brought, ...]
    retired: bool
    elsewhere: tuple[str, ...]

    @property
    def deciding(self) -> Brought | None:
        """The entry that counts; it may be one that takes the file away."""
        return self.entries[-1] if self.entries else None

    @property
    def has(self) -> bool:
        """Does some layer bring the file, with none above taking it away?"""
        return self.deciding is not None and not self.deciding.entry.removed


def why_file(fleet: Fleet, node: FleetNode, path: str, engine: TemplateEngine) -> FileAnswer:
    """The entries for a file, each with the mode that it has on the node. GitcfgError: no layer of any node
    brings it.
    """
    known = {known for layer in fleet.model.layers() for known in layer.files}
    if path not in known:
        near = did_you_mean(path, filter(str.isprintable, known))
        raise GitcfgError(f"No layer brings a file {shown(path)}.", near)
    found = node.kind.stack.entries(path)
    entries = tuple(Brought(_with_mode(fleet, node, entry, engine), where) for entry, where in found)
    taken = _taken(fleet, node, path, engine)
    deciding = entries[-1].entry if entries else None
    takes = deciding is not None and deciding.format is not None
    alien = not (entries or taken or node.said.retired)
    return FileAnswer(
        path,
        entries,
        len(selected(fleet, deciding, node.params)) if deciding is not None and takes else None,
        taken,
        node.said.retired,
        tuple(mention.layer for mention in bringing(fleet.model, path)) if alien else (),
    )


def _with_mode(fleet: Fleet, node: FleetNode, entry: FileEntry, engine: TemplateEngine) -> FileEntry:
    mode = mode_of(fleet, node, entry, engine)
    return entry if mode == entry.mode else msgspec.structs.replace(entry, mode=mode)


def _taken(fleet: Fleet, node: FleetNode, path: str, engine: TemplateEngine) -> tuple[Brought, ...]:
    if node.said.retired or not node.kind.without:
        return ()
    would_be = FleetNode(node.name, unrestricted(fleet, node.kind), node.said)
    found = [
        Brought(_with_mode(fleet, would_be, entry, engine), where, removals(node, where))
        for entry, where in would_be.kind.stack.entries(path)
    ]
    return tuple(brought for brought in found if brought.removals)
