"""Renders the nodes of a commit that changed, and commits them on a ref after what stands there."""

from collections.abc import Mapping
from datetime import date

import msgspec

from gitcfg.cache import Cache
from gitcfg.compile.impact import find_changed_nodes
from gitcfg.git.commit import RenderedRef, Tip
from gitcfg.git.history import History
from gitcfg.git.pack import Pack, open_pack
from gitcfg.git.program import Git
from gitcfg.git.repository import Repository
from gitcfg.library import Fleet
from gitcfg.load.repository import is_repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.published.folders import Folders
from gitcfg.published.outcome import Outcome, Wanted
from gitcfg.published.told import SOURCE, Told, message, told

_TRIES = 100
_MORE = 100_000  # so many nodes that have no folder yet may be held


class Publisher:
    """Publishes fleets of one repository on one ref."""

    def __init__(
        self,
        repository: Repository,
        environment: Mapping[str, str],
        ref: str,
        cache: Cache,
        today: date,
        workers: int = 1,
    ) -> None:
        """`environment` is what git is started with. GitcfgError: the ref must not be written."""
        self.repository = repository
        self._git = Git(repository, environment)
        self._ref = RenderedRef(repository, self._git, ref, SOURCE)
        self._history = History(repository)
        self._cache, self._today, self._workers = cache, today, workers

    @property
    def ref(self) -> str:
        """Its full name."""
        return self._ref.ref

    def tip(self) -> Tip | None:
        """What stands there. GitcfgError: something that gitcfg did not make."""
        return self._ref.tip()

    def last(self, tip: Tip | None) -> Told | None:
        """What a tip says of where it comes from."""
        return told(tip.trailers, len(tip.rows) + _MORE) if tip is not None else None

    def fleet(self, commit: str) -> Fleet | None:
        """The fleet of a commit; None: it is no configuration, or is not there."""
        tree = self.repository.at(commit) if self._history.has(commit) else None
        if tree is None or not is_repository(tree):
            return None
        return Fleet(tree, self.repository.before(tree), self._today, self._cache)

    def publish(self, fleet: Fleet, wanted: Wanted) -> Outcome:
        """Commit what nodes get, after whatever others commit in the meantime."""
        for _ in range(_TRIES):
            outcome = self.after(self.tip(), fleet, wanted)
            if outcome is not None:
                return outcome
        raise GitcfgError(f"{self.ref} moves all the time.", "Try again when less is written.", code=REFUSED)

    def after(self, tip: Tip | None, fleet: Fleet, wanted: Wanted) -> Outcome | None:
        """Commit what nodes get after this tip; None: the ref has moved on, and stays as it is."""
        assert fleet.commit is not None
        if wanted.whole and self.last(tip) == Told(fleet.commit, True, frozenset()):
            return Outcome(fleet.commit)
        faulty = wanted.faulty(fleet.version)
        if faulty is None:
            return Outcome(fleet.commit, refused=tuple(wanted.errors))
        with open_pack(self._git) as pack:
            return self._committed(tip, fleet, wanted, faulty, pack)

    def _committed(
        self, tip: Tip | None, fleet: Fleet, wanted: Wanted, faulty: frozenset[str], pack: Pack
    ) -> Outcome | None:
        folders = Folders(tip.rows if tip is not None else {})
        names = sorted(self._concerned(fleet, wanted, self.last(tip)) - faulty)
        if wanted.whole:
            folders.keep(frozenset(fleet) | faulty)
        folders.render(fleet, names, self._ref.trees, pack, self._workers)
        held = {name for name in faulty if name in wanted.names or name in folders}
        held.update(node for node, _ in folders.unmade)
        unmade, source, root = tuple(folders.unmade), fleet.commit or "", folders.root
        outcome = Outcome(
            source, None, len(names), folders.changed, folders.gone, tuple(sorted(held)), unmade
        )
        same = tip is not None and root.id == tip.tree
        if same and (not wanted.whole or self.last(tip) == Told(source, True, frozenset(held))):
            return outcome
        pack.add(() if same else (root,))
        pack.keep(self._git)
        text = message(
            self._history.about(source).subject, source, () if wanted.whole else wanted.names, sorted(held)
        )
        commit = self._ref.commit(root.id, tip, source, text)
        return msgspec.structs.replace(outcome, commit=commit) if self._ref.move(commit, tip) else None

    def _concerned(self, fleet: Fleet, wanted: Wanted, last: Told | None) -> frozenset[str]:
        """The wanted nodes that may be other ones than stand at the ref."""
        names = frozenset(wanted.names)
        if not wanted.whole or last is None or not last.whole:
            return names
        if last.source == fleet.commit:
            return names & last.held
        before = self.fleet(last.source)
        found = find_changed_nodes(before.version, fleet.version) if before is not None else None
        return names if found is None else names & (found | last.held)
