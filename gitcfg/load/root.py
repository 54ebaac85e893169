"""The file that marks the root of a repository."""

from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.model import GitcfgError

FILE = "gitcfg.yaml"


def is_repository(tree: Tree) -> bool:
    """Does a file stand at gitcfg.yaml? A link or a submodule of that name does not count."""
    entry = tree.entry(FILE)
    return entry is not None and entry.kind is EntryKind.FILE


def settings_entry(tree: Tree) -> Entry:
    """What stands at gitcfg.yaml. GitcfgError: no file does, so that this is no repository."""
    entry = tree.entry(FILE)
    if entry is None or entry.kind is not EntryKind.FILE:
        raise GitcfgError(f"There is no {FILE} here.", "`gitcfg init` makes a repository.")
    return entry
