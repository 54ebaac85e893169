"""The private keys with which a server opens secrets, and the public one that it is known by."""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

if TYPE_CHECKING:
    from gitcfg import secrets
    from gitcfg.server.signing import ServerKey

Identities = Annotated[
    list[Path] | None,
    typer.Option(
        "--identity",
        envvar="GITCFG_IDENTITY",
        help="A private key to open secrets with, beside the server's own; several: say it again.",
        metavar="FILE",
        show_default=False,
    ),
]
_MOST_BYTES = 1 << 16


def opening(files: Sequence[Path]) -> "secrets.Identities":
    """The keys in some files, and from here on no core is dumped. GitcfgError: one cannot be used."""
    from gitcfg.secrets import identities
    from gitcfg.secrets.dumps import no_core_dumps

    no_core_dumps()
    return identities([(shown(str(file)), _content(file)) for file in files])


def with_own(others: "secrets.Identities", key: "ServerKey") -> "secrets.Identities":
    """The same with the server's own key."""
    from gitcfg.secrets import identities

    return others.joined(identities([("the server's own key", key.identity)]))


def tell(at: str, key: "ServerKey") -> None:
    """Say where the server is, and what nodes and secrets know it by."""
    reads = f"Among the recipients of a secret, this lets it read that:\n{key.recipient} server"
    print(f'Serving on {at}. Nodes know this server by:\nserver_key = "{key.public}"\n{reads}', flush=True)


def _content(path: Path) -> bytes:
    """A file that is the server's user's alone. GitcfgError: it is not there, or others can read it."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise GitcfgError(
                    f"Others can read {shown(str(path))}.", f"`chmod 600 {path}`, if nobody has."
                )
            return file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise GitcfgError(f"The key {shown(str(path))} cannot be read: {error.strerror}.") from None
