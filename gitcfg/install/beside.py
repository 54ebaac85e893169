"""What stands beside a target while it is replaced: in its folder, and so on its file system."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from .paths import OWN_PREFIX, name_of, parent_of
from .plan import Entry, Plan
from .saving import NO_LINKS
from .store import Store


def fresh(key: str, number: int) -> str:
    """The name of a new file until it takes its target's place."""
    return f"{OWN_PREFIX}{key}-{number}.new"


def former(key: str, number: int) -> str:
    """A second name of what stood, where the state folder is on another file system.

    What is backed up there is a copy, which a full disk does not take back.
    """
    return f"{OWN_PREFIX}{key}-{number}.old"


def hold(store: Store, at: int, entry: Entry, name: str) -> None:
    """Give what stands that second name, where its file system can; `at` is its folder."""
    if store.disk.device(at) == store.disk.device(store.at):
        return
    try:
        store.disk.link(at, name_of(entry.path), at, name)
    except OSError as error:
        if error.errno not in NO_LINKS:
            raise


def clear(store: Store, plan: Plan, key: str, named: Callable[[str, int], str]) -> None:
    """Remove what stands beside the targets, `fresh` or `former`, for good: the journal will be gone next."""
    folders = set()
    for number, entry in enumerate(plan.entries):
        with suppress(FileNotFoundError), store.tree.folder(parent_of(entry.path)) as at:
            if store.disk.stat(at, named(key, number)) is not None:
                store.disk.unlink(at, named(key, number))
                folders.add(parent_of(entry.path))
    store.tree.sync(folders)
