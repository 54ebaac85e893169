"""The layers that one node or one definition is made of, followed from commit to commit."""

from collections import Counter
from typing import Any

import msgspec

from gitcfg.compile.declarations import Declarations
from gitcfg.history.declared import alike, declarations, parameters, secrets
from gitcfg.history.documents import Documents
from gitcfg.history.implied import Counts, Implied, kinds
from gitcfg.history.kept import KeptLayers, KeptStacks
from gitcfg.history.pool import settings_of
from gitcfg.history.ruling import Ruling, ruling
from gitcfg.history.scope import Rooted, Scope, followed, scope
from gitcfg.history.snapshot import Key, Snapshot, everything
from gitcfg.model import Model, Settings


class Made(msgspec.Struct, frozen=True):
    """The layers at one commit; those of the neighbour as long as they are made of the same."""

    snapshot: Snapshot
    settings: Settings
    scope: Scope
    ruling: Ruling
    declarations: Declarations
    implied: Counts
    layers: KeptLayers
    stacks: KeptStacks


class Maker:
    """Makes layers of a scope, anew only what is different."""

    def __init__(self, documents: Documents, implied: Implied, rooted: Rooted) -> None:
        self._documents = documents
        self._implied = implied
        self._rooted = rooted

    def make(self, older: Made | None, snapshot: Snapshot, keys: frozenset[Key]) -> Made | None:
        """The layers of a neighbour that is different in `keys`. None: there is no repository."""
        settings = settings_of(self._documents, snapshot)
        if settings is None:
            return None
        if older is None or older.settings != settings:
            older, keys = None, everything(snapshot)
        before, counts = (older.snapshot, older.implied) if older else (Snapshot(), Counter())
        implied = self._implied.follow(counts, settings, before, snapshot, keys)
        known = (older.ruling, older.snapshot) if older else None
        ruled = ruling(self._documents, settings, known, snapshot)
        declared = self._declarations(older, snapshot, implied, ruled)
        found = self._scope(older, snapshot, settings, keys, ruled)
        layers, stacks = _stacks(older, settings, found, declared)
        return Made(snapshot, settings, found, ruled, declared, implied, layers, stacks)

    def _scope(
        self,
        older: Made | None,
        snapshot: Snapshot,
        settings: Settings,
        keys: frozenset[Key],
        ruled: Ruling,
    ) -> Scope:
        def define(kind: str, name: str) -> Any:
            place = snapshot.place(kind, name)
            return self._documents.definition(*place, settings) if place else None

        if older is not None and not older.scope.concerned(keys):
            return older.scope
        found = followed(older.scope, define, keys) if older else None
        return found or scope(define, self._rooted(define, snapshot, settings, ruled))

    def _declarations(
        self, older: Made | None, snapshot: Snapshot, implied: Counts, ruled: Ruling
    ) -> Declarations:
        documents, files, sealed = self._documents, snapshot.others["parameters"], snapshot.others["secrets"]
        if older is None:
            declared = parameters(documents, files)
            return declarations(None, declared, kinds(implied, ruled), secrets(documents, sealed))
        before, others = older.declarations, older.snapshot.others
        same, kept = files is others["parameters"], sealed is others["secrets"]
        if same and kept and implied is older.implied and ruled is older.ruling:
            return before
        known = before.parameters if same else parameters(documents, files)
        sealed_now = before.secrets if kept else secrets(documents, sealed)
        return declarations(before, known, kinds(implied, ruled), sealed_now)


def _stacks(
    older: Made | None, settings: Settings, found: Scope, declared: Declarations
) -> tuple[KeptLayers, KeptStacks]:
    """The older layers if nothing in them is different, else new ones of what is still the same."""
    if older is not None and _as_before(older, found, declared):
        return older.layers, older.stacks
    ruled = found.roots.ruling
    model = Model(
        settings,
        features=found.features,
        groups=found.groups,
        rules=ruled.rules,
        allocations=ruled.allocations,
    )
    layers = KeptLayers(model, declared, older.layers if older else None)
    return layers, KeptStacks(model, layers, older.stacks if older else None)


def _as_before(older: Made, found: Scope, declared: Declarations) -> bool:
    if found is older.scope and declared is older.declarations:
        return True
    same = alike(older.layers.declarations, declared)
    return found.stacked_as(older.scope) and all(map(same, found.binds))
