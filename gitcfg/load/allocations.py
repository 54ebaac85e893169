"""allocations/*.yaml: what was decided for rules, a file for each."""

from collections.abc import Mapping

import msgspec

from gitcfg.load.document import Document
from gitcfg.load.kind import Kind
from gitcfg.load.packed import (
    BindingRow,
    RefRow,
    pack_bindings,
    pack_refs,
    unpack_bindings,
    unpack_refs,
)
from gitcfg.load.parts import NONE, bound, names
from gitcfg.load.reading import Reading
from gitcfg.model import Binding, Origin
from gitcfg.model.names import NAME
from gitcfg.model.rules import Allocation


class _Packed(msgspec.Struct, frozen=True, array_like=True):
    """An allocation; parts that hold its file's path are rows."""

    install: list[RefRow]
    values: list[tuple[str, list[BindingRow]]]


def _allocation(reading: Reading, doc: Document, name: str) -> Allocation:
    return Allocation(name, Origin(doc.file), names(reading, doc, "install"), _values(reading, doc))


def _values(reading: Reading, doc: Document) -> Mapping[str, Mapping[str, Binding]]:
    given = doc.value.get("values")
    if not given:
        return NONE
    return {
        slot: bound(reading, doc.file, node, said)
        for (_, node), (slot, said) in zip(doc.top["values"].value, given.items(), strict=True)
    }


def _pack(said: Allocation) -> _Packed:
    values = [(slot, pack_bindings(given)) for slot, given in said.values.items()]
    return _Packed(pack_refs(said.install), values)


def _unpack(packed: _Packed, name: str, origin: Origin) -> Allocation:
    values = {slot: unpack_bindings(origin.file, rows) for slot, rows in packed.values}
    return Allocation(name, origin, unpack_refs(origin.file, packed.install), values or NONE)


ALLOCATIONS: Kind[Allocation] = Kind(
    "allocations", "allocation", NAME, _allocation, Allocation, _Packed, _pack, _unpack
)
