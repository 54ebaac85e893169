"""The files of a repository that says what a store says."""

from collections.abc import Iterator
from typing import Any

from gitcfg.convert.definitions import parameter_files
from gitcfg.convert.notes import Note, Place
from gitcfg.convert.wallaby import layers
from gitcfg.convert.wallaby.bindings import Vocabulary
from gitcfg.convert.wallaby.evidence import gather_evidence
from gitcfg.convert.wallaby.families import find_families
from gitcfg.convert.wallaby.identity import DEFAULT, SKELETON, find_identities, find_identity_groups
from gitcfg.convert.wallaby.kinds import decide_type
from gitcfg.convert.wallaby.names import choose_names, drop_repeated
from gitcfg.convert.wallaby.parameters import declare_parameters
from gitcfg.convert.wallaby.store import Group, Store
from gitcfg.convert.wallaby.subsystems import convert_subsystems
from gitcfg.model.names import PARAMETER, shown

Content = dict[str, Any]


def build_repository(given: Store, notes: list[Note]) -> dict[str, Content]:
    """Paths and contents."""
    store = _drop_repeated(given, notes)
    names = choose_names(store, notes)
    evidence = gather_evidence(store, names)
    kinds = {name: decide_type(found, Place(notes, "parameter", name)) for name, found in evidence.items()}
    words = Vocabulary(names, evidence, kinds)
    kin = find_families(store, names, evidence, kinds)
    patterns = {name: family.pattern for family in kin for name in family.members}
    processes = convert_subsystems(store.subsystems, names, patterns, notes)
    return {
        "gitcfg.yaml": {"format": 1},
        **parameter_files(declare_parameters(words, kin, notes)),
        **({"subsystems/condor.yaml": {"subsystems": processes}} if processes else {}),
        **dict(_convert_features(store, words, notes)),
        **dict(_convert_groups(store, words, notes)),
        **dict(_convert_nodes(store, words, notes)),
    }


def _drop_repeated(store: Store, notes: list[Note]) -> Store:
    """The store with each definition once, and without parameters that have no legal name."""
    declared = drop_repeated(store.parameters, "parameter", notes, folds=True)
    for parameter in declared:
        if not PARAMETER.fullmatch(parameter.name):
            reason = f"{shown(parameter.name)} is no legal name for a parameter."
            Place(notes, "parameter", parameter.name).dropped("", reason)
    return Store(
        features=drop_repeated(store.features, "feature", notes),
        groups=drop_repeated(store.groups, "group", notes),
        nodes=drop_repeated(store.nodes, "node", notes, folds=True),
        parameters=tuple(parameter for parameter in declared if PARAMETER.fullmatch(parameter.name)),
        subsystems=drop_repeated(store.subsystems, "subsystem", notes),
    )


def _convert_features(store: Store, words: Vocabulary, notes: list[Note]) -> Iterator[tuple[str, Content]]:
    for feature in store.features:
        content = layers.convert_feature(words, feature, Place(notes, "feature", feature.name))
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
                place.dropped("", f"It is the identity of no node in the dump{_describe_content(group)}.")
            continue
        yield f"groups/{words.names.groups[group.name]}.yaml", layers.convert_group(words, group, place)


def _describe_content(group: Group) -> str:
    held = [*group.features, *group.params]
    return f" (it holds {', '.join(map(shown, held))})" if held else ", and says nothing"


def _keeps_skeleton(store: Store, group: Group, place: Place) -> bool:
    """Is the skeleton carried over? Only if it says something, or a node is in it."""
    used = bool(group.features or group.params) or any(SKELETON in node.membership for node in store.nodes)
    if used:
        reason = "New nodes joined it by themselves; name the group skeleton in their `groups:`."
        place.changed("name", reason)
    else:
        place.dropped("", "It is empty and no node is in it; there is no group that new nodes join here.")
    return used


def _convert_nodes(store: Store, words: Vocabulary, notes: list[Note]) -> Iterator[tuple[str, Content]]:
    own = find_identity_groups(store)
    groups = frozenset(group.name for group in store.groups)
    for node in store.nodes:
        if node.name in words.names.nodes:
            place = Place(notes, "node", node.name)
            yield (
                f"nodes/{node.name}.yaml",
                layers.convert_node(words, node, own.get(node.name), groups, place),
            )
