"""Where a server keeps what it knows, and what is said of that on the command line."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.session import Session
from gitcfg.git.repository import Config, Repository
from gitcfg.model import GitcfgError
from gitcfg.model.text import install_hint

if TYPE_CHECKING:
    from gitcfg.server.signing import ServerKey
    from gitcfg.state import State

FOLDER = "gitcfg-server"
"""Beside the repository's objects: not in the cache, which may be deleted at any time."""
MISSING = GitcfgError("The server is not installed.", install_hint("server"))

Database = Annotated[
    str | None,
    typer.Option(
        "--database",
        envvar="GITCFG_DATABASE",
        help="sqlite:///PATH or postgresql://USER@HOST/NAME; else state.db in --state.",
        metavar="URL",
        show_default=False,
    ),
]
StateFolder = Annotated[
    str | None,
    typer.Option(
        "--state",
        envvar="GITCFG_STATE",
        help="Where key and database are kept; else gitcfg-server in git's folder.",
        metavar="DIR",
        show_default=False,
    ),
]


def repository(session: Session) -> Repository:
    """The repository that is served: bare, or one that people work in."""
    found = Repository.served(session.repo)
    if found.git is not None and not found.git.is_bare:
        with contextlib.suppress(GitcfgError):
            return Repository.open(session.repo)
    return Repository.served(session.repo, Config(found).last("gitcfg.folder") or "")


def folder(session: Session, said: str | None) -> Path:
    """Where key and database are, made if it is not there: only its owner may look into it."""
    if said is not None:
        found = Path(said)
    else:
        shared = Repository.served(session.repo).shared
        assert shared is not None
        found = shared / FOLDER
    try:
        found.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        hint = "The server's user must own it: --state DIR is another place."
        raise GitcfgError(f"The folder {found} cannot be made: {error.strerror}.", hint) from None
    return found


def own_key(folder: Path) -> "ServerKey":
    """The server's own key. GitcfgError: it cannot be read, or made."""
    from gitcfg.server.signing import load_server_key

    file = folder / "server.key"
    try:
        return load_server_key(file)
    except OSError as error:
        hint = "The server's user must own it and its folder: --state DIR is another place."
        raise GitcfgError(f"The server's key {file} cannot be used: {error.strerror}.", hint) from None


@contextlib.contextmanager
def database(session: Session, url: str | None, said: str | None) -> Iterator["State"]:
    """The database, opened. GitcfgError: it cannot be, or what reads it is not installed."""
    try:
        from gitcfg.state import connect
    except ImportError:
        raise MISSING from None
    state = connect(url or f"sqlite:///{(folder(session, said) / 'state.db').absolute()}")
    try:
        yield state
    finally:
        state.close()
