"""The import of a Wallaby dump: the files of a repository with its features, groups and nodes."""

from collections.abc import Container, Iterable, Iterator, Mapping
from typing import Any

import msgspec

import gitcfg.progress as progress
from gitcfg.convert.base import Note, Place, parameter_files, sort_notes, without_empty
from gitcfg.convert.wallaby.dump import Group, Node, Store, Subsystem, read_store
from gitcfg.convert.wallaby.names import (
    DEFAULT,
    SKELETON,
    Names,
    choose_names,
    drop_repeated,
    find_identities,
    find_identity_groups,
    translate_names,
)
from gitcfg.convert.wallaby.parameters import (
    Vocabulary,
    convert_bindings,
    decide_type,
    declare_parameters,
    find_families,
    gather_evidence,
)
from gitcfg.load import yaml
from gitcfg.model.names import PARAMETER, shown

_FILES = {"/etc/condor/config.d/50-gitcfg.config": {"format": "condor", "params": ["*"]}}
_UNPROVISIONED = "unprovisioned"
Content = dict[str, Any]


class WallabyImport(msgspec.Struct, frozen=True):
    """The result of an import: the files of a repository by path, and notes, the most important first."""

    files: Mapping[str, str]
    notes: tuple[Note, ...]


def import_wallaby(data: bytes) -> WallabyImport:
    """Convert a dump. Raise GitcfgError if it is not one, or was cut short."""
    notes: list[Note] = []
    progress.note("reading the dump", blocks=True)
    contents = build_repository(read_store(data, notes), notes)
    files = {}
    for path in sorted(contents):
        progress.note("converting", path, len(contents))
        files[path] = yaml.dump(contents[path])
    return WallabyImport(files, sort_notes(notes))


def build_repository(given: Store, notes: list[Note]) -> dict[str, Content]:
    """Return the contents of files by path."""
    store = _drop_repeated(given, notes)
    names = choose_names(store, notes)
    evidence = gather_evidence(store, names)
    kinds = {name: decide_type(found, Place(notes, "parameter", name)) for name, found in evidence.items()}
    words = Vocabulary(names, evidence, kinds)
    kin = find_families(store, names, evidence, kinds)
    patterns = {name: family.pattern for family in kin for name in family.members}
    processes = _convert_subsystems(store.subsystems, names, patterns, notes)
    return {
        "gitcfg.yaml": {"format": 1},
        **parameter_files(declare_parameters(words, kin, notes)),
        **({"subsystems/condor.yaml": {"subsystems": processes}} if processes else {}),
        **dict(_convert_features(store, words, notes)),
        **dict(_convert_groups(store, words, notes)),
        **dict(_convert_nodes(store, words, notes)),
    }


def _drop_repeated(store: Store, notes: list[Note]) -> Store:
    """Return the store with each definition once, and without parameters that have no legal name."""
    declared = drop_repeated(store.parameters, "parameter", notes, folds=True)
    for parameter in declared:
        if not PARAMETER.fullmatch(parameter.name):
            reason = f"{shown(parameter.name)} is not a valid name for a parameter."
            Place(notes, "parameter", parameter.name).dropped("", reason)
    return Store(
        features=drop_repeated(store.features, "feature", notes),
        groups=drop_repeated(store.groups, "group", notes),
        nodes=drop_repeated(store.nodes, "node", notes, folds=True),
        parameters=tuple(parameter for parameter in declared if PARAMETER.fullmatch(parameter.name)),
        subsystems=drop_repeated(store.subsystems, "subsystem", notes),
    )


def _convert_features(store: Store, words: Vocabulary, notes: list[Note]) -> Iterator[tuple[str, Content]]:
    known = words.names.feature
    for feature in store.features:
        place = Place(notes, "feature", feature.name)
        content = without_empty(
            description=feature.annotation,
            include=translate_names(feature.included, known, "included", place),
            depends=translate_names(feature.depends, known, "depends", place),
            conflicts=translate_names(feature.conflicts, known, "conflicts", place),
            params=convert_bindings(words, feature.params, place),
        )
        yield f"features/{words.names.features[feature.name]}.yaml", content


def _convert_groups(store: Store, words: Vocabulary, notes: list[Note]) -> Iterator[tuple[str, Content]]:
    groups = {DEFAULT: Group(DEFAULT, "", False, (), {}), **{group.name: group for group in store.groups}}
    owners = find_identities(store)
    for group in groups.values():
        place = Place(notes, "group", group.name)
        if group.name == SKELETON:
            if not _keeps_skeleton(store, group, place):
                continue
        elif group.name not in words.names.groups:
            if group.name not in owners:
                content = ", ".join(map(shown, (*group.features, *group.params)))
                content = f" (it has {content})" if content else " and is empty"
                place.dropped("", f"It does not belong to a node in the dump{content}.")
            continue
        yield (
            f"groups/{words.names.groups[group.name]}.yaml",
            without_empty(
                description=group.annotation,
                **_layer_content(words, group, place),
                files=_FILES if group.name == DEFAULT else {},
            ),
        )


def _keeps_skeleton(store: Store, group: Group, place: Place) -> bool:
    """Return whether the skeleton is kept, which is so if it sets something, or a node is in it."""
    used = bool(group.features or group.params) or any(SKELETON in node.membership for node in store.nodes)
    if used:
        reason = "New nodes joined it automatically; add the group skeleton to their `groups:`."
        place.changed("name", reason)
    else:
        place.dropped(
            "", "It is empty and has no nodes; gitcfg has no group that new nodes join automatically."
        )
    return used


def _convert_nodes(store: Store, words: Vocabulary, notes: list[Note]) -> Iterator[tuple[str, Content]]:
    own = find_identity_groups(store)
    groups = frozenset(group.name for group in store.groups)
    for node in store.nodes:
        if node.name in words.names.nodes:
            place = Place(notes, "node", node.name)
            content = _node_content(words, node, own.get(node.name), groups, place)
            yield f"nodes/{node.name}.yaml", content


def _node_content(
    words: Vocabulary, given: Node, own: Group | None, groups: Container[str], place: Place
) -> dict[str, Any]:
    """Return the content of a node's file; `own` is its identity group."""
    if not given.provisioned:
        reason = f"It checked in but was never provisioned: it gets the label {_UNPROVISIONED}."
        place.look("provisioned", reason)
    return without_empty(
        description=given.annotation or (own.annotation if own else ""),
        groups=_list_groups(words, given, own, groups, place),
        **(_layer_content(words, own, place) if own else {}),
        labels=[] if given.provisioned else [_UNPROVISIONED],
    )


def _layer_content(words: Vocabulary, given: Group, place: Place) -> dict[str, Any]:
    return {
        "features": translate_names(given.features, words.names.feature, "features", place),
        "params": convert_bindings(words, given.params, place),
    }


def _list_groups(
    words: Vocabulary, given: Node, own: Group | None, groups: Container[str], place: Place
) -> list[str]:
    """Return the groups of a node, without those that contain every node."""

    def translate(name: str) -> str | None:
        known = words.names.groups.get(name)
        return known if known or name in groups else name

    implied = {DEFAULT: "the default group", **({own.name: "its identity group"} if own else {})}
    for name in given.membership:
        if name in implied:
            place.dropped("membership", f"It lists {implied[name]}, which the node is in anyway.")
    listed = (name for name in given.membership if name not in implied)
    return translate_names(listed, translate, "membership", place)


def _convert_subsystems(
    given: Iterable[Subsystem], names: Names, patterns: Mapping[str, str], notes: list[Note]
) -> dict[str, Any]:
    """Return the subsystems by name; `patterns` are the families of names."""
    result = {}
    for subsystem in given:
        place = Place(notes, "subsystem", subsystem.name)
        exact = translate_names(subsystem.params, names.parameter, "params", place)
        params = list(dict.fromkeys(patterns.get(name, name) for name in exact))
        result[names.subsystems[subsystem.name]] = without_empty(
            description=subsystem.annotation, params=params
        )
    if result:
        reason = (
            "A dump does not include where a daemon runs and how it restarts: add `features` and commands."
        )
        Place(notes, "subsystem", "").look("", reason)
    return dict(sorted(result.items()))
