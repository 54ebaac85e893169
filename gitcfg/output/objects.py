"""Rendered nodes as git's objects: a folder each, and of what is in it only what was not there before."""

from collections.abc import Callable, Iterator

import msgspec

from gitcfg.git.commit_tree import Trees
from gitcfg.git.objects import FOLDER
from gitcfg.git.pack import PackedObject, find_reserved, pack_blob, pack_folders
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.output.source import File, Source, Unmade

CHUNK = 64
"""Nodes that are one worker's turn."""
MOST_FOLDERS = 256
"""Folders in each other: git's library reads no more of them."""
_HELD = 1 << 24  # bytes of files that nodes of a class have in common
_PLAIN, _PROGRAM = b"100644", b"100755"
_EXECUTES = 0o111


class TreeJob(msgspec.Struct, frozen=True):
    """A node to render, and the id of its folder as it stands; "": there is none."""

    node: str
    old: str


class NodeTree(msgspec.Struct, frozen=True):
    """A node's folder: its id, what is new in it, and the files that could not be made."""

    node: str
    id: str
    made: tuple[PackedObject, ...]
    unmade: tuple[str, ...]


class TreeBuilder:
    """Makes objects of node after node: a worker's tools."""

    def __init__(self, source: Source, trees: Trees) -> None:
        self._source, self._trees = source, trees
        self._files: dict[str, PackedObject] = {}
        self._held = 0
        self._told = set[str]()

    def build(self, jobs: list[TreeJob]) -> list[NodeTree]:
        """What nodes get. GitcfgError: a file is where git can have none."""
        return [self._build(job) for job in jobs]

    def _build(self, job: TreeJob) -> NodeTree:
        files = list(self._source.files(job.node))
        unmade = tuple(file.path for file in files if isinstance(file, Unmade))
        made, places = list[PackedObject](), dict[str, tuple[bytes, str]]()
        for file in files if not unmade else ():
            assert isinstance(file, File)
            _refuse(job.node, file.path)
            made.append(self._blob(file))
            places[file.path] = (_mode(file.mode), made[-1].id)
        folders = list(pack_folders(places))
        id = folders[-1].id
        if unmade or id == job.old:
            return NodeTree(job.node, id, (), unmade)
        return NodeTree(job.node, id, tuple(self._new(made + folders, job.old)), ())

    def _new(self, made: list[PackedObject], old: str) -> Iterator[PackedObject]:
        """What is not in a folder, nor told before.

        Whether an object lies about somewhere else in the repository does not count: what no ref leads to
        may be removed at any time.
        """
        before = set(_ids(self._trees, bytes.fromhex(old))) if old else set[str]()
        for one in made:
            if one.id not in before and one.id not in self._told:
                self._told.add(one.id)
                yield one

    def _blob(self, file: File) -> PackedObject:
        if file.digest not in self._files:
            if self._held > _HELD:
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


def _mode(mode: str) -> bytes:
    """git knows programs and other files, and nothing else of modes."""
    return _PROGRAM if int(mode, 8) & _EXECUTES else _PLAIN


def _refuse(node: str, path: str) -> None:
    part = find_reserved(path)
    if part:
        hint = "Leave it out of what is rendered to a ref, or render to a folder: `--out DIR`."
        raise GitcfgError(
            f"{node}: {path} cannot be in git, which keeps {part} for itself.", hint, code=REFUSED
        )
    if path.count("/") > MOST_FOLDERS:
        raise GitcfgError(f"{node}: {path[:60]}... lies too deep in folders for git's library.", code=REFUSED)


def split_jobs(nodes: Iterator[TreeJob], most: int = CHUNK) -> Iterator[list[TreeJob]]:
    """Jobs in turns for workers."""
    turn: list[TreeJob] = []
    for job in nodes:
        turn.append(job)
        if len(turn) == most:
            yield turn
            turn = []
    if turn:
        yield turn


BuildTrees = Callable[[list[TreeJob]], list[NodeTree]]
