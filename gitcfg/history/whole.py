"""All nodes together, followed from commit to commit: for nodes that collect values from each other."""

from datetime import date

import msgspec
from msgspec.structs import replace

from gitcfg.compile.fleet import Fleet
from gitcfg.compile.fleetnode import FleetNode
from gitcfg.git.tree import DictTree
from gitcfg.history.declared import parameters, secrets
from gitcfg.history.documents import Documents
from gitcfg.history.pool import Pool, followed, model_of
from gitcfg.history.ruling import ruling
from gitcfg.history.snapshot import Key, Snapshot, everything
from gitcfg.model import Model, Settings
from gitcfg.model.folders import TEXTS

_NOTHING = Pool()


class Whole(msgspec.Struct, frozen=True):
    """The fleet at one commit, of which as much is compiled as is asked for; it knows no texts of files."""

    pool: Pool
    fleet: Fleet

    def node(self, name: str) -> FleetNode | None:
        """One of its nodes, if it is there."""
        if name not in self.fleet:
            return None
        return self.fleet[name]


class Wholes:
    """Makes the fleets of neighbouring commits: definitions are read once."""

    def __init__(self, documents: Documents) -> None:
        self._documents = documents

    def follow(self, older: Whole | None, snapshot: Snapshot, keys: frozenset[Key]) -> Whole | None:
        """The fleet of a neighbour that is different in `keys`; the same one if only texts are.

        None: there is no repository.
        """
        before = older.pool if older else _NOTHING
        pool = followed(self._documents, before, snapshot, keys if older else everything(snapshot))
        if pool.settings is None:
            return None
        if older and pool.settings == before.settings and all(folder in TEXTS for folder, _ in keys):
            return older
        model = self._model(pool.settings, pool, snapshot)
        return Whole(pool, Fleet(model, DictTree({}), date.min))

    def _model(self, settings: Settings, pool: Pool, snapshot: Snapshot) -> Model:
        documents, others = self._documents, snapshot.others
        ruled = ruling(documents, settings, None, snapshot)
        return replace(
            model_of(settings, pool),
            parameters=parameters(documents, others["parameters"]),
            secrets=secrets(documents, others["secrets"]),
            rules=ruled.rules,
            allocations=ruled.allocations,
        )
