"""`gitcfg serve`: the server that nodes fetch from."""

import gc
import os
import sys
import time
from collections.abc import Awaitable, Callable
from datetime import date
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitcfg.cli.serving import tokens
from gitcfg.cli.serving.place import MISSING, Database, StateFolder, database, folder, repository
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.library import Source
    from gitcfg.server.running import Listen

EPILOG = """Examples:

  gitcfg serve                         the repository in this folder, on port 8421 of this machine

  gitcfg -C /srv/pool.git serve --listen 0.0.0.0:8421 --tls-cert cert.pem --tls-key key.pem

  gitcfg serve --database postgresql://gitcfg@db/gitcfg"""


class Level(StrEnum):
    """What is logged."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


_LISTEN = typer.Option(envvar="GITCFG_LISTEN", help="Where to listen.", metavar="HOST:PORT")
_CERT = typer.Option(help="The certificate, with what leads to it (PEM).", metavar="FILE", show_default=False)
_KEY = typer.Option(help="The certificate's private key (PEM).", metavar="FILE", show_default=False)


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help="Serve what was accepted to nodes.")
    group.callback(invoke_without_command=True, epilog=EPILOG)(command)
    tokens.register(group, "token")
    app.add_typer(group, name=name)


def command(
    context: typer.Context,
    listen: Annotated[str, _LISTEN] = "127.0.0.1:8421",
    url: Database = None,
    state: StateFolder = None,
    tls_cert: Annotated[str | None, _CERT] = None,
    tls_key: Annotated[str | None, _KEY] = None,
    log_level: Annotated[Level, typer.Option(help="What is logged, to stderr.")] = Level.INFO,
) -> int:
    """Serve what was accepted to nodes, and take in how it went. It ends on SIGTERM."""
    if context.invoked_subcommand is not None:
        return 0
    session: Session = context.obj
    try:
        import uvloop

        from gitcfg.server.logs import logger
        from gitcfg.server.running import run
        from gitcfg.server.service import Service
        from gitcfg.server.signing import server_key
    except ImportError:
        raise MISSING from None
    where = _listen(listen, tls_cert, tls_key)
    gc.enable()  # other commands end before garbage matters
    log = logger(sys.stderr, log_level.value)
    key = server_key(folder(session, state) / "server.key")
    with database(session, url, state) as kept:
        opener = _opener(session)
        opener()

        async def serve() -> None:
            service = Service(kept, opener, key, time.time, lambda: session.today or date.today(), log)
            await run(service, where, boundary(log), lambda place: _tell(place, key.public))

        uvloop.run(serve())
    return 0


def boundary(log: Any) -> Callable[[Any, Callable[[Any], Awaitable[Any]]], Awaitable[Any]]:
    """Lets no request see what has failed: it is logged, and the answer says that something has."""
    from aiohttp.web import HTTPException

    from gitcfg.server.problems import Problem

    async def guarded(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        try:
            return await handler(request)
        except (Problem, HTTPException, GitcfgError, ConnectionError):
            raise
        except Exception:
            log.exception("a fault of gitcfg's own", extra={"said": {"path": request.raw_path[:500]}})
            raise Problem("fault") from None

    return guarded


def _tell(place: str, public: str) -> None:
    print(f'Serving on {place}. Nodes know this server by:\nserver_key = "{public}"', flush=True)


def _opener(session: Session) -> "Callable[[], Source]":
    from gitcfg.cache.cache import cache_of
    from gitcfg.library.source import Source

    def opened() -> Source:
        found = repository(session)
        return Source(found, session.today or date.today(), cache_of(found, os.geteuid()))

    return opened


def _listen(text: str, cert: str | None, key: str | None) -> "Listen":
    from gitcfg.server.running import Listen

    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise GitcfgError(f"{text} is no place to listen on.", "Write HOST:PORT.")
    if (cert is None) != (key is None):
        raise GitcfgError("A certificate and its key go together.", "Say both --tls-cert and --tls-key.")
    tls = (cert, key) if cert is not None and key is not None else None
    return Listen(host.strip("[]"), int(port), tls)
