"""How the files of each kind except nodes become definitions: features, groups, parameters, rules, ..."""

from collections.abc import Mapping
from datetime import date
from typing import Any

import msgspec

from gitcfg.git.tree import EntryKind, Tree
from gitcfg.load.collections import Kind, Section, SectionEntry, SectionKind
from gitcfg.load.document import Document, Pair, pairs, place
from gitcfg.load.loader import Loader
from gitcfg.load.nodes import node_names
from gitcfg.load.parts import (
    NONE,
    BindingRow,
    FileRow,
    RefRow,
    UseRow,
    pack_bindings,
    pack_files,
    pack_ref,
    pack_refs,
    pack_uses,
    read_binding,
    read_bindings,
    read_description,
    read_features,
    read_files,
    read_names,
    read_params,
    read_refs,
    unpack_bindings,
    unpack_files,
    unpack_ref,
    unpack_refs,
    unpack_uses,
)
from gitcfg.model import (
    Binding,
    Feature,
    Group,
    Hold,
    Op,
    Origin,
    Override,
    Parameter,
    Ref,
    Secret,
    Settings,
    Subsystem,
)
from gitcfg.model.definitions import Command
from gitcfg.model.names import FAMILY, NAME
from gitcfg.model.rules import Allocation, Count, Domain, Permit, Rule, RuleKind, Uniqueness

# features/**/*.yaml and groups/**/*.yaml: one definition a file.


class _PackedFeature(msgspec.Struct, frozen=True, array_like=True):
    """A feature, or a group, whose features are stored as `include`."""

    description: str
    include: list[UseRow]
    params: list[BindingRow]
    files: list[FileRow]
    depends: list[RefRow] = []
    conflicts: list[RefRow] = []
    after: list[RefRow] = []


def _read_feature(loader: Loader, doc: Document, name: str) -> Feature:
    if doc.value.get("resources"):
        message = "`resources` is not supported by this version."
        loader.report("GC105", "resources", message, doc.key("resources"))
    return Feature(
        name,
        Origin(doc.file),
        read_description(doc),
        include=read_features(loader, doc, "include"),
        depends=read_names(loader, doc, "depends"),
        conflicts=read_names(loader, doc, "conflicts"),
        after=read_names(loader, doc, "after"),
        params=read_params(doc),
        files=read_files(doc),
    )


def _pack_feature(feature: Feature) -> _PackedFeature:
    return _PackedFeature(
        feature.description,
        pack_uses(feature.include),
        pack_bindings(feature.params),
        pack_files(feature.files),
        *map(pack_refs, (feature.depends, feature.conflicts, feature.after)),
    )


def _unpack_feature(packed: _PackedFeature, name: str, origin: Origin) -> Feature:
    file = origin.file
    return Feature(
        name,
        origin,
        packed.description,
        unpack_uses(file, packed.include),
        unpack_refs(file, packed.depends),
        unpack_refs(file, packed.conflicts),
        unpack_refs(file, packed.after),
        unpack_bindings(file, packed.params),
        unpack_files(file, packed.files),
    )


def _read_group(loader: Loader, doc: Document, name: str) -> Group:
    return Group(
        name,
        Origin(doc.file),
        read_description(doc),
        features=read_features(loader, doc, "features"),
        params=read_params(doc),
        files=read_files(doc),
    )


def _pack_group(group: Group) -> _PackedFeature:
    params = pack_bindings(group.params)
    return _PackedFeature(group.description, pack_uses(group.features), params, pack_files(group.files))


def _unpack_group(packed: _PackedFeature, name: str, origin: Origin) -> Group:
    return Group(
        name,
        origin,
        packed.description,
        unpack_uses(origin.file, packed.include),
        unpack_bindings(origin.file, packed.params),
        unpack_files(origin.file, packed.files),
    )


FEATURES: Kind[Feature] = Kind(
    "features", "feature", NAME, _read_feature, Feature, _PackedFeature, _pack_feature, _unpack_feature
)
GROUPS: Kind[Group] = Kind(
    "groups", "group", NAME, _read_group, Group, _PackedFeature, _pack_group, _unpack_group
)


# parameters/**/*.yaml and subsystems/**/*.yaml: parameters, and the processes that they affect.


def _read_parameter(loader: Loader, doc: Document, entry: SectionEntry) -> Parameter:
    file, every, nodes = doc.file, {**doc.get("defaults"), **entry.given}, entry.nodes
    if "defaults" in doc.top:
        nodes = {**pairs(doc.top["defaults"]), **nodes}
    get = every.get

    def names(key: str) -> tuple[Ref, ...]:
        return read_refs(loader, file, nodes[key][1], every[key]) if key in every else ()

    default = read_binding(file, *nodes["default"], every["default"]) if "default" in every else None
    separator = get("separator")
    return Parameter(
        entry.name,
        entry.origin,
        description=str(get("description", "")),
        type=get("type", "list" if separator else None),
        schema=get("schema"),
        schema_origin=place(file, nodes["schema"][0]) if "schema" in every else None,
        default=None if default is None or default.op is Op.NULL else default,
        must_change=get("must_change", False),
        restart=get("restart", False),
        depends=names("depends"),
        conflicts=names("conflicts"),
        separator=separator,
        unique=get("unique", False),
        macros=get("macros"),
        level=get("level", 0),
        tags=tuple(get("tags", ())),
        secret=bool(get("secret", False)),
    )


def _family(parameter: Parameter) -> str | None:
    """Return a pattern in its normal form (`**` matches the same as `*`), or None for a single parameter."""
    family = parameter.name
    while "**" in family:
        family = family.replace("**", "*")
    return family if parameter.pattern else None


def _read_subsystem(loader: Loader, doc: Document, entry: SectionEntry) -> Subsystem:
    get = entry.given.get

    def names(key: str) -> tuple[Ref, ...]:
        return (
            read_refs(loader, doc.file, entry.nodes[key][1], entry.given[key]) if key in entry.nodes else ()
        )

    command = None
    if (check := get("check")) is not None:
        command = Command(tuple(check["run"]), str(check.get("timeout", "60s")), check.get("retries", 0))
    return Subsystem(
        entry.name,
        entry.origin,
        description=str(get("description", "")),
        params=names("params"),
        files=tuple(get("files", ())),
        features=names("features") if "features" in entry.nodes else None,
        covers=names("covers"),
        validate=tuple(get("validate", ())),
        reload=tuple(get("reload", ())),
        restart=tuple(get("restart", ())),
        stop=tuple(get("stop", ())),
        check=command,
        using=get("using", "new"),
    )


PARAMETERS: SectionKind[Parameter] = SectionKind(
    *("parameters", "parameter", FAMILY, _read_parameter, Parameter, Section[Parameter]),
    spoiling=frozenset({"defaults"}),
    family=_family,
)
SUBSYSTEMS: SectionKind[Subsystem] = SectionKind(
    "subsystems", "subsystem", NAME, _read_subsystem, Subsystem, Section[Subsystem]
)


# overrides/**/*.yaml and holds/**/*.yaml: they apply to some nodes for some time, with a reason.

NEVER = date.max


def read_day(loader: Loader, doc: Document, text: str, at: Origin) -> date:
    """Return the day in a text. If it is not a date, report GC102 and return `NEVER`."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        loader.report("GC102", doc.file, f"{text} is not a date.", at, hint="Write YYYY-MM-DD.")
        return NEVER


def _read_end(loader: Loader, doc: Document) -> date:
    return read_day(loader, doc, doc.value["until"], doc.at("until"))


def _read_selection(
    loader: Loader, doc: Document, most: int
) -> tuple[tuple[str, ...] | None, Ref | None, Origin]:
    """Return the listed nodes or else the condition, and its place."""
    where, nodes = doc.value.get("where"), doc.value.get("nodes")
    place = doc.at("nodes" if where is None else "where")
    members = None if nodes is None else node_names(loader, Ref(nodes, doc.at("nodes")), most)
    return members, None if where is None else Ref(where, place), place


def _position(origin: Origin) -> tuple[int, int]:
    return origin.line, origin.column


class _PackedOverride(msgspec.Struct, frozen=True, array_like=True):
    """A packed override; parts with places are rows."""

    reason: str
    until: date
    members: tuple[str, ...] | None
    place: tuple[int, int]
    until_at: tuple[int, int]
    where: RefRow | None
    params: list[BindingRow]
    features: list[UseRow]
    without: list[RefRow]
    files: list[FileRow]


def overrides_kind(settings: Settings) -> Kind[Override]:
    """Return the kind of overrides; each may list as many nodes as the settings allow."""

    def build(loader: Loader, doc: Document, name: str) -> Override:
        members, where, place = _read_selection(loader, doc, settings.max_nodes)
        return Override(
            name,
            Origin(doc.file),
            str(doc.value["reason"]),
            _read_end(loader, doc),
            members=members,
            place=place,
            until_at=doc.at("until"),
            where=where,
            params=read_params(doc),
            features=read_features(loader, doc, "features"),
            without=read_names(loader, doc, "without"),
            files=read_files(doc),
        )

    def empty(name: str, origin: Origin) -> Override:
        return Override(name, origin, "", NEVER, members=())

    return Kind(
        "overrides", "override", NAME, build, empty, _PackedOverride, _pack_override, _unpack_override
    )


def _pack_override(override: Override) -> _PackedOverride:
    return _PackedOverride(
        override.reason,
        override.until,
        override.members,
        _position(override.place or override.origin),
        _position(override.until_at or override.origin),
        pack_ref(override.where),
        pack_bindings(override.params),
        pack_uses(override.features),
        pack_refs(override.without),
        pack_files(override.files),
    )


def _unpack_override(packed: _PackedOverride, name: str, origin: Origin) -> Override:
    file = origin.file
    return Override(
        name,
        origin,
        packed.reason,
        packed.until,
        packed.members,
        Origin(file, *packed.place),
        Origin(file, *packed.until_at),
        unpack_ref(file, packed.where),
        unpack_bindings(file, packed.params),
        unpack_uses(file, packed.features),
        unpack_refs(file, packed.without),
        unpack_files(file, packed.files),
    )


class _PackedHold(msgspec.Struct, frozen=True, array_like=True):
    """A packed hold; parts with places are rows."""

    reason: str
    until: date
    commit: RefRow
    members: tuple[str, ...] | None
    place: tuple[int, int]
    until_at: tuple[int, int]
    where: RefRow | None


def holds_kind(settings: Settings) -> Kind[Hold]:
    """Return the kind of holds; each may list as many nodes as the settings allow."""

    def build(loader: Loader, doc: Document, name: str) -> Hold:
        members, where, place = _read_selection(loader, doc, settings.max_nodes)
        commit = Ref(doc.value["commit"], doc.at("commit"))
        return Hold(
            *(name, Origin(doc.file), str(doc.value["reason"]), _read_end(loader, doc), commit),
            *(members, place, doc.at("until"), where),
        )

    def empty(name: str, origin: Origin) -> Hold:
        return Hold(name, origin, "", NEVER, Ref("", origin), members=())

    return Kind("holds", "hold", NAME, build, empty, _PackedHold, _pack_hold, _unpack_hold)


def _pack_hold(hold: Hold) -> _PackedHold:
    return _PackedHold(
        hold.reason,
        hold.until,
        pack_refs([hold.commit])[0],
        hold.members,
        _position(hold.place or hold.origin),
        _position(hold.until_at or hold.origin),
        pack_ref(hold.where),
    )


def _unpack_hold(packed: _PackedHold, name: str, origin: Origin) -> Hold:
    file = origin.file
    return Hold(
        name,
        origin,
        packed.reason,
        packed.until,
        unpack_refs(file, [packed.commit])[0],
        packed.members,
        Origin(file, *packed.place),
        Origin(file, *packed.until_at),
        unpack_ref(file, packed.where),
    )


# secrets/**: which nodes may have which secret (NAME.yaml), and its encrypted content (NAME.age).


class _PackedSecret(msgspec.Struct, frozen=True, array_like=True):
    """A packed secret without what is in other files; parts with places are rows."""

    description: str
    where: RefRow
    version: int
    recipients: list[RefRow]


def secrets_kind(tree: Tree) -> Kind[Secret]:
    """Return the kind of secrets. Of NAME.age only its existence matters here."""

    def build(loader: Loader, doc: Document, name: str) -> Secret:
        return Secret(
            name,
            Origin(doc.file),
            read_description(doc),
            Ref(doc.value["for"], doc.at("for")),
            int(doc.value["version"]),
            read_names(loader, doc, "recipients"),
            _find_sealed(tree, doc.file),
        )

    def empty(name: str, origin: Origin) -> Secret:
        return Secret(name, origin, sealed=_find_sealed(tree, origin.file))

    def unpack(packed: _PackedSecret, name: str, origin: Origin) -> Secret:
        where, *recipients = unpack_refs(origin.file, (packed.where, *packed.recipients))
        sealed = _find_sealed(tree, origin.file)
        return Secret(name, origin, packed.description, where, packed.version, tuple(recipients), sealed)

    return Kind("secrets", "secret", NAME, build, empty, _PackedSecret, _pack_secret, unpack)


def _pack_secret(secret: Secret) -> _PackedSecret:
    assert secret.where is not None  # it was not misread
    where, *recipients = pack_refs([secret.where, *secret.recipients])
    return _PackedSecret(secret.description, where, secret.version, recipients)


def _find_sealed(tree: Tree, file: str) -> Origin | None:
    """Return the place of the encrypted content of the secret that this file defines, if it exists."""
    path = file.removesuffix(".yaml") + ".age"
    entry = tree.entry(path)
    return Origin(path) if entry is not None and entry.kind is EntryKind.FILE else None


# rules/**/*.yaml and allocations/*.yaml: what must hold for nodes together, and the decisions about it.


def _read_rule(loader: Loader, doc: Document, entry: SectionEntry) -> Rule:
    kind = next(kind for kind in RuleKind if kind in entry.given)
    node, given = entry.nodes[kind][1], entry.given[kind]

    def text(key: str) -> Ref | None:
        return Ref(entry.given[key], place(doc.file, entry.nodes[key][1])) if key in entry.given else None

    return Rule(
        entry.name,
        entry.origin,
        kind,
        str(entry.given.get("description", "")),
        feature=text(kind) if kind in (RuleKind.INSTALL, RuleKind.LIMIT) else None,
        params=read_bindings(doc.file, node, given) if kind is RuleKind.SET else NONE,
        domains=_read_domains(doc.file, node, given) if kind is RuleKind.DOMAIN else NONE,
        unique=_read_unique(text("unique")),
        require=text("require"),
        message=str(entry.given.get("message", "")),
        permit=_read_permit(loader, doc.file, pairs(node), given)
        if kind in (RuleKind.FORBID, RuleKind.ALLOW)
        else None,
        where=text("where"),
        over=text("over"),
        per=text("per"),
        count=_read_count(loader, doc.file, entry),
    )


def _read_domains(file: str, node: Any, given: dict[str, list[int | str]]) -> dict[str, Domain]:
    return {
        name: Domain(
            name,
            tuple(item if isinstance(item, str) else int(item) for item in items),  # 80.0 is a whole number
            place(file, key),
            tuple(place(file, item) for item in inner.value),
        )
        for (key, inner), (name, items) in zip(node.value, given.items(), strict=True)
    }


def _read_unique(given: Ref | None) -> Uniqueness | None:
    if given is None:
        return None
    return Uniqueness(given.name) if given.name in ("fleet", "node") else Uniqueness("key", given)


def _read_permit(loader: Loader, file: str, nodes: dict[str, Pair], given: dict[str, Any]) -> Permit:
    lists = {
        key: read_refs(loader, file, nodes[key][1], names) for key, names in given.items() if key != "inherit"
    }
    return Permit(**lists, inherit=given.get("inherit", True))


def _read_count(loader: Loader, file: str, entry: SectionEntry) -> Count | None:
    if "count" not in entry.given:
        return None
    given, at = entry.given["count"], place(file, entry.nodes["count"][1])
    if not isinstance(given, dict):
        return Count(int(given), int(given), at)
    least, most = int(given.get("min", 0)), int(given["max"]) if "max" in given else None
    if most is not None and least > most:
        message = f"The rule {entry.name} asks for at least {least} and at most {most}."
        loader.report("GC102", file, message, at, hint="Set min to at most max.")
    return Count(least, most, at)


RULES: SectionKind[Rule] = SectionKind(
    *("rules", "rule", NAME, _read_rule, lambda name, origin: Rule(name, origin, RuleKind.SET), Section[Rule])
)


class _PackedAllocation(msgspec.Struct, frozen=True, array_like=True):
    """A packed allocation; parts with places are rows."""

    install: list[RefRow]
    values: list[tuple[str, list[BindingRow]]]


def _read_allocation(loader: Loader, doc: Document, name: str) -> Allocation:
    given = doc.value.get("values")
    values: Mapping[str, Mapping[str, Binding]] = NONE
    if given:
        nodes = zip(doc.top["values"].value, given.items(), strict=True)
        values = {slot: read_bindings(doc.file, node, params) for (_, node), (slot, params) in nodes}
    return Allocation(name, Origin(doc.file), read_names(loader, doc, "install"), values)


def _pack_allocation(allocation: Allocation) -> _PackedAllocation:
    values = [(slot, pack_bindings(params)) for slot, params in allocation.values.items()]
    return _PackedAllocation(pack_refs(allocation.install), values)


def _unpack_allocation(packed: _PackedAllocation, name: str, origin: Origin) -> Allocation:
    values = {slot: unpack_bindings(origin.file, rows) for slot, rows in packed.values}
    return Allocation(name, origin, unpack_refs(origin.file, packed.install), values or NONE)


ALLOCATIONS: Kind[Allocation] = Kind(
    *("allocations", "allocation", NAME, _read_allocation, Allocation),
    *(_PackedAllocation, _pack_allocation, _unpack_allocation),
)
