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
from gitcfg.published.folders import RefFolders
from gitcfg.published.outcome import PublishOutcome, PublishRequest
from gitcfg.published.told import SOURCE, Provenance, parse_trailers, render_message

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

    def last(self, tip: Tip | None) -> Provenance | None:
        """What a tip says of where it comes from."""
        return parse_trailers(tip.trailers, len(tip.rows) + _MORE) if tip is not None else None

    def fleet(self, commit: str) -> Fleet | None:
        """The fleet of a commit; None: it is no configuration, or is not there."""
        tree = self.repository.at(commit) if self._history.has(commit) else None
        if tree is None or not is_repository(tree):
            return None
        return Fleet(tree, self.repository.before(tree), self._today, self._cache)

    def publish(self, fleet: Fleet, wanted: PublishRequest) -> PublishOutcome:
        """Commit what nodes get, after whatever others commit in the meantime."""
        for _ in range(_TRIES):
            outcome = self.after(self.tip(), fleet, wanted)
            if outcome is not None:
                return outcome
        raise GitcfgError(f"{self.ref} moves all the time.", "Try again when less is written.", code=REFUSED)

    def after(self, tip: Tip | None, fleet: Fleet, wanted: PublishRequest) -> PublishOutcome | None:
        """Commit what nodes get after this tip; None: the ref has moved on, and stays as it is."""
        assert fleet.commit is not None
        if wanted.whole and self.last(tip) == Provenance(fleet.commit, True, frozenset()):
            return PublishOutcome(fleet.commit)
        faulty = wanted.faulty_nodes(fleet.version)
        if faulty is None:
            return PublishOutcome(fleet.commit, refused=tuple(wanted.errors))
        with open_pack(self._git) as pack:
            return self._committed(tip, fleet, wanted, faulty, pack)

    def _committed(
        self, tip: Tip | None, fleet: Fleet, wanted: PublishRequest, faulty: frozenset[str], pack: Pack
    ) -> PublishOutcome | None:
        folders = RefFolders(tip.rows if tip is not None else {})
        names = sorted(self._concerned(fleet, wanted, self.last(tip)) - faulty)
        if wanted.whole:
            folders.keep(frozenset(fleet) | faulty)
        folders.render(fleet, names, self._ref.trees, pack, self._workers)
        held = {name for name in faulty if name in wanted.names or name in folders}
        held.update(node for node, _ in folders.unmade)
        unmade, source, root = tuple(folders.unmade), fleet.commit or "", folders.root
        outcome = PublishOutcome(
            source, None, len(names), folders.changed, folders.gone, tuple(sorted(held)), unmade
        )
        same = tip is not None and root.id == tip.tree
        if same and (not wanted.whole or self.last(tip) == Provenance(source, True, frozenset(held))):
            return outcome
        pack.add(() if same else (root,))
        pack.keep(self._git)
        text = render_message(
            self._history.about(source).subject, source, () if wanted.whole else wanted.names, sorted(held)
        )
        commit = self._ref.commit(root.id, tip, source, text)
        return msgspec.structs.replace(outcome, commit=commit) if self._ref.move(commit, tip) else None

    def _concerned(self, fleet: Fleet, wanted: PublishRequest, last: Provenance | None) -> frozenset[str]:
        """The wanted nodes that may be other ones than stand at the ref."""
        names = frozenset(wanted.names)
        if not wanted.whole or last is None or not last.whole:
            return names
        if last.source == fleet.commit:
            return names & last.held
        before = self.fleet(last.source)
        found = find_changed_nodes(before.version, fleet.version) if before is not None else None
        return names if found is None else names & (found | last.held)
