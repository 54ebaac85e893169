"""The files of a repository that says what a store says."""

from collections.abc import Iterator
from typing import Any

from gitcfg.convert.definitions import parameter_files
from gitcfg.convert.notes import Note, Place
from gitcfg.convert.wallaby import layers
from gitcfg.convert.wallaby.bindings import Vocabulary
from gitcfg.convert.wallaby.evidence import gather
from gitcfg.convert.wallaby.families import families
from gitcfg.convert.wallaby.identity import DEFAULT, SKELETON, identities, identity_of
from gitcfg.convert.wallaby.kinds import decide
from gitcfg.convert.wallaby.names import choose_names, once
from gitcfg.convert.wallaby.parameters import declarations
from gitcfg.convert.wallaby.store import Group, Store
from gitcfg.convert.wallaby.subsystems import subsystems
from gitcfg.model.names import PARAMETER, shown

Content = dict[str, Any]


def repository(given: Store, notes: list[Note]) -> dict[str, Content]:
    """Paths and contents."""
    store = _unique(given, notes)
    names = choose_names(store, notes)
    evidence = gather(store, names)
    kinds = {name: decide(found, Place(notes, "parameter", name)) for name, found in evidence.items()}
    words = Vocabulary(names, evidence, kinds)
    kin = families(store, names, evidence, kinds)
    patterns = {name: family.pattern for family in kin for name in family.members}
    processes = subsystems(store.subsystems, names, patterns, notes)
    return {
        "gitcfg.yaml": {"format": 1},
        **parameter_files(declarations(words, kin, notes)),
        **({"subsystems/condor.yaml": {"subsystems": processes}} if processes else {}),
        **dict(_features(store, words, notes)),
        **dict(_groups(store, words, notes)),
        **dict(_nodes(store, words, notes)),
    }


def _unique(store: Store, notes: list[Note]) -> Store:
    """The store with each definition once, and without parameters that have no legal name."""
    declared = once(store.parameters, "parameter", notes, folds=True)
    for parameter in declared:
        if not PARAMETER.fullmatch(parameter.name):
            reason = f"{shown(parameter.name)} is no legal name for a parameter."
            Place(notes, "parameter", parameter.name).dropped("", reason)
    return Store(
        features=once(store.features, "feature", notes),
        groups=once(store.groups, "group", notes),
        nodes=once(store.nodes, "node", notes, folds=True),
        parameters=tuple(parameter for parameter in declared if PARAMETER.fullmatch(parameter.name)),
        subsystems=once(store.subsystems, "subsystem", notes),
    )


def _features(store: Store, words: Vocabulary, notes: list[Note]) -> Iterator[tuple[str, Content]]:
    for feature in store.features:
        content = layers.feature(words, feature, Place(notes, "feature", feature.name))
        yield f"features/{words.names.features[feature.name]}.yaml", content


def _groups(store: Store, words: Vocabulary, notes: list[Note]) -> Iterator[tuple[str, Content]]:
    groups = {DEFAULT: Group(DEFAULT, "", False, (), {}), **{group.name: group for group in store.groups}}
    owners = identities(store)
    for group in groups.values():
        place = Place(notes, "group", group.name)
        if group.name == SKELETON:
            if not _skeleton(store, group, place):
                continue
        elif group.name not in words.names.groups:
            if group.name not in owners:
                place.dropped("", f"It is the identity of no node in the dump{_content(group)}.")
            continue
        yield f"groups/{words.names.groups[group.name]}.yaml", layers.group(words, group, place)


def _content(group: Group) -> str:
    held = [*group.features, *group.params]
    return f" (it holds {', '.join(map(shown, held))})" if held else ", and says nothing"


def _skeleton(store: Store, group: Group, place: Place) -> bool:
    """Is the skeleton carried over? Only if it says something, or a node is in it."""
    used = bool(group.features or group.params) or any(SKELETON in node.membership for node in store.nodes)
    if used:
        reason = "New nodes joined it by themselves; name the group skeleton in their `groups:`."
        place.changed("name", reason)
    else:
        place.dropped("", "It is empty and no node is in it; there is no group that new nodes join here.")
    return used


def _nodes(store: Store, words: Vocabulary, notes: list[Note]) -> Iterator[tuple[str, Content]]:
    own = identity_of(store)
    groups = frozenset(group.name for group in store.groups)
    for node in store.nodes:
        if node.name in words.names.nodes:
            place = Place(notes, "node", node.name)
            yield f"nodes/{node.name}.yaml", layers.node(words, node, own.get(node.name), groups, place)
