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
from gitcfg.cli.serving.identities import Identities, opening, tell, with_own
from gitcfg.cli.serving.listening import (
    Certificate,
    CertificateKey,
    MostOfAddress,
    MostPending,
    PendingDays,
    TrustedProxies,
    Where,
    free,
    place,
)
from gitcfg.cli.serving.place import MISSING, Database, StateFolder, database, folder, own_key, repository
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.library import Source
    from gitcfg.server.running import ListenOptions

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


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help="Serve what was accepted to nodes.")
    group.callback(invoke_without_command=True, epilog=EPILOG)(command)
    tokens.register(group, "token")
    app.add_typer(group, name=name)


def command(
    context: typer.Context,
    listen: Where = "127.0.0.1:8421",
    url: Database = None,
    state: StateFolder = None,
    tls_cert: Certificate = None,
    tls_key: CertificateKey = None,
    trusted_proxy: TrustedProxies = None,
    identity: Identities = None,
    max_pending: MostPending = 1000,
    max_pending_per_address: MostOfAddress = 20,
    pending_days: PendingDays = 7.0,
    log_level: Annotated[
        Level, typer.Option(envvar="GITCFG_LOG_LEVEL", help="What is logged, to stderr.")
    ] = Level.INFO,
) -> int:
    """Serve what was accepted to nodes, and take in how it went. It ends on SIGTERM."""
    if context.invoked_subcommand is not None:
        return 0
    session: Session = context.obj
    try:
        import uvloop

        from gitcfg.server.logs import make_logger
        from gitcfg.server.running import run_server
        from gitcfg.server.service import Service
        from gitcfg.state.claims import Limits
    except ImportError:
        raise MISSING from None
    where = place(listen, tls_cert, tls_key, trusted_proxy or ())
    gc.enable()  # other commands end before garbage matters
    log = make_logger(sys.stderr, log_level.value)
    opener = _opener(session)
    opens = opening(identity or ())
    _tried(opener, where, log)
    key = own_key(folder(session, state))
    pending = Limits(max_pending, max_pending_per_address, pending_days * 86400.0)
    with database(session, url, state) as kept:

        def today() -> date:
            return session.today or date.today()

        async def serve() -> None:
            own = with_own(opens, key)
            service = Service(kept, opener, key, time.time, today, log, own, pending)
            await run_server(service, where, boundary(log), lambda at: tell(at, key))

        uvloop.run(serve())
    return 0


def _tried(opener: "Callable[[], Source]", where: "ListenOptions", log: Any) -> None:
    """GitcfgError: it could not be served. Then no database is left behind that no server fills."""
    from gitcfg.server.certificate import load_certificate

    opener()
    if where.tls is not None:
        load_certificate(where.tls, log)
    free(where)


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
            log.exception("a fault of gitcfg's own", extra={"fields": {"path": request.raw_path[:500]}})
            raise Problem("fault") from None

    return guarded


def _opener(session: Session) -> "Callable[[], Source]":
    from gitcfg.cache import open_cache
    from gitcfg.library import Source

    def opened() -> Source:
        found = repository(session)
        return Source(found, session.today or date.today(), open_cache(found, os.geteuid()))

    return opened
