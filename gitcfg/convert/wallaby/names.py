"""Names in the repository: legal, and unique without regard to case; and Wallaby's own groups."""

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Protocol, TypeVar

import msgspec

from gitcfg.convert.base import Note, Place
from gitcfg.convert.wallaby.dump import Group, Node, Store
from gitcfg.model.names import HOST, NAME, PARAMETER, shown

DEFAULT = "+++DEFAULT"
SKELETON = "+++SKEL"
MAX_NAME = 200  # a file's name has at most 255 bytes nearly everywhere


class Names(msgspec.Struct, frozen=True):
    """The names in the repository by those in the dump; parameters by their names in lower case."""

    features: Mapping[str, str]
    groups: Mapping[str, str]
    nodes: Mapping[str, str]
    subsystems: Mapping[str, str]
    parameters: Mapping[str, str]

    def feature(self, name: str) -> str:
        """Return the name of a feature; one that is not in the dump keeps its own."""
        return self.features.get(name, name)

    def parameter(self, name: str) -> str | None:
        """Return the declared spelling of a parameter, None if the name is not legal."""
        known = self.parameters.get(name.casefold())
        return known or (name if PARAMETER.fullmatch(name) else None)


class Named(Protocol):
    """Anything with a name."""

    @property
    def name(self) -> str: ...


T = TypeVar("T", bound=Named)


def choose_names(store: Store, notes: list[Note]) -> Names:
    """Choose the names in the repository for everything in a store whose names are unique."""
    identity = find_identities(store)
    groups = [group.name for group in store.groups if group.name not in identity and not group.identity]
    special = {DEFAULT: "default", SKELETON: "skeleton"}
    ordinary = [name for name in groups if name not in special]
    reserved = {name: special[name] for name in special if name in groups or name == DEFAULT}
    return Names(
        features=_make_unique("feature", (feature.name for feature in store.features), {}, notes),
        groups=_make_unique("group", ordinary, reserved, notes),
        nodes=_keep_host_names((node.name for node in store.nodes), notes),
        subsystems=_make_unique("subsystem", (subsystem.name for subsystem in store.subsystems), {}, notes),
        parameters=_choose_spellings(store),
    )


def _make_unique(
    kind: str, names: Iterable[str], reserved: Mapping[str, str], notes: list[Note]
) -> dict[str, str]:
    """Keep legal names, except the second of two that differ only in case; make all others legal."""
    result = dict(reserved)
    taken = Counter(name.casefold() for name in result.values())
    others = []
    for name in names:
        if _is_legal(name) and not taken[name.casefold()]:
            result[name] = _free_name(name, taken)
        else:
            others.append(name)
    for name in others:
        result[name] = _free_name(_make_legal(name), taken)
        why = "Another name differs only in case" if _is_legal(name) else "The name is not legal here"
        Place(notes, kind, name).changed("name", f"{why}: it is now {result[name]}.")
    return result


def _is_legal(name: str) -> bool:
    return len(name) <= MAX_NAME and NAME.fullmatch(name) is not None


def _make_legal(name: str) -> str:
    text = re.sub(r"[^A-Za-z0-9_ .+@-]", "_", name[:MAX_NAME])
    return text if _is_legal(text) else "_" + text[1:]


def _free_name(name: str, taken: Counter[str]) -> str:
    """Return the name, with a number if it is taken; `taken` counts how often each was requested."""
    free = name
    while taken[free.casefold()]:
        taken[name.casefold()] += 1
        free = f"{name}-{taken[name.casefold()]}"
    taken[free.casefold()] += 1
    return free


def _keep_host_names(names: Iterable[str], notes: list[Note]) -> dict[str, str]:
    """Keep the names of nodes; leave out one that is not a host name, because it cannot name a machine."""
    result = {}
    for name in names:
        if HOST.fullmatch(name) and len(name) <= MAX_NAME:
            result[name] = name
        else:
            reason = "Its name is not a host name: give the machine one, then add a file in nodes/."
            Place(notes, "node", name).dropped("", reason)
    return result


def _choose_spellings(store: Store) -> dict[str, str]:
    """Return the legal names of parameters by lower case: as declared, otherwise as first set."""
    result: dict[str, str] = {}
    declared = [parameter.name for parameter in store.parameters]
    in_features = [name for feature in store.features for name in feature.params]
    in_groups = [name for group in store.groups for name in group.params]
    for name in (*declared, *in_features, *in_groups):
        if PARAMETER.fullmatch(name):
            result.setdefault(name.casefold(), name)
    return result


def find_identities(store: Store) -> Mapping[str, Node]:
    """Return the nodes by the names of the identity groups that they have, or would have."""
    known = {group.name for group in store.groups}
    result = {}
    for node in store.nodes:
        derived = "+++" + hashlib.md5(node.name.encode(), usedforsecurity=False).hexdigest()
        result[node.idgroup if node.idgroup in known else derived] = node
    return result


def find_identity_groups(store: Store) -> Mapping[str, Group]:
    """Return the identity groups in the store by the names of their nodes."""
    owners = find_identities(store)
    return {owners[group.name].name: group for group in store.groups if group.name in owners}


def drop_repeated(
    definitions: Iterable[T], kind: str, notes: list[Note], folds: bool = False
) -> tuple[T, ...]:
    """Return the first definition of each name; with `folds`, names compare without case."""
    first: dict[str, T] = {}
    for definition in definitions:
        key = definition.name.casefold() if folds else definition.name
        if first.setdefault(key, definition) is not definition:
            reason = "It is defined twice; the first definition is used."
            if folds:
                reason = f"{shown(first[key].name)} is defined already, and names are case-insensitive."
            Place(notes, kind, definition.name).dropped("", reason)
    return tuple(first.values())


def translate_names(
    names: Iterable[str], translate: Callable[[str], str | None], field: str, place: Place
) -> list[str]:
    """Return a list of names as names in the repository, each once; note those that it does not have."""
    result: dict[str, None] = {}
    for name in names:
        new = translate(name)
        if new is None:
            place.dropped(field, f"{shown(name)} is not imported.")
        elif new in result:
            place.dropped(field, f"{shown(name)} is twice in the list; the first place is used.")
        else:
            result[new] = None
    return list(result)
