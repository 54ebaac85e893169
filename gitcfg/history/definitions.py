"""Declarations, names and rules at neighbouring commits: which are unchanged."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache, lru_cache, partial
from typing import Any, TypeVar

import msgspec
from msgspec import UNSET

from gitcfg.comparison.change import Delta
from gitcfg.compile.declarations import Declarations, implied_kinds
from gitcfg.compile.impact import has_collect
from gitcfg.history.snapshot import KINDS, Documents, Key, Place, Snapshot
from gitcfg.load.definitions import NEVER
from gitcfg.model import (
    Allocation,
    Binding,
    Feature,
    Node,
    NodeSet,
    Op,
    Origin,
    Override,
    Parameter,
    Ref,
    Rule,
    Secret,
    Settings,
    Use,
)

T = TypeVar("T")


def parameters(documents: Documents, files: Mapping[str, bytes]) -> dict[str, Parameter]:
    """Return what the files of parameters/ declare; of several declarations of a name, the first counts."""
    return _first(documents.parameters, files)


def secrets(documents: Documents, files: Mapping[str, bytes]) -> dict[str, Secret]:
    """Return the secrets in files of secrets/; of several definitions of a name, the first counts."""
    return _first(documents.secrets, files)


def _first(read: Callable[[str, bytes], Mapping[str, T]], files: Mapping[str, bytes]) -> dict[str, T]:
    """Return the content of files by name, in order of path."""
    found: dict[str, T] = {}
    for path in sorted(files):
        for name, definition in read(path, files[path]).items():
            found.setdefault(name, definition)
    return found


def declarations(
    older: Declarations | None,
    known: Mapping[str, Parameter],
    implied: Mapping[str, str],
    sealed: Mapping[str, Secret],
) -> Declarations:
    """Return declarations; the older ones if they mean the same to values and files."""
    same = older is not None and _same(older.parameters, known)
    declared = Declarations(older.parameters if older and same else known, {})
    # Operations imply types only for names that are declared without a type.
    needed = {
        name: kind for name, kind in implied.items() if "${" in name or not declared.declared_kind(name)
    }
    if older is not None and same and older.implied == needed and _has_same_versions(older.secrets, sealed):
        return older
    return Declarations(declared.parameters, needed, sealed)


def _has_same_versions(ours: Mapping[str, Secret], theirs: Mapping[str, Secret]) -> bool:
    """Return whether both have the same secrets in the same versions."""
    if ours is theirs:
        return True
    before, after = ({name: one.version for name, one in side.items()} for side in (ours, theirs))
    return before == after


def _same(ours: Mapping[str, Parameter], theirs: Mapping[str, Parameter]) -> bool:
    if ours is theirs:
        return True
    return ours.keys() == theirs.keys() and all(
        found is theirs[name] or _effect(found) == _effect(theirs[name]) for name, found in ours.items()
    )


def alike(ours: Declarations, theirs: Declarations) -> Callable[[str], bool]:
    """Return a predicate: whether a name means the same to values and files on both sides.

    If anything differs, names that only an instance completes never do. If a secret differs, no name does, as
    it may be bound to any.
    """
    if ours is theirs:
        return lambda name: True
    if not _has_same_versions(ours.secrets, theirs.secrets):
        return lambda name: False

    @cache
    def same(name: str) -> bool:
        if "${" in name or ours.kind(name) != theirs.kind(name):
            return False
        before, after = ours.find(name), theirs.find(name)
        return before is after or _effect(before) == _effect(after)

    return same


def _effect(parameter: Parameter | None) -> Any:
    """Return the part of a declaration that affects values, and how files write them."""
    if parameter is None:
        return None
    given = parameter.default
    default = None if given is None else (given.op, repr(given.given), given.text)
    typing = (parameter.type, parameter.separator, parameter.unique, parameter.macros, parameter.secret)
    return typing, parameter.tags, parameter.must_change, default


# What definitions mean, without places: to compare them across commits.

_PLACES = frozenset({"origin", "at", "schema_origin", "place", "until_at", "decided"})
_PLAIN = frozenset({str, int, float, bool, type(None)})


def meaning(value: Any) -> Any:
    """Return a definition, or a part of one, as plain tuples without places; maps in order of their keys."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, msgspec.Struct):
        return tuple([meaning(getattr(value, field)) for field in _without_places(value.__struct_fields__)])
    if isinstance(value, dict):
        return tuple([(key, meaning(value[key])) for key in sorted(value)])
    if isinstance(value, list | tuple):
        return tuple([meaning(item) for item in value])
    return value.value if isinstance(value, Op) else value


@cache
def _without_places(fields: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(field for field in fields if field not in _PLACES)


def meaning_text(value: Any) -> str:
    """Return a text that is equal for equal meanings; unlike values, texts distinguish 1, 1.0 and true."""
    return repr(meaning(value))


# Differences between two declarations of a parameter.

_UNDECLARED = Parameter("", Origin(""))
_FIELDS = tuple(field for field in Parameter.__struct_fields__ if not field.endswith("origin"))


def declaration_changes(old: Mapping[str, Parameter], new: Mapping[str, Parameter]) -> dict[str, Delta]:
    """Return the keys that differ, including `name`, which may be a family's pattern."""
    before, after = (next(iter(declared.values()), _UNDECLARED) for declared in (old, new))
    if before is after:
        return {}
    changes = {}
    for field in _FIELDS:
        was, now = getattr(before, field), getattr(after, field)
        if meaning_text(was) != meaning_text(now):
            changes[field] = Delta(_shown(field, was), _shown(field, now))
    return changes


def _shown(field: str, value: Any) -> Any:
    """Return a part of a declaration as it is written; UNSET if it is missing."""
    if value == getattr(_UNDECLARED, field):
        return UNSET
    if isinstance(value, Binding):
        return value.given if value.text is None else value.text
    if isinstance(value, tuple):
        return [item.name if isinstance(item, Ref) else item for item in value]
    return value


# Rules and allocations, followed from commit to commit.


class Ruling(msgspec.Struct, frozen=True):
    """Rules and allocations by name; the same object as before if none of them differs."""

    rules: Mapping[str, Rule] = {}
    allocations: Mapping[str, Allocation] = {}

    @property
    def bindings(self) -> Iterator[tuple[str, Binding]]:
        """The bindings of rules."""
        return (bound for rule in self.rules.values() for bound in rule.params.items())

    @property
    def collects(self) -> bool:
        """Return whether rules bind values collected from other nodes."""
        return has_collect(bound for _, bound in self.bindings)

    @property
    def binds(self) -> frozenset[str]:
        """The parameters that rules may bind, and attributes of instances."""
        return frozenset(name for rule in self.rules.values() for name in (*rule.params, *rule.domains))

    @property
    def uses(self) -> Iterator[Use]:
        """The features that rules name, which they may install."""
        found = (rule.feature for rule in self.rules.values())
        return (Use(feature.name, feature.origin) for feature in found if feature is not None)


NOTHING = Ruling()


def ruling(
    documents: Documents, settings: Settings, older: tuple[Ruling, Snapshot] | None, snapshot: Snapshot
) -> Ruling:
    """Return the rules and allocations of a snapshot; of several with the same name, the first counts."""
    if older is not None:
        before, after = older[1].others, snapshot.others
        if before["rules"] is after["rules"] and before["allocations"] is after["allocations"]:
            return older[0]
    rules: dict[str, Rule] = {}
    for found in _read(documents, settings, snapshot, "rules"):
        for rule in found:
            rules.setdefault(rule.name, rule)
    allocations: dict[str, Allocation] = {}
    for allocation in _read(documents, settings, snapshot, "allocations"):
        allocations.setdefault(allocation.name, allocation)
    new = Ruling(rules, allocations) if rules else NOTHING
    if older is None or not has_same_objects(older[0].rules, new.rules):
        return new
    return older[0] if has_same_objects(older[0].allocations, new.allocations) else new


def has_same_objects(ours: Mapping[Any, Any], theirs: Mapping[Any, Any]) -> bool:
    """Return whether two mappings have the same objects under the same keys."""
    return ours.keys() == theirs.keys() and all(found is theirs[key] for key, found in ours.items())


def _read(documents: Documents, settings: Settings, snapshot: Snapshot, kind: str) -> Iterator[Any]:
    """Yield the content of each file, in order of path."""
    for path, file in sorted(snapshot.others[kind].items()):
        found = documents.definition(path, file, settings)
        if found is not None:
            yield found


# The types that operations imply for parameters, over all definitions, followed from commit to commit.

_COMPOSES = re.compile(rb"\$(?:append|prepend|remove|and|or|merge)|\\")
"""What composing files contain: an operation's word, or an escape that may hide one."""

Counts = Counter[tuple[str, str]]
"""The number of definitions that imply a type for a name."""


class Implied:
    """Counts what definitions imply; files without operations are not parsed."""

    def __init__(self, documents: Documents, content: Callable[[bytes], bytes]) -> None:
        self._by = lru_cache(maxsize=1 << 13)(partial(_of, documents, content))

    def follow(
        self, counts: Counts, settings: Settings, older: Snapshot, newer: Snapshot, keys: Iterable[Key]
    ) -> Counts:
        """Return the counts of a neighbour that differs in `keys`; the same object if they are equal."""
        result = counts
        for kind, name in keys:
            if kind not in KINDS:
                continue
            less, more = (self._by(each.place(kind, name), settings) for each in (older, newer))
            if less != more:
                result = result + Counter(more) - Counter(less)
        return result


def _of(
    documents: Documents, content: Callable[[bytes], bytes], place: Place | None, settings: Settings
) -> frozenset[tuple[str, str]]:
    """Return names and types that the definition at a place implies."""
    if place is None or not _COMPOSES.search(content(place[1])):
        return frozenset()
    definition = documents.definition(*place, settings)
    if definition is None:
        return frozenset()
    params = getattr(definition, "definition", definition).params
    return frozenset(implied_kinds(params.items()).items())


def kinds(counts: Counts, ruling: Ruling) -> Mapping[str, str]:
    """Return the type that operations imply for each name, also operations in rules."""
    found: dict[str, str] = {}
    for name, kind in (*counts, *implied_kinds(ruling.bindings).items()):
        found[name] = min(kind, found.get(name, kind))
    return found


# Definitions without what a question does not need, so that commits that change only that are skipped.

_MARK = re.compile(r"\$\{[^{}]*\}")

replace = msgspec.structs.replace


class Outline:
    """Reduces definitions to their lists, facts and labels, and the bindings of some parameters.

    Equal content at any place becomes the same object.
    """

    def __init__(self, binds: Callable[[str], bool]) -> None:
        self._binds = binds
        self._known: dict[tuple[str, str], Any] = {}

    def of(self, definition: Any) -> Any:
        """Return a definition in outline; rules and allocations are unchanged."""
        if isinstance(definition, tuple | Allocation):
            return self._intern(definition)
        if isinstance(definition, NodeSet):
            facts = {member: self._intern(found) for member, found in definition.facts.items()}
            return self._intern(replace(definition, definition=self.of(definition.definition), facts=facts))
        params = {name: bound for name, bound in definition.params.items() if self._binds(name)}
        plain = replace(definition, params=params, files={})
        match plain:
            case Override():
                plain = replace(plain, reason="", until=NEVER)
            case Feature():
                plain = replace(plain, description="", depends=(), conflicts=(), after=())
            case Node():
                plain = replace(plain, description="", address=None)
            case _:
                plain = replace(plain, description="")
        return self._intern(plain)

    def _intern(self, definition: Any) -> Any:
        return self._known.setdefault((type(definition).__name__, meaning_text(definition)), definition)


def binding(param: str) -> Callable[[str], bool]:
    """Return a predicate: whether a name in a definition is a parameter's, or may become it."""
    return lambda name: name == param or ("${" in name and _pattern(name).fullmatch(param) is not None)


@cache
def _pattern(name: str) -> re.Pattern[str]:
    """Return a pattern of all names that a name with an instance's marks can become, and perhaps more."""
    return re.compile(".*".join(map(re.escape, _MARK.split(name))), re.DOTALL)
