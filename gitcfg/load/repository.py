"""A repository as a whole: `gitcfg.yaml`, and the model of a tree."""

import re
from collections.abc import Iterable
from typing import Any

from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load.cache import Keeper, Packs
from gitcfg.load.collections import Sheets, Shelf
from gitcfg.load.context import Findings, Known, Reading, Unread
from gitcfg.load.document import Document
from gitcfg.load.features import FEATURES, GROUPS
from gitcfg.load.keys import Keys, secrets_kind
from gitcfg.load.nodes import NodeSets, nodes_kind, nodesets_kind
from gitcfg.load.overrides import day, holds_kind, overrides_kind
from gitcfg.load.parameters import PARAMETERS, SUBSYSTEMS
from gitcfg.load.parts import refs
from gitcfg.load.rules import ALLOCATIONS, RULES
from gitcfg.model import (
    Finding,
    GitcfgError,
    Ignore,
    Model,
    Origin,
    Ref,
    Release,
    Settings,
    Share,
    Undeclared,
)
from gitcfg.model.delivery import EVERYONE
from gitcfg.model.names import shown
from gitcfg.model.text import seconds

_SHARE = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?%")


def release(reading: Reading, doc: Document) -> Release | None:
    """Return how fast; None: all at once. What cannot be meant is GC102, and counts as left out."""
    said = doc.value.get("release")
    if said is None:
        return None
    plain = Release(doc.key("release"))
    first = said.get("first")
    return Release(
        plain.origin,
        _stages(reading, doc, said["stages"]) if "stages" in said else plain.stages,
        _settle(reading, doc, said["settle"]) if "settle" in said else plain.settle,
        said.get("max_failures", plain.max_failures),
        None if first is None else Ref(first, doc.at("release", "first")),
    )


def _stages(reading: Reading, doc: Document, said: list[Any]) -> tuple[Share, ...]:
    found = [_share(item) for item in said]
    for place, share in enumerate(found):
        at = doc.at("release", "stages", place)
        if share is None:
            message = f"{shown(str(said[place]))} is no size of a stage."
            reading.report("GC102", "stages", message, at, hint="Write how many nodes, or a share: 1, 10%.")
            return (EVERYONE,)
        before = found[place - 1] if place else None
        if before is not None and before.percent == share.percent and before.number >= share.number:
            message = f"The stage {said[place]} has no more nodes than {said[place - 1]} before it."
            reading.report("GC102", "stages", message, at, hint="Stages count from the first one on.")
    if not found or found[-1] != EVERYONE:
        message = "The last stage leaves nodes out."
        reading.report("GC102", "stages", message, doc.at("release", "stages"), hint="Let it be 100%.")
    return tuple(share for share in found if share is not None)


def _share(said: Any) -> Share | None:
    if isinstance(said, int):
        return Share(said) if said > 0 else None
    if not _SHARE.fullmatch(said):
        return None
    number = float(said[:-1])
    return Share(number, percent=True) if 0 < number <= 100 else None


def _settle(reading: Reading, doc: Document, said: str) -> float:
    found = seconds(said)
    if found is None:
        message = f"{shown(said)} is no length of time."
        at = doc.at("release", "settle")
        reading.report("GC102", "settle", message, at, hint="Write 10m, 90s, 2h or 1d.")
        return 0.0
    return found


# The file that marks the root of a repository.

FILE = "gitcfg.yaml"


def is_repository(tree: Tree) -> bool:
    """Return whether gitcfg.yaml is a file. A link or a submodule of that name does not count."""
    entry = tree.entry(FILE)
    return entry is not None and entry.kind is EntryKind.FILE


def settings_entry(tree: Tree) -> Entry:
    """Return what stands at gitcfg.yaml. GitcfgError: no file does, so that this is no repository."""
    entry = tree.entry(FILE)
    if entry is None or entry.kind is not EntryKind.FILE:
        raise GitcfgError(f"There is no {FILE} here.", "`gitcfg init` makes a repository.")
    return entry


# gitcfg.yaml: the settings of a repository (GC104).

FORMAT = 1


def load_settings(reading: Reading) -> Settings | None:
    """Return the settings, or None where the format is not one this program reads."""
    doc, wrong = reading.read(settings_entry(reading.tree), "gitcfg")
    if not isinstance(doc.value, dict):
        return Settings(Origin(FILE))
    number = doc.value.get("format")
    if number != FORMAT:
        which = "says no format" if number is None else f"is of format {number}"
        message = f"The repository {which}; this version of gitcfg reads format {FORMAT}."
        reading.findings[:] = []
        reading.report(
            "GC104", FILE, message, doc.at("format"), hint=f"Write `format: {FORMAT}`, or use a newer gitcfg."
        )
        return None
    return Settings(Origin(FILE)) if wrong else _settings(reading, doc)


def _settings(reading: Reading, doc: Document) -> Settings:
    get = doc.value.get
    default = Settings(Origin(FILE))
    return Settings(
        Origin(FILE),
        default_group=get("default_group", default.default_group),
        undeclared=Undeclared(get("undeclared", default.undeclared)),
        protected=tuple(get("protected", default.protected)),
        check=get("check", default.check),
        ratchet=get("ratchet", default.ratchet),
        signatures=get("signatures", default.signatures),
        walk_in=_walk_in(reading, doc),
        release=release(reading, doc),
        ignore=tuple(_ignore(reading, doc, place) for place in range(len(get("ignore", ())))),
        max_nodes=get("max_nodes", default.max_nodes),
        max_places=get("max_places", default.max_places),
    )


def _ignore(reading: Reading, doc: Document, place: int) -> Ignore:
    said, path = doc.value["ignore"][place], ("ignore", place)
    until = day(reading, doc, said["until"], doc.at(*path, "until")) if "until" in said else None
    return Ignore(said["code"], said["reason"], doc.at(*path), said.get("subject"), until)


def _walk_in(reading: Reading, doc: Document) -> tuple[Ref, ...] | None:
    said = doc.value.get("walk_in")
    if said is None:
        return None
    groups = {key.value: node for key, node in doc.top["walk_in"].value}.get("groups")
    default = doc.value.get("default_group", "default")
    return refs(reading, doc.file, groups, said["groups"], default) if groups is not None else ()


# A whole tree as a Model: every kind, each read as far as it is asked for.


def load(tree: Tree, keeper: Keeper | None = None) -> Model:
    """Read a tree. What is wrong with its files is in the model's findings (1xx).

    Definitions are read when they are asked for, and everything when the findings are, or what is unread.
    `keeper` keeps what was read for the next time. GitcfgError: the tree has no gitcfg.yaml.
    """
    reading = Reading(tree)
    settings = load_settings(reading)
    if settings is None:
        return Model(Settings(Origin("gitcfg.yaml")), findings=tuple(reading.findings))
    return _model(tree, settings, Packs(keeper, settings), reading.findings)


def _model(tree: Tree, settings: Settings, packs: Packs, findings: Iterable[Finding]) -> Model:
    nodes = Shelf(tree, nodes_kind(settings), packs)
    parameters = Sheets(tree, PARAMETERS, packs)
    subsystems = Sheets(tree, SUBSYSTEMS, packs)
    features = Shelf(tree, FEATURES, packs)
    groups = Shelf(tree, GROUPS, packs)
    written = Shelf(tree, nodesets_kind(settings), packs)
    nodesets = NodeSets(written, nodes, settings.max_nodes)
    overrides = Shelf(tree, overrides_kind(settings), packs)
    holds, keys = Shelf(tree, holds_kind(settings), packs), Keys(tree)
    secrets = Shelf(tree, secrets_kind(tree), packs)
    rules = Sheets(tree, RULES, packs)
    allocations = Shelf(tree, ALLOCATIONS, packs)
    names = Reading(tree)
    templates, sources = _names(names, "templates"), _names(names, "files")
    defined: tuple[Shelf[Any] | Sheets[Any], ...] = (
        *(nodes, parameters, subsystems, features, groups),
        *(overrides, holds, secrets, rules, allocations),
    )
    parts = (Known(findings), *defined, nodesets, keys, Known(names.findings))
    return Model(
        settings,
        parameters=parameters,
        subsystems=subsystems,
        features=features,
        groups=groups,
        nodes=nodes,
        nodesets=nodesets,
        overrides=overrides,
        holds=holds,
        keys=keys,
        secrets=secrets,
        rules=rules,
        allocations=allocations,
        templates=templates,
        sources=sources,
        unread=Unread({part.kind.folder: part for part in (*defined, written)}),
        findings=Findings(parts),
    )


def load_nodes_only(tree: Tree, keeper: Keeper | None = None) -> Model:
    """Return a Model of the nodes and node sets alone, for who was there. Its findings say nothing."""
    settings = load_settings(Reading(tree))
    if settings is None:
        return Model(Settings(Origin("gitcfg.yaml")))
    packs = Packs(keeper, settings)
    nodes = Shelf(tree, nodes_kind(settings), packs)
    written = Shelf(tree, nodesets_kind(settings), packs)
    return Model(settings, nodes=nodes, nodesets=NodeSets(written, nodes, settings.max_nodes))


def findings_so_far(model: Model) -> tuple[Finding, ...]:
    """Return the findings about names and about the definitions that have been read until now."""
    return model.findings.so_far() if isinstance(model.findings, Findings) else tuple(model.findings)


def _names(reading: Reading, folder: str) -> frozenset[str]:
    return frozenset(entry.path.removeprefix(folder + "/") for entry in reading.files(folder, suffix=""))
