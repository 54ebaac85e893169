"""rules/**/*.yaml and allocations/*.yaml: what must hold for nodes together, and what was decided."""

from collections.abc import Mapping
from typing import Any

import msgspec

from gitcfg.load.cache import BindingRow, RefRow, pack_bindings, pack_refs, unpack_bindings, unpack_refs
from gitcfg.load.collections import Kind, Said, Sheet, SheetKind
from gitcfg.load.context import Reading
from gitcfg.load.document import Document, Pair, pairs, place
from gitcfg.load.parts import NONE, bound, names, refs
from gitcfg.model import Binding, Origin, Ref
from gitcfg.model.names import NAME
from gitcfg.model.rules import Allocation, Count, Domain, Permit, Rule, RuleKind, Uniqueness

FOLDER = "rules"
_FEATURES = (RuleKind.INSTALL, RuleKind.LIMIT)
_PERMITS = (RuleKind.FORBID, RuleKind.ALLOW)
_SCOPES = ("fleet", "node")


def _rule(reading: Reading, doc: Document, said: Said) -> Rule:
    kind = next(kind for kind in RuleKind if kind in said.given)
    node, given = said.nodes[kind][1], said.given[kind]

    def text(key: str) -> Ref | None:
        return Ref(said.given[key], place(doc.file, said.nodes[key][1])) if key in said.given else None

    return Rule(
        said.name,
        said.origin,
        kind,
        str(said.given.get("description", "")),
        feature=text(kind) if kind in _FEATURES else None,
        params=bound(reading, doc.file, node, given) if kind is RuleKind.SET else NONE,
        domains=_domains(doc.file, node, given) if kind is RuleKind.DOMAIN else NONE,
        unique=_unique(text("unique")),
        require=text("require"),
        message=str(said.given.get("message", "")),
        permit=_permit(reading, doc.file, pairs(node), given) if kind in _PERMITS else None,
        where=text("where"),
        over=text("over"),
        per=text("per"),
        count=_count(reading, doc.file, said),
    )


def _domains(file: str, node: Any, given: dict[str, list[int | str]]) -> dict[str, Domain]:
    return {
        name: Domain(
            name,
            tuple(item if isinstance(item, str) else int(item) for item in items),  # 80.0 is whole
            place(file, key),
            tuple(place(file, item) for item in inner.value),
        )
        for (key, inner), (name, items) in zip(node.value, given.items(), strict=True)
    }


def _unique(said: Ref | None) -> Uniqueness | None:
    if said is None:
        return None
    return Uniqueness(said.name) if said.name in _SCOPES else Uniqueness("key", said)


def _permit(reading: Reading, file: str, nodes: dict[str, Pair], given: dict[str, Any]) -> Permit:
    named = {key: names for key, names in given.items() if key != "inherit"}
    found = {key: refs(reading, file, nodes[key][1], names) for key, names in named.items()}
    return Permit(**found, inherit=given.get("inherit", True))


def _count(reading: Reading, file: str, said: Said) -> Count | None:
    if "count" not in said.given:
        return None
    given, at = said.given["count"], place(file, said.nodes["count"][1])
    if not isinstance(given, dict):
        return Count(int(given), int(given), at)
    least, most = int(given.get("min", 0)), int(given["max"]) if "max" in given else None
    if most is not None and least > most:
        message = f"The rule {said.name} asks for at least {least} and at most {most}."
        reading.report("GC102", file, message, at, hint="Let min be no more than max.")
    return Count(least, most, at)


def _empty(name: str, origin: Origin) -> Rule:
    """Return a rule that says nothing."""
    return Rule(name, origin, RuleKind.SET)


RULES: SheetKind[Rule] = SheetKind(FOLDER, "rule", NAME, _rule, _empty, Sheet[Rule])


# allocations/*.yaml: what was decided for rules, a file for each.


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
