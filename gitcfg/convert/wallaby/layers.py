"""Features, groups and nodes as the repository's files."""

from collections.abc import Container
from typing import Any

from gitcfg.convert.definitions import said
from gitcfg.convert.notes import Place
from gitcfg.convert.wallaby.bindings import Vocabulary, bindings
from gitcfg.convert.wallaby.identity import DEFAULT
from gitcfg.convert.wallaby.lists import listed
from gitcfg.convert.wallaby.store import Feature, Group, Node

FILES = {"/etc/condor/config.d/50-gitcfg.config": {"format": "condor", "params": ["*"]}}
UNPROVISIONED = "unprovisioned"


def feature(words: Vocabulary, given: Feature, place: Place) -> dict[str, Any]:
    """The content of a feature's file."""
    called = words.names.feature
    return said(
        description=given.annotation,
        include=listed(given.included, called, "included", place),
        depends=listed(given.depends, called, "depends", place),
        conflicts=listed(given.conflicts, called, "conflicts", place),
        params=bindings(words, given.params, place),
    )


def group(words: Vocabulary, given: Group, place: Place) -> dict[str, Any]:
    """The content of a group's file; the default group writes what every node gets."""
    return said(
        description=given.annotation,
        **_layer(words, given, place),
        files=FILES if given.name == DEFAULT else {},
    )


def _layer(words: Vocabulary, given: Group, place: Place) -> dict[str, Any]:
    return {
        "features": listed(given.features, words.names.feature, "features", place),
        "params": bindings(words, given.params, place),
    }


def node(
    words: Vocabulary, given: Node, own: Group | None, groups: Container[str], place: Place
) -> dict[str, Any]:
    """The content of a node's file; `own` is its identity group."""
    if not given.provisioned:
        reason = f"It only checked in and was never set up: it has the label {UNPROVISIONED}."
        place.look("provisioned", reason)
    return said(
        description=given.annotation or (own.annotation if own else ""),
        groups=_groups(words, given, own, groups, place),
        **(_layer(words, own, place) if own else {}),
        labels=[] if given.provisioned else [UNPROVISIONED],
    )


def _groups(
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
    return listed([name for name in given.membership if name not in implied], called, "membership", place)
