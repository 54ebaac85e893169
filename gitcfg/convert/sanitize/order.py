"""What depends on the order of names and paths: numbers in front keep it."""

from collections import defaultdict
from collections.abc import Iterable, Iterator

from gitcfg.git.tree import Tree
from gitcfg.model.folders import SHEETS, SINGLES

RANKED = ("overrides", "nodesets", "holds")
"""Of these, the order of names says which one counts."""
_MANY = (*SHEETS, "keys")
"""Of what is said twice in these, the first file's counts."""


class Order:
    """Where names and paths stand among those of some trees of a repository."""

    def __init__(self, trees: Iterable[Tree]) -> None:
        paths = {folder: set[str]() for folder in (*_MANY, *SINGLES)}
        for tree in trees:
            for folder, known in paths.items():
                known.update(entry.path for entry in tree.entries(folder))
        self._names = {
            folder: _number(map(_fold_case, sorted(paths[folder], key=_stem))) for folder in RANKED
        }
        self._paths = {folder: _number(sorted(paths[folder])) for folder in _MANY}
        self._twice = {path: place for folder in SINGLES for path, place in _find_repeated(paths[folder])}

    def rank(self, folder: str, name: str) -> str:
        """The number in front of a name, where there is one; a name that is not legal stays so."""
        number = self._names.get(folder, {}).get(name.casefold())
        return "" if number is None or not name[:1].isalnum() else f"{number:04d}"

    def prefix(self, path: str) -> str:
        """The number in front of a file's folder, where its place among others says whether it counts."""
        if path in self._twice:
            return f"{self._twice[path]:04d}"
        number = self._paths.get(path.partition("/")[0], {}).get(path)
        return "" if number is None else f"{number:04d}"


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".yaml")


def _fold_case(path: str) -> str:
    """Names that differ only in case get one number: they still differ only in case."""
    return _stem(path).casefold()


def _number(names: Iterable[str]) -> dict[str, int]:
    return {name: number for number, name in enumerate(dict.fromkeys(names))}


def _find_repeated(paths: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Files of one name: each with its number among them, in order of path."""
    alike: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(paths):
        alike[_stem(path)].append(path)
    for same in alike.values():
        if len(same) > 1:
            yield from ((path, number) for number, path in enumerate(same))
