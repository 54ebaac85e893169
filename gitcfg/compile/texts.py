"""Files of a repository that are taken as they are: templates, and what nodes get word for word."""

from collections.abc import Iterable

from gitcfg.git.tree import Tree

_MOST = 4 << 20


def texts(tree: Tree, folder: str, names: Iterable[str]) -> dict[str, str | None]:
    """What files of a folder hold, in order of name; None: one that is no text, or larger than 4 MiB."""
    return {name: _text(tree, f"{folder}/{name}") for name in sorted(names)}


def _text(tree: Tree, path: str) -> str | None:
    entry = tree.entry(path)
    if entry is None or entry.size > _MOST:
        return None
    try:
        return tree.read(entry).decode("utf-8")
    except UnicodeDecodeError:
        return None
