"""What a parameter is on all nodes, followed from commit to commit."""

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import msgspec
from msgspec import UNSET

from gitcfg.compile.classes import NodeClass
from gitcfg.compile.declarations import Declarations
from gitcfg.compile.fleet import Fleet
from gitcfg.compile.mentions import collects
from gitcfg.compile.nodes import Said
from gitcfg.git.history import History
from gitcfg.history.census import Census, Taker
from gitcfg.history.declared import parameters, secrets
from gitcfg.history.documents import Documents
from gitcfg.history.effect import Effect, Turn, held, kind_of
from gitcfg.history.meaning import said
from gitcfg.history.outline import Outline, binding
from gitcfg.history.pool import Pool, followed
from gitcfg.history.redeclared import redeclared
from gitcfg.history.ruling import NOTHING, Ruling, ruling
from gitcfg.history.snapshot import Key, Snapshot
from gitcfg.history.whole import Whole, Wholes
from gitcfg.model import Model, Parameter, Secret

_NOTHING = Pool()


class ParamState(msgspec.Struct, frozen=True):
    """A parameter at one commit: its values as JSON by node, and what declares it, by its name."""

    snapshot: Snapshot
    pool: Pool
    declared: Mapping[str, Parameter]
    secrets: Mapping[str, Secret]
    ruling: Ruling
    census: Census | None
    whole: Whole | None
    values: Mapping[str, bytes]


class ParamResult:
    """A parameter's result: its value on each node that binds it, and its declaration.

    Values are equal if they are as JSON. The declaration is what the exact name says, else the family
    that fits best; where it is written does not matter.
    """

    def __init__(self, history: History, name: str) -> None:
        self._name = name
        documents = Documents(history.read)
        self._documents = documents.outlined(Outline(binding(name)).of)
        self._wholes = Wholes(documents)
        self._taker = Taker(self._value)
        signs = re.compile(rb"[*?\\]|" + re.escape(name.encode()))
        self._speaks = lru_cache(maxsize=1 << 12)(lambda file: signs.search(history.read(file)) is not None)

    def follow(self, older: ParamState | None, snapshot: Snapshot, keys: frozenset[Key]) -> ParamState:
        """The parameter at a neighbour that is different in `keys`."""
        pool = followed(self._documents, older.pool if older else _NOTHING, snapshot, keys)
        declared = self._declared(older, pool, snapshot)
        sealed = self._secrets(older, snapshot)
        ruled = self._ruling(older, pool, snapshot)
        whole = self._whole(older, pool, ruled, snapshot, keys)
        if whole is not None:
            same = older is not None and whole is older.whole
            values = older.values if older and same else self._collected(whole.fleet)
            return ParamState(snapshot, pool, declared, sealed, ruled, None, whole, values)
        census = self._taker.take(older.census if older else None, pool, declared, sealed, ruled)
        values = census.answers if census else {}
        return ParamState(snapshot, pool, declared, sealed, ruled, census, None, values)

    def effect(self, old: ParamState | None, new: ParamState) -> Effect | None:
        """What is not the same; None if nothing is."""
        values = tuple(_turns(old.values if old else {}, new.values))
        declaration = redeclared(old.declared if old else {}, new.declared)
        if not (values or declaration):
            return None
        before = old is not None and bool(old.values or old.declared)
        kind = kind_of(before, bool(new.values or new.declared))
        return Effect(kind, values=values, declaration=declaration)

    def close(self) -> None:
        """There is nothing to end."""

    def _speaking(self, files: Mapping[str, bytes]) -> dict[str, bytes]:
        """The files that may declare the parameter: they hold its name, a pattern, or an escape."""
        return {path: file for path, file in files.items() if self._speaks(file)}

    def _value(self, model: Model, about: Said, compiled: Callable[[], NodeClass]) -> bytes | None:
        return self._of(compiled())

    def _of(self, kind: NodeClass) -> bytes | None:
        values = kind.some((self._name,))
        return msgspec.json.encode(values[self._name], order="sorted") if self._name in values else None

    def _collected(self, fleet: Fleet) -> dict[str, bytes]:
        """The values where what all nodes have decides about them."""
        found = ((kind, self._of(kind)) for kind in fleet.classes)
        return {name: value for kind, value in found if value is not None for name in kind.names}

    def _whole(
        self,
        older: ParamState | None,
        pool: Pool,
        ruled: Ruling,
        snapshot: Snapshot,
        keys: frozenset[Key],
    ) -> Whole | None:
        """The fleet, where the parameter is collected anywhere."""
        said = (bound for params in pool.bindings.values() for bound in params.values())
        if not (ruled.collects or collects(said)):
            return None
        return self._wholes.follow(older.whole if older else None, snapshot, keys)

    def _ruling(self, older: ParamState | None, pool: Pool, snapshot: Snapshot) -> Ruling:
        if pool.settings is None:
            return NOTHING
        same = older is not None and older.pool.settings == pool.settings
        known = (older.ruling, older.snapshot) if older and same else None
        return ruling(self._documents, pool.settings, known, snapshot)

    def _secrets(self, older: ParamState | None, snapshot: Snapshot) -> Mapping[str, Secret]:
        """The secrets that there are; the older mapping if the files are the same."""
        files = snapshot.others["secrets"]
        if older is not None and files is older.snapshot.others["secrets"]:
            return older.secrets
        return secrets(self._documents, files)

    def _declared(self, older: ParamState | None, pool: Pool, snapshot: Snapshot) -> Mapping[str, Parameter]:
        """What declares the parameter; the older mapping if that says the same."""
        if pool.settings is None:
            return {}
        files = snapshot.others["parameters"]
        if older is not None and older.pool.settings and files is older.snapshot.others["parameters"]:
            return older.declared
        found = Declarations(parameters(self._documents, self._speaking(files)), {}).find(self._name)
        declared = {found.name: found} if found else {}
        if older is not None and said(declared) == said(older.declared):
            return older.declared
        return declared


def _turns(old: Mapping[str, bytes], new: Mapping[str, bytes]) -> Iterator[Turn]:
    """The values that differ, those of most nodes first."""
    if old is new:
        return
    groups: dict[tuple[bytes | None, bytes | None], list[str]] = {}
    for name in {name for name, _ in old.items() ^ new.items()}:
        groups.setdefault((old.get(name), new.get(name)), []).append(name)
    for (before, after), names in sorted(groups.items(), key=lambda item: (-len(item[1]), min(item[1]))):
        found = held(sorted(names))
        assert found is not None
        yield Turn(found.nodeset, found.count, _decoded(before), _decoded(after))


def _decoded(value: bytes | None) -> Any:
    return UNSET if value is None else msgspec.json.decode(value)
