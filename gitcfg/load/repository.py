"""A repository as a whole: `gitcfg.yaml`, and the model of a tree."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any, Protocol, overload

from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.load.cache import Keeper, Packs
from gitcfg.load.collections import LazyDefinitions, SectionDefinitions
from gitcfg.load.definitions import (
    ALLOCATIONS,
    FEATURES,
    GROUPS,
    PARAMETERS,
    RULES,
    SUBSYSTEMS,
    holds_kind,
    overrides_kind,
    read_day,
    secrets_kind,
)
from gitcfg.load.document import Document
from gitcfg.load.keys import Keys
from gitcfg.load.loader import Loader
from gitcfg.load.nodes import NodeSets, nodes_kind, nodesets_kind
from gitcfg.load.parts import read_refs
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

FILE = "gitcfg.yaml"
FORMAT = 1
_SHARE = re.compile(r"[0-9]{1,3}(\.[0-9]{1,6})?%")


def is_repository(tree: Tree) -> bool:
    """Return whether gitcfg.yaml is a file. A link or a submodule of that name does not count."""
    entry = tree.entry(FILE)
    return entry is not None and entry.kind is EntryKind.FILE


def settings_entry(tree: Tree) -> Entry:
    """Return the entry of gitcfg.yaml.

    Raise GitcfgError if it is not a file: the tree is not a repository.
    """
    entry = tree.entry(FILE)
    if entry is None or entry.kind is not EntryKind.FILE:
        raise GitcfgError(f"There is no {FILE} here.", "Run `gitcfg init` to create a repository.")
    return entry


def load_settings(loader: Loader) -> Settings | None:
    """Return the settings, or None if this program does not read the repository's format (GC104)."""
    doc, wrong = loader.read(settings_entry(loader.tree), "gitcfg")
    if not isinstance(doc.value, dict):
        return Settings(Origin(FILE))
    number = doc.value.get("format")
    if number != FORMAT:
        which = "has no format" if number is None else f"has format {number}"
        message = f"The repository {which}; this version of gitcfg reads format {FORMAT}."
        loader.findings[:] = []
        loader.report(
            "GC104", FILE, message, doc.at("format"), hint=f"Write `format: {FORMAT}`, or use a newer gitcfg."
        )
        return None
    return Settings(Origin(FILE)) if wrong else _read_settings(loader, doc)


def _read_settings(loader: Loader, doc: Document) -> Settings:
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
        walk_in=_read_walk_in(loader, doc),
        release=_read_release(loader, doc),
        ignore=tuple(_read_ignore(loader, doc, place) for place in range(len(get("ignore", ())))),
        max_nodes=get("max_nodes", default.max_nodes),
        max_places=get("max_places", default.max_places),
    )


def _read_ignore(loader: Loader, doc: Document, place: int) -> Ignore:
    given, path = doc.value["ignore"][place], ("ignore", place)
    until = read_day(loader, doc, given["until"], doc.at(*path, "until")) if "until" in given else None
    return Ignore(given["code"], given["reason"], doc.at(*path), given.get("subject"), until)


def _read_walk_in(loader: Loader, doc: Document) -> tuple[Ref, ...] | None:
    given = doc.value.get("walk_in")
    if given is None:
        return None
    groups = {key.value: node for key, node in doc.top["walk_in"].value}.get("groups")
    default = doc.value.get("default_group", "default")
    return read_refs(loader, doc.file, groups, given["groups"], default) if groups is not None else ()


def _read_release(loader: Loader, doc: Document) -> Release | None:
    """Return the settings of releases; None: all nodes at once.

    Report wrong values as GC102, and use the defaults instead.
    """
    given = doc.value.get("release")
    if given is None:
        return None
    default = Release(doc.key("release"))
    first = given.get("first")
    settle = default.settle
    if "settle" in given:
        found = seconds(given["settle"])
        if found is None:
            message = f"{shown(given['settle'])} is not a duration."
            at = doc.at("release", "settle")
            loader.report("GC102", "settle", message, at, hint="Write 10m, 90s, 2h or 1d.")
        settle = found or 0.0
    return Release(
        default.origin,
        _read_stages(loader, doc, given["stages"]) if "stages" in given else default.stages,
        settle,
        given.get("max_failures", default.max_failures),
        None if first is None else Ref(first, doc.at("release", "first")),
    )


def _read_stages(loader: Loader, doc: Document, given: list[Any]) -> tuple[Share, ...]:
    found = [_parse_share(item) for item in given]
    for place, share in enumerate(found):
        at = doc.at("release", "stages", place)
        if share is None:
            message = f"{shown(str(given[place]))} is not a valid stage."
            loader.report(
                "GC102", "stages", message, at, hint="Write a number of nodes or a percentage: 1, 10%."
            )
            return (EVERYONE,)
        before = found[place - 1] if place else None
        if before is not None and before.percent == share.percent and before.number >= share.number:
            message = f"The stage {given[place]} is not larger than {given[place - 1]} before it."
            loader.report(
                "GC102", "stages", message, at, hint="The size of a stage includes all earlier stages."
            )
    if not found or found[-1] != EVERYONE:
        message = "The last stage does not include all nodes."
        loader.report("GC102", "stages", message, doc.at("release", "stages"), hint="Set it to 100%.")
    return tuple(share for share in found if share is not None)


def _parse_share(given: Any) -> Share | None:
    if isinstance(given, int):
        return Share(given) if given > 0 else None
    if not _SHARE.fullmatch(given):
        return None
    number = float(given[:-1])
    return Share(number, percent=True) if 0 < number <= 100 else None


# The findings of a tree, and what could not be understood. Both are complete when they are requested.


class Part(Protocol):
    """A part of a tree that is read separately, such as the definitions of a kind."""

    def findings(self) -> Iterable[Finding]:
        """Return all findings of it. This reads all of it."""
        ...

    def so_far(self) -> Iterable[Finding]:
        """Return the findings that are known without reading more."""
        ...


class Known:
    """A part that has been read: settings, names."""

    def __init__(self, findings: Iterable[Finding]) -> None:
        self._findings = tuple(findings)

    def findings(self) -> Iterable[Finding]:
        return self._findings

    def so_far(self) -> Iterable[Finding]:
        return self._findings


class Findings(Sequence[Finding]):
    """The findings of all parts, in their order. Access to an item or to the length reads everything."""

    def __init__(self, parts: Iterable[Part]) -> None:
        self._parts = tuple(parts)
        self._all: tuple[Finding, ...] | None = None

    @overload
    def __getitem__(self, index: int) -> Finding: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[Finding]: ...

    def __getitem__(self, index: int | slice) -> Finding | Sequence[Finding]:
        return self._whole()[index]

    def __len__(self) -> int:
        return len(self._whole())

    def __iter__(self) -> Iterator[Finding]:
        return iter(self._whole())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._whole() == tuple(other)

    __hash__ = None  # type: ignore[assignment]

    def so_far(self) -> tuple[Finding, ...]:
        """Return the findings of what has been read until now."""
        return tuple(finding for part in self._parts for finding in part.so_far())

    def _whole(self) -> tuple[Finding, ...]:
        if self._all is None:
            self._all = tuple(finding for part in self._parts for finding in part.findings())
        return self._all


class Definitions(Protocol):
    """Definitions of which some may not be understood."""

    def misread(self, name: str) -> bool: ...

    def all_misread(self) -> Iterable[str]: ...


class Misread(Set[str]):
    """The names that could not be understood. A test for one name reads only that definition."""

    def __init__(self, definitions: Definitions) -> None:
        self._definitions = definitions

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self._definitions.misread(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._definitions.all_misread())

    def __len__(self) -> int:
        return sum(1 for _ in self)

    @classmethod
    def _from_iterable(cls, names: Iterable[str]) -> Set[str]:  # type: ignore[override]
        return frozenset(names)


class Unread(Mapping[str, Set[str]]):
    """The names that could not be understood, by kind. Only kinds with such names are keys."""

    def __init__(self, kinds: Mapping[str, Definitions]) -> None:
        self._kinds = {kind: Misread(definitions) for kind, definitions in kinds.items()}

    def __getitem__(self, kind: str) -> Set[str]:
        return self._kinds[kind]

    def __iter__(self) -> Iterator[str]:
        return (kind for kind, names in self._kinds.items() if names)

    def __len__(self) -> int:
        return sum(1 for _ in self)


# A whole tree as a Model: all kinds, each read as far as it is needed.


def load(tree: Tree, keeper: Keeper | None = None) -> Model:
    """Return the model of a tree. What is wrong with its files is in the model's findings (1xx).

    Definitions are read when they are used; `findings` and `unread` read everything. `keeper` stores what was
    read for later calls. Raise GitcfgError if the tree has no gitcfg.yaml.
    """
    loader = Loader(tree)
    settings = load_settings(loader)
    if settings is None:
        return Model(Settings(Origin("gitcfg.yaml")), findings=tuple(loader.findings))
    return _model(tree, settings, Packs(keeper, settings), loader.findings)


def _model(tree: Tree, settings: Settings, packs: Packs, findings: Iterable[Finding]) -> Model:
    nodes = LazyDefinitions(tree, nodes_kind(settings), packs)
    parameters = SectionDefinitions(tree, PARAMETERS, packs)
    subsystems = SectionDefinitions(tree, SUBSYSTEMS, packs)
    features = LazyDefinitions(tree, FEATURES, packs)
    groups = LazyDefinitions(tree, GROUPS, packs)
    written = LazyDefinitions(tree, nodesets_kind(settings), packs)
    nodesets = NodeSets(written, nodes, settings.max_nodes)
    overrides = LazyDefinitions(tree, overrides_kind(settings), packs)
    holds, keys = LazyDefinitions(tree, holds_kind(settings), packs), Keys(tree)
    secrets = LazyDefinitions(tree, secrets_kind(tree), packs)
    rules = SectionDefinitions(tree, RULES, packs)
    allocations = LazyDefinitions(tree, ALLOCATIONS, packs)
    names = Loader(tree)
    templates, sources = _file_names(names, "templates"), _file_names(names, "files")
    defined: tuple[LazyDefinitions[Any] | SectionDefinitions[Any], ...] = (
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
    """Return a Model of the nodes and node sets only, for which nodes a tree has. It has no findings."""
    settings = load_settings(Loader(tree))
    if settings is None:
        return Model(Settings(Origin("gitcfg.yaml")))
    packs = Packs(keeper, settings)
    nodes = LazyDefinitions(tree, nodes_kind(settings), packs)
    written = LazyDefinitions(tree, nodesets_kind(settings), packs)
    return Model(settings, nodes=nodes, nodesets=NodeSets(written, nodes, settings.max_nodes))


def findings_so_far(model: Model) -> tuple[Finding, ...]:
    """Return the findings about names and about the definitions that have been read until now."""
    return model.findings.so_far() if isinstance(model.findings, Findings) else tuple(model.findings)


def _file_names(loader: Loader, folder: str) -> frozenset[str]:
    return frozenset(entry.path.removeprefix(folder + "/") for entry in loader.files(folder, suffix=""))
