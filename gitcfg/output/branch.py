"""Rendered nodes as commits on a ref, NODE/PATH: changed nodes are written, all others stay.

Each node becomes a folder of git's objects. A commit names its source in trailers. A ref can follow another
one, commit by commit.
"""

import re
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from datetime import date
from itertools import chain

import msgspec

from gitcfg import __version__, progress
from gitcfg.cache import Cache
from gitcfg.compile.impact import Version, find_changed_nodes, find_nodes_using
from gitcfg.git.commit import RenderedRef, Tip
from gitcfg.git.commit_tree import Items, Trees
from gitcfg.git.history import History
from gitcfg.git.objects import FOLDER
from gitcfg.git.program import (
    EMPTY,
    FOLDER_MODE,
    Git,
    Pack,
    PackedObject,
    TreeRow,
    find_reserved,
    open_pack,
    pack_blob,
    pack_folders,
    pack_tree,
)
from gitcfg.git.refs import Refs
from gitcfg.git.repository import Repository
from gitcfg.library import Fleet
from gitcfg.load.repository import is_repository
from gitcfg.model import REFUSED, Finding, GitcfgError
from gitcfg.model.text import ABBREVIATED
from gitcfg.nodeset import NodeSetError, expand, fold
from gitcfg.output.folder import Scope
from gitcfg.output.source import File, Ingredients, Source, Unmade, open_fleet_source
from gitcfg.parallel import spread

CHUNK = 64
"""The number of nodes in one job of a worker."""
MOST_FOLDERS = 256
"""The maximum depth of folders that git's library reads."""
_MOST_HELD = 1 << 24  # the bytes of cached files that nodes of a class share
_PLAIN, _PROGRAM = b"100644", b"100755"
_EXECUTES = 0o111


class TreeJob(msgspec.Struct, frozen=True):
    """A node to render, and the id of its present folder; "": there is none."""

    node: str
    old: str


class NodeTree(msgspec.Struct, frozen=True):
    """A node's folder: its id, its new objects, and the files that could not be made."""

    node: str
    id: str
    made: tuple[PackedObject, ...]
    unmade: tuple[str, ...]


class TreeBuilder:
    """Makes the objects of one node after another, for one worker."""

    def __init__(self, source: Source, trees: Trees) -> None:
        self._source, self._trees = source, trees
        self._files: dict[str, PackedObject] = {}
        self._held = 0
        self._yielded = set[str]()

    def build(self, jobs: list[TreeJob]) -> list[NodeTree]:
        """Return the folders of nodes. Raise GitcfgError if a file has a path that git cannot store."""
        return [self._build(job) for job in jobs]

    def _build(self, job: TreeJob) -> NodeTree:
        files = list(self._source.files(job.node))
        unmade = tuple(file.path for file in files if isinstance(file, Unmade))
        made, places = list[PackedObject](), dict[str, tuple[bytes, str]]()
        for file in files if not unmade else ():
            assert isinstance(file, File)
            _check_path(job.node, file.path)
            made.append(self._blob(file))
            # git distinguishes only programs and other files.
            places[file.path] = (_PROGRAM if int(file.mode, 8) & _EXECUTES else _PLAIN, made[-1].id)
        folders = list(pack_folders(places))
        id = folders[-1].id
        if unmade or id == job.old:
            return NodeTree(job.node, id, (), unmade)
        return NodeTree(job.node, id, tuple(self._new(made + folders, job.old)), ())

    def _new(self, made: list[PackedObject], old: str) -> Iterator[PackedObject]:
        """Yield the objects that are neither in a folder nor yielded before.

        Objects elsewhere in the repository do not count: git may remove objects without a ref at any time.
        """
        before = set(_ids(self._trees, bytes.fromhex(old))) if old else set[str]()
        for one in made:
            if one.id not in before and one.id not in self._yielded:
                self._yielded.add(one.id)
                yield one

    def _blob(self, file: File) -> PackedObject:
        if file.digest not in self._files:
            if self._held > _MOST_HELD:
                self._files.clear()
                self._held = 0
            self._files[file.digest] = pack_blob(file.content)
            self._held += len(self._files[file.digest].packed)
        return self._files[file.digest]


def _ids(trees: Trees, tree: bytes) -> Iterator[str]:
    yield tree.hex()
    for mode, _, id in trees.rows(tree):
        if int(mode, 8) >> 12 == FOLDER:
            yield from _ids(trees, id)
        else:
            yield id.hex()


def _check_path(node: str, path: str) -> None:
    part = find_reserved(path)
    if part:
        hint = "Render without it, or render to a folder with `--out DIR`."
        raise GitcfgError(f"{node}: {path} cannot be in git, which reserves {part}.", hint, code=REFUSED)
    if path.count("/") > MOST_FOLDERS:
        raise GitcfgError(f"{node}: {path[:60]}... has too many folders for git's library.", code=REFUSED)


def split_jobs(nodes: Iterator[TreeJob], most: int = CHUNK) -> Iterator[list[TreeJob]]:
    """Yield jobs in portions for workers."""
    turn: list[TreeJob] = []
    for job in nodes:
        turn.append(job)
        if len(turn) == most:
            yield turn
            turn = []
    if turn:
        yield turn


BuildTrees = Callable[[list[TreeJob]], list[NodeTree]]


# The folders of a ref


class RefFolders:
    """The ids of folders by node. Folders with `unmade` files, whose template fails, stay as they are."""

    def __init__(self, items: Items) -> None:
        self._before = {name: item.id.hex() for name, item in items.items() if item.folder is not None}
        self._rows = dict(self._before)
        self.unmade: list[tuple[str, str]] = []

    def __contains__(self, node: str) -> bool:
        return node in self._rows

    @property
    def changed(self) -> int:
        """The number of folders that are new or changed."""
        return sum(self._before.get(name) != id for name, id in self._rows.items())

    @property
    def gone(self) -> int:
        """The number of folders that are removed."""
        return len(self._before.keys() - self._rows.keys())

    @property
    def root(self) -> PackedObject:
        """The folder that contains all folders."""
        return pack_tree(TreeRow(name, FOLDER_MODE, id) for name, id in self._rows.items())

    def keep(self, names: frozenset[str]) -> None:
        """Keep only these nodes."""
        self._rows = {name: id for name, id in self._rows.items() if name in names}

    def render(self, fleet: Fleet, names: Sequence[str], trees: Trees, pack: Pack, workers: int) -> None:
        """Render nodes' folders; objects that are not in the repository go into the pack."""
        if not names:
            return
        part = fleet if len(names) == len(fleet) else fleet.valued(names)
        turns = split_jobs(TreeJob(name, self._before.get(name, "")) for name in names)
        for tree in chain.from_iterable(spread(_work(part, trees), turns, workers)):
            progress.note("rendering the folder of", tree.node, len(names))
            pack.add(tree.made)
            if tree.unmade:
                self.unmade += ((tree.node, path) for path in tree.unmade)
            elif tree.id == EMPTY:  # git has no empty folders
                self._rows.pop(tree.node, None)
            else:
                self._rows[tree.node] = tree.id


def _work(fleet: Fleet, trees: Trees) -> Callable[[], AbstractContextManager[BuildTrees]]:
    compiled, ingredients = fleet.compiled, Ingredients(fleet.compiled)

    @contextmanager
    def work() -> Iterator[BuildTrees]:
        with open_fleet_source(compiled, ingredients) as source:
            yield TreeBuilder(source, trees).build

    return work


_UNREAD = "GC1"  # the beginning of codes of files that could not be read: their content is unknown


class PublishRequest(msgspec.Struct, frozen=True):
    """The nodes to render, and the errors that concern them."""

    names: Sequence[str]
    scope: Scope
    errors: Sequence[Finding] = ()

    @property
    def whole(self) -> bool:
        """Whether these are all nodes, so that other folders are removed."""
        return self.scope is Scope.ALL

    def faulty_nodes(self, version: Version) -> frozenset[str] | None:
        """Return the nodes with errors, or made from files with errors: their folders stay as they are.

        None: these nodes are unknown, because a file could not be read at all.
        """
        named = frozenset(name for finding in self.errors for name in finding.nodes)
        others = [finding for finding in self.errors if not finding.nodes]
        if not others:
            return named
        if any(finding.code.startswith(_UNREAD) or not finding.origins for finding in others):
            return None
        made = find_nodes_using({origin.file for finding in others for origin in finding.origins}, (version,))
        return None if made is None else named | made


class PublishOutcome(msgspec.Struct, frozen=True):
    """The commit that was made, if any, and the numbers of nodes rendered, changed, and removed.

    `held` are nodes that stay as they were because of errors; `unmade` are their files whose template fails;
    `refused` are errors that prevent a commit, because it is unknown which nodes they concern.
    """

    source: str
    commit: str | None = None
    rendered: int = 0
    changed: int = 0
    gone: int = 0
    held: tuple[str, ...] = ()
    unmade: tuple[tuple[str, str], ...] = ()
    refused: tuple[Finding, ...] = ()


# Trailers of a commit

SOURCE = "Gitcfg-Source"
_COMMIT = re.compile("[0-9a-f]{40}")
_VERSION, _NODES, _HELD_TRAILER = "Gitcfg-Version", "Gitcfg-Nodes", "Gitcfg-Held"


class Provenance(msgspec.Struct, frozen=True):
    """The commit that nodes were rendered from.

    `whole`: all nodes were rendered by this version of gitcfg, except those `held`, which stayed as they
    were.
    """

    source: str
    whole: bool
    held: frozenset[str]


def parse_trailers(trailers: Mapping[str, str], most: int) -> Provenance:
    """Parse trailers; node sets with more than `most` names are ignored."""
    held, readable = _names(trailers.get(_HELD_TRAILER, ""), most)
    source = trailers.get(SOURCE, "")
    known = readable and _COMMIT.fullmatch(source) is not None
    whole = known and _NODES not in trailers and trailers.get(_VERSION) == __version__
    return Provenance(source, whole, held)


def _names(text: str, most: int) -> tuple[frozenset[str], bool]:
    try:
        return frozenset(expand(text, most)) if text else frozenset(), True
    except NodeSetError:
        return frozenset(), False


def render_message(subject: str, source: str, nodes: Iterable[str], held: Iterable[str]) -> str:
    """Return a commit's message; `nodes` are those that were requested, none if all were."""
    lines = [f"{SOURCE}: {source}", f"{_VERSION}: {__version__}"]
    lines += [f"{word}: {fold(names)}" for word, names in ((_NODES, nodes), (_HELD_TRAILER, held)) if names]
    first = subject or f"Rendered from {source[:ABBREVIATED]}"
    return "\n".join((first, "", *lines, ""))


# Publishing

_TRIES = 100
_MORE = 100_000  # the number of nodes without a folder that may be held


class Publisher:
    """Publish fleets of one repository on one ref: render the nodes that changed, and commit them."""

    def __init__(
        self,
        repository: Repository,
        environment: Mapping[str, str],
        ref: str,
        cache: Cache,
        today: date,
        workers: int = 1,
    ) -> None:
        """Begin with a ref; `environment` is for git's process.

        Raise GitcfgError if the ref may not be written.
        """
        self.repository = repository
        self._git = Git(repository, environment)
        self._ref = RenderedRef(repository, self._git, ref, SOURCE)
        self._history = History(repository)
        self._cache, self._today, self._workers = cache, today, workers

    @property
    def ref(self) -> str:
        """The ref's full name."""
        return self._ref.ref

    def tip(self) -> Tip | None:
        """Return the ref's tip. Raise GitcfgError if gitcfg did not make it."""
        return self._ref.tip()

    def last(self, tip: Tip | None) -> Provenance | None:
        """Return the provenance of a tip."""
        return parse_trailers(tip.trailers, len(tip.rows) + _MORE) if tip is not None else None

    def fleet(self, commit: str) -> Fleet | None:
        """Return the fleet of a commit, or None if it is missing or has no configuration."""
        tree = self.repository.at(commit) if self._history.has(commit) else None
        if tree is None or not is_repository(tree):
            return None
        return Fleet(tree, self.repository.before(tree), self._today, self._cache)

    def publish(self, fleet: Fleet, request: PublishRequest) -> PublishOutcome:
        """Commit the rendered nodes, after any commits that other processes make in the meantime."""
        for _ in range(_TRIES):
            outcome = self.after(self.tip(), fleet, request)
            if outcome is not None:
                return outcome
        raise GitcfgError(
            f"Cannot update {self.ref}: other processes keep changing it.", "Try again later.", code=REFUSED
        )

    def after(self, tip: Tip | None, fleet: Fleet, request: PublishRequest) -> PublishOutcome | None:
        """Commit the rendered nodes after this tip; None: the ref has moved since, so nothing is changed."""
        assert fleet.commit is not None
        if request.whole and self.last(tip) == Provenance(fleet.commit, True, frozenset()):
            return PublishOutcome(fleet.commit)
        faulty = request.faulty_nodes(fleet.version)
        if faulty is None:
            return PublishOutcome(fleet.commit, refused=tuple(request.errors))
        with open_pack(self._git) as pack:
            return self._commit(tip, fleet, request, faulty, pack)

    def _commit(
        self, tip: Tip | None, fleet: Fleet, request: PublishRequest, faulty: frozenset[str], pack: Pack
    ) -> PublishOutcome | None:
        folders = RefFolders(tip.rows if tip is not None else {})
        names = sorted(self._find_concerned(fleet, request, self.last(tip)) - faulty)
        if request.whole:
            folders.keep(frozenset(fleet) | faulty)
        folders.render(fleet, names, self._ref.trees, pack, self._workers)
        held = {name for name in faulty if name in request.names or name in folders}
        held.update(node for node, _ in folders.unmade)
        unmade, source, root = tuple(folders.unmade), fleet.commit or "", folders.root
        outcome = PublishOutcome(
            source, None, len(names), folders.changed, folders.gone, tuple(sorted(held)), unmade
        )
        same = tip is not None and root.id == tip.tree
        if same and (not request.whole or self.last(tip) == Provenance(source, True, frozenset(held))):
            return outcome
        pack.add(() if same else (root,))
        pack.keep(self._git)
        text = render_message(
            self._history.about(source).subject, source, () if request.whole else request.names, sorted(held)
        )
        commit = self._ref.commit(root.id, tip, source, text)
        return msgspec.structs.replace(outcome, commit=commit) if self._ref.move(commit, tip) else None

    def _find_concerned(
        self, fleet: Fleet, request: PublishRequest, last: Provenance | None
    ) -> frozenset[str]:
        """Return the requested nodes that may differ from those at the ref."""
        names = frozenset(request.names)
        if not request.whole or last is None or not last.whole:
            return names
        if last.source == fleet.commit:
            return names & last.held
        before = self.fleet(last.source)
        found = find_changed_nodes(before.version, fleet.version) if before is not None else None
        return names if found is None else names & (found | last.held)


def follow_ref(publisher: Publisher, ref: str) -> Iterator[PublishOutcome]:
    """Publish a ref's commits after the last published one, up to its tip.

    Several processes may do this at once: the later ones find fewer commits, or none.
    """
    for _ in range(_TRIES):
        moved = yield from _follow_once(publisher, ref)
        if not moved:
            return
    raise GitcfgError(
        f"Cannot update {publisher.ref}: other processes keep changing it.",
        "The next push continues.",
        code=REFUSED,
    )


def _follow_once(publisher: Publisher, ref: str) -> Generator[PublishOutcome, None, bool]:
    """Return True if another process was faster."""
    tip, goal = publisher.tip(), Refs(publisher.repository).tip(ref)
    if goal is None:
        return False
    last = publisher.last(tip)
    known = last.source if last is not None and last.whole else None
    for commit in list_commits(History(publisher.repository), goal, known):
        fleet = publisher.fleet(commit)
        if fleet is None:
            continue
        with fleet:
            errors = tuple(found for found in fleet.findings if found.is_error)
            outcome = publisher.after(tip, fleet, PublishRequest(tuple(fleet), Scope.ALL, errors))
        if outcome is None:
            return True
        yield outcome
        if outcome.commit is not None:
            tip = publisher.tip()
            if tip is None or tip.commit != outcome.commit:
                return True
    return False


def list_commits(history: History, goal: str, known: str | None) -> tuple[str, ...]:
    """Return the commits from a known one to another, by first parents, oldest first.

    If the known one is not among these, as after a rewind, return only the last one.
    """
    if known is None or not history.has(known) or not history.includes(goal, known):
        return (goal,)
    found: list[str] = []
    commit = goal
    while commit != known:
        found.append(commit)
        parents = history.parents(commit)
        if not parents:
            return (goal,)
        commit = parents[0]
    return tuple(reversed(found)) or (goal,)
