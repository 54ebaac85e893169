"""The folders of nodes at a ref: as they stand, and as they come to be."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager

from gitcfg.git.commit_tree import Items, Trees
from gitcfg.git.pack import EMPTY, FOLDER_MODE, Pack, PackedObject, Row, pack_tree
from gitcfg.library import Fleet
from gitcfg.output.made import Ingredients
from gitcfg.output.objects import BuildTrees, NodeTree, TreeBuilder, TreeJob, split_jobs
from gitcfg.output.source import open_fleet_source
from gitcfg.parallel import spread


class RefFolders:
    """Ids by node. `unmade` are files whose template fails: their nodes' folders stay as they are."""

    def __init__(self, items: Items) -> None:
        self._before = {name: item.id.hex() for name, item in items.items() if item.folder is not None}
        self._rows = dict(self._before)
        self.unmade: list[tuple[str, str]] = []

    def __contains__(self, node: str) -> bool:
        return node in self._rows

    @property
    def changed(self) -> int:
        """How many folders are new, or other ones than before."""
        return sum(self._before.get(name) != id for name, id in self._rows.items())

    @property
    def gone(self) -> int:
        """How many there are no more."""
        return len(self._before.keys() - self._rows.keys())

    @property
    def root(self) -> PackedObject:
        """The folder of all of them."""
        return pack_tree(Row(name, FOLDER_MODE, id) for name, id in self._rows.items())

    def keep(self, names: frozenset[str]) -> None:
        """Only these are still there."""
        self._rows = {name: id for name, id in self._rows.items() if name in names}

    def render(self, fleet: Fleet, names: Sequence[str], trees: Trees, pack: Pack, workers: int) -> None:
        """Make nodes' folders anew; what is not in the repository goes into the pack."""
        for tree in _build_trees(fleet, names, self._before, trees, workers) if names else ():
            pack.add(tree.made)
            if tree.unmade:
                self.unmade += ((tree.node, path) for path in tree.unmade)
            elif tree.id == EMPTY:  # git has no empty folders
                self._rows.pop(tree.node, None)
            else:
                self._rows[tree.node] = tree.id


def _build_trees(
    fleet: Fleet, names: Sequence[str], before: Mapping[str, str], trees: Trees, workers: int
) -> Iterator[NodeTree]:
    part = fleet if len(names) == len(fleet) else fleet.valued(names)
    turns = split_jobs(TreeJob(name, before.get(name, "")) for name in names)
    for turn in spread(_work(part, trees), turns, workers):
        yield from turn


def _work(fleet: Fleet, trees: Trees) -> Callable[[], AbstractContextManager[BuildTrees]]:
    compiled, ingredients = fleet.compiled, Ingredients(fleet.compiled)

    @contextmanager
    def work() -> Iterator[BuildTrees]:
        with open_fleet_source(compiled, ingredients) as source:
            yield TreeBuilder(source, trees).build

    return work
