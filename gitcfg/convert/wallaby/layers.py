"""Features, groups and nodes as the repository's files."""

from collections.abc import Container
from typing import Any

from gitcfg.convert.definitions import without_empty
from gitcfg.convert.notes import Place
from gitcfg.convert.wallaby.bindings import Vocabulary, convert_bindings
from gitcfg.convert.wallaby.identity import DEFAULT
from gitcfg.convert.wallaby.lists import translate_names
from gitcfg.convert.wallaby.store import Feature, Group, Node

_FILES = {"/etc/condor/config.d/50-gitcfg.config": {"format": "condor", "params": ["*"]}}
_UNPROVISIONED = "unprovisioned"


def convert_feature(words: Vocabulary, given: Feature, place: Place) -> dict[str, Any]:
    """The content of a feature's file."""
    called = words.names.feature
    return without_empty(
        description=given.annotation,
        include=translate_names(given.included, called, "included", place),
        depends=translate_names(given.depends, called, "depends", place),
        conflicts=translate_names(given.conflicts, called, "conflicts", place),
        params=convert_bindings(words, given.params, place),
    )


def convert_group(words: Vocabulary, given: Group, place: Place) -> dict[str, Any]:
    """The content of a group's file; the default group writes what every node gets."""
    return without_empty(
        description=given.annotation,
        **_convert_layer(words, given, place),
        files=_FILES if given.name == DEFAULT else {},
    )


def _convert_layer(words: Vocabulary, given: Group, place: Place) -> dict[str, Any]:
    return {
        "features": translate_names(given.features, words.names.feature, "features", place),
        "params": convert_bindings(words, given.params, place),
    }


def convert_node(
    words: Vocabulary, given: Node, own: Group | None, groups: Container[str], place: Place
) -> dict[str, Any]:
    """The content of a node's file; `own` is its identity group."""
    if not given.provisioned:
        reason = f"It only checked in and was never set up: it has the label {_UNPROVISIONED}."
        place.look("provisioned", reason)
    return without_empty(
        description=given.annotation or (own.annotation if own else ""),
        groups=_list_groups(words, given, own, groups, place),
        **(_convert_layer(words, own, place) if own else {}),
        labels=[] if given.provisioned else [_UNPROVISIONED],
    )


def _list_groups(
    words: Vocabulary, given: Node, own: Group | None, groups: Container[str], place: Place
) -> list[str]:
    """A node's groups, without those that it has anyway."""

    def called(name: str) -> str | None:
        known = words.names.groups.get(name)
        return known if known or name in groups else name

    implied = {DEFAULT: "the default group", **({own.name: "its identity group"} if own else {})}
    for name in given.membership:
        if name in implied:
            place.dropped("membership", f"It names {implied[name]}, which a node is in anyway.")
    return translate_names(
        [name for name in given.membership if name not in implied], called, "membership", place
    )
