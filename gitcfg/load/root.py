"""The file that marks the root of a repository."""

from gitcfg.git.tree import Entry, EntryKind, Tree
from gitcfg.model import GitcfgError

FILE = "gitcfg.yaml"


def settings_entry(tree: Tree) -> Entry:
    """What stands at gitcfg.yaml. GitcfgError: no file does, so that this is no repository."""
    entry = tree.entry(FILE)
    if entry is None or entry.kind is not EntryKind.FILE:
        raise GitcfgError(f"There is no {FILE} here.", "`gitcfg init` makes a repository.")
    return entry
