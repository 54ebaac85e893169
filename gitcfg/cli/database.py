"""The server's state database for commands that use it as it is, and make none where there is none."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gitcfg.cli.serving.place import FOLDER, MISSING
from gitcfg.cli.serving.said import Asked
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.git.repository import Repository
    from gitcfg.state import State


def nowhere() -> GitcfgError:
    """Nothing is said, and there is nothing where it usually is."""
    hint = "Say --server URL to ask a server, or --database URL, or --state DIR."
    return GitcfgError("No server keeps its state here.", hint)


def address(repository: "Repository", asked: Asked) -> str | None:
    """The address of the database that is meant; None: none is said, and beside the repository is none."""
    if asked.url:
        return asked.url
    shared = repository.shared
    folder = Path(asked.folder) if asked.folder else shared / FOLDER if shared is not None else None
    place = folder / "state.db" if folder is not None else None
    there = place is not None and place.is_file()
    return f"sqlite:///{place.absolute()}" if place is not None and (there or asked.folder) else None


@contextmanager
def kept(repository: "Repository", asked: Asked) -> Iterator["State"]:
    """The database that is meant. GitcfgError: there is none, or it cannot be opened."""
    url = address(repository, asked)
    if url is None:
        raise nowhere()
    with opened(url) as state:
        yield state


@contextmanager
def opened(url: str) -> Iterator["State"]:
    """A state database, as its server keeps it. GitcfgError: none does, or what reads it is not installed."""
    try:
        from gitcfg.state import looked
    except ImportError:
        raise MISSING from None
    state = looked(url)
    try:
        yield state
    finally:
        state.close()
