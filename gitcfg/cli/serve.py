"""`gitcfg serve`: the server for nodes, and the tokens for people and programs."""

import os
import socket
import sys
import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from gitcfg.cli.declaration import Group, OutputOption, command
from gitcfg.cli.records import Items, Record, write_record
from gitcfg.cli.server_state import (
    NOT_INSTALLED,
    Database,
    StateFolder,
    connect_state,
    environment_option,
    find_database,
    load_own_key,
    make_state_folder,
    open_database,
    served_repository,
    state_query,
)
from gitcfg.cli.session import Output, Session, begin_long_run, write
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.secrets.identities import Identities as PrivateKeys
    from gitcfg.server.application import ListenOptions
    from gitcfg.server.signatures import ServerKey
    from gitcfg.state.records import Token as StoredToken
    from gitcfg.state.state import State

EPILOG = """Examples:

  gitcfg serve                         the repository in this folder, on port 8421 of this machine

  gitcfg -C /srv/pool.git serve --listen 0.0.0.0:8421 --tls-cert cert.pem --tls-key key.pem

  gitcfg serve --database postgresql://gitcfg@db/gitcfg"""
Identities = Annotated[
    list[Path] | None,
    environment_option(
        "--identity",
        "FILE",
        "A private key to decrypt secrets with, in addition to the server's own; may be repeated.",
    ),
]
Listen = Annotated[str, environment_option("--listen", "HOST:PORT", "The address to listen on.")]
Certificate = Annotated[
    str | None, environment_option("--tls-cert", "FILE", "The certificate and its chain (PEM).")
]
CertificateKey = Annotated[
    str | None, environment_option("--tls-key", "FILE", "The certificate's private key (PEM).")
]
TrustedProxies = Annotated[
    list[str] | None,
    environment_option(
        "--trusted-proxy",
        "ADDRESS",
        "A proxy, or a network of proxies, whose X-Forwarded headers are trusted; may be repeated.",
    ),
]
MostPending = Annotated[
    int,
    environment_option(
        "--max-pending",
        "N",
        "The most keys to keep of nodes that are not accepted yet.",
        min=1,
        max=1_000_000,
    ),
]
MostOfAddress = Annotated[
    int,
    environment_option(
        "--max-pending-per-address", "N", "The most of these keys from one address.", min=1, max=1_000_000
    ),
]
PendingDays = Annotated[
    float,
    environment_option(
        "--pending-days",
        "DAYS",
        "The days after the last contact until such a key is removed.",
        min=0.01,
        max=3650,
    ),
]
_MOST_BYTES = 1 << 16


class Level(StrEnum):
    """The level of log messages."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


def _serve(
    context: typer.Context,
    listen: Listen = "127.0.0.1:8421",
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
        Level, typer.Option(envvar="GITCFG_LOG_LEVEL", help="The lowest level to log, to stderr.")
    ] = Level.INFO,
) -> int:
    """Run the server: give nodes the accepted configuration, and record their results. It ends on SIGTERM."""
    if context.invoked_subcommand is not None:
        return 0
    session: Session = context.obj
    try:
        import uvloop

        from gitcfg.server.application import load_certificate, run_server
        from gitcfg.server.http import make_logger
        from gitcfg.server.service import Service
        from gitcfg.state.nodes import Limits
    except ImportError:
        raise NOT_INSTALLED from None
    from gitcfg.cache import open_cache
    from gitcfg.library import Source
    from gitcfg.secrets.identities import parse_identities

    where = parse_listen(listen, tls_cert, tls_key, trusted_proxy or ())
    begin_long_run()
    log = make_logger(sys.stderr, log_level.value)

    def today() -> date:
        return session.today or date.today()

    def open_source() -> Source:
        repository = served_repository(session)
        return Source(repository, today(), open_cache(repository, os.geteuid()))

    identities = open_identities(identity or ())
    # Fail before the database is created, so that none is left that no server uses.
    open_source()
    if where.tls is not None:
        load_certificate(where.tls, log)
    check_free(where)
    key = load_own_key(make_state_folder(session, state))
    pending = Limits(max_pending, max_pending_per_address, pending_days * 86400.0)
    with connect_state(session, url, state) as database:

        async def serve() -> None:
            own = identities.join(parse_identities([("the server's own key", key.identity)]))
            service = Service(database, open_source, key, time.time, today, log, own, pending)
            await run_server(service, where, boundary(log), lambda at: announce(at, key))

        uvloop.run(serve())
    return 0


def parse_listen(text: str, cert: str | None, key: str | None, proxies: Iterable[str]) -> "ListenOptions":
    """Parse the address to listen on.

    Raise GitcfgError if it or a network is invalid, or one of cert and key is missing.
    """
    from gitcfg.server.application import ListenOptions
    from gitcfg.server.http import parse_network

    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise GitcfgError(f"{text} is not an address to listen on.", "Use the form HOST:PORT.")
    if (cert is None) != (key is None):
        raise GitcfgError(
            "A certificate needs its key, and a key its certificate.", "Use both --tls-cert and --tls-key."
        )
    tls = (cert, key) if cert is not None and key is not None else None
    return ListenOptions(host.strip("[]"), int(port), tls, tuple(map(parse_network, proxies)))


def check_free(where: "ListenOptions") -> None:
    """Raise GitcfgError if the address cannot be listened on, before anything is created."""
    try:
        found = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        with socket.socket(*found[0][:3]) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(found[0][4])
    except OSError as error:
        hint = "Another program may use the port, or the address is not one of this machine."
        raise GitcfgError(f"Cannot listen on {where.host}:{where.port}: {error.strerror}.", hint) from None


def open_identities(files: Sequence[Path]) -> "PrivateKeys":
    """Load private keys; from here on no core is dumped. Raise GitcfgError if one cannot be used."""
    from gitcfg.secrets.identities import parse_identities
    from gitcfg.secrets.store import forbid_core_dumps

    forbid_core_dumps()
    return parse_identities([(shown(str(file)), _read_private_key(file)) for file in files])


def _read_private_key(path: Path) -> bytes:
    """Read a file that only its owner can read. Raise GitcfgError if it is missing, or others can read it."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & 0o077:
                raise GitcfgError(
                    f"Other users can read {shown(str(path))}.",
                    f"If no one has read it, run `chmod 600 {path}`.",
                )
            return file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise GitcfgError(f"Cannot read the key {shown(str(path))}: {error.strerror}.") from None


def announce(at: str, key: "ServerKey") -> None:
    """Print the address of the server, and its keys for nodes and for secrets."""
    print(
        f'Serving on {at}. Nodes know this server by:\nserver_key = "{key.public}"\n'
        f"To let the server read a secret, add this recipient to it:\n{key.recipient} server",
        flush=True,
    )


def boundary(log: Any) -> Callable[[Any, Callable[[Any], Awaitable[Any]]], Awaitable[Any]]:
    """Return a middleware that logs internal errors, and answers only that something has failed."""
    from aiohttp.web import HTTPException

    from gitcfg.server.http import Problem

    async def guarded(request: Any, handler: Callable[[Any], Awaitable[Any]]) -> Any:
        try:
            return await handler(request)
        except (Problem, HTTPException, GitcfgError, ConnectionError):
            raise
        except Exception:
            log.exception("a fault of gitcfg's own", extra={"fields": {"path": request.raw_path[:500]}})
            raise Problem("fault") from None

    return guarded


_CREATE_EPILOG = """Examples:

  gitcfg serve token create alice                      she may look

  gitcfg serve token create ops --role operate         ... and resume and abort releases

  GITCFG_TOKEN=$(gitcfg serve token create ci) gitcfg wait HEAD --server https://config.example.com"""
_LIST_EPILOG = """Examples:

  gitcfg serve token list                              who may ask, and when each last did

  gitcfg serve token list -o json                      ... for programs

  gitcfg serve token list --database postgresql://gitcfg@db/gitcfg"""
_REVOKE_EPILOG = """Examples:

  gitcfg serve token revoke alice                      her token counts no more

  gitcfg serve token revoke alice --state /srv/gitcfg  ... of a server that keeps its state there

  gitcfg serve token revoke ci && gitcfg serve token create ci"""
_NAME = typer.Argument(help="The name of the token, such as its holder.", metavar="NAME")


class Role(StrEnum):
    """What a token allows."""

    READ = "read"
    OPERATE = "operate"


TOKENS = Items("gitcfg.tokens/1", "tokens", "token")


@command(_CREATE_EPILOG, TOKENS)
def create_token(
    context: typer.Context,
    name: Annotated[str, _NAME],
    role: Annotated[Role, typer.Option(help="What the token allows.")] = Role.READ,
    url: Database = None,
    state: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Create a token and print it. It cannot be shown again."""
    with _open_tokens(context, url, state) as found:
        from gitcfg.state.records import Role as StoredRole

        token = found.tokens.create(name, StoredRole(role.value), time.time())
        made = [one for one in found.tokens.all() if one.name == name]
    if output is not Output.TEXT:
        write_record(_tokens_to_json(made, token=token), output)
    else:
        write(f"{token}\n")
    return 0


def _tokens_to_json(tokens: "Iterable[StoredToken]", **more: str) -> Record:
    """Return `gitcfg.tokens/1`, with times in seconds since the epoch; `more` are further fields of each."""
    keys = ("name", "role", "created", "used")
    records = [{**{key: getattr(token, key) for key in keys}, **more} for token in tokens]
    return {"schema": TOKENS.schema, "tokens": records}


def _open_tokens(context: typer.Context, url: str | None, state: str | None) -> "closing[State]":
    """Open the database of a server. Raise GitcfgError if none is given or here, or no server has used it.

    A token in a new database, for example of a clone or a misspelled option, would be unknown to all servers.
    """
    session: Session = context.obj
    where = find_database(served_repository(session), state_query(context, url, state))
    if where is None:
        hint = "Start `gitcfg serve` first, or use the same --state DIR or --database URL."
        raise GitcfgError("There is no state of a server here.", hint)
    return open_database(where)


@command(_LIST_EPILOG, TOKENS)
def list_tokens(
    context: typer.Context,
    url: Database = None,
    state: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """List the tokens."""
    session: Session = context.obj
    with _open_tokens(context, url, state) as found:
        tokens = found.tokens.all()
    if output is not Output.TEXT:
        write_record(_tokens_to_json(tokens), output)
        return 0
    for token in tokens:
        used = "never used" if token.used is None else f"last used {_format_time(token.used)}"
        session.write(
            f"{safe(token.name)}  {token.role.value}  created {_format_time(token.created)}, {used}\n"
        )
    if not tokens:
        session.console(stderr=True).print("There are no tokens.")
    return 0


@command(_REVOKE_EPILOG, TOKENS)
def revoke_token(
    context: typer.Context,
    name: Annotated[str, _NAME],
    url: Database = None,
    state: StateFolder = None,
    output: OutputOption = Output.TEXT,
) -> int:
    """Revoke a token, within seconds on all servers."""
    session: Session = context.obj
    with _open_tokens(context, url, state) as found:
        revoked = [one for one in found.tokens.all() if one.name == name]
        found.tokens.revoke(name)
    if output is not Output.TEXT:
        write_record(_tokens_to_json(revoked), output)
    else:
        session.write(f"revoked {safe(name)}\n")
    return 0


def _format_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).astimezone().isoformat(" ", "minutes")


token = Group(
    "Create, list and revoke the tokens of people and programs.",
    {"create": create_token, "list": list_tokens, "revoke": revoke_token},
)


serve = Group(
    "Run the server that gives nodes the accepted configuration, and manage its tokens.",
    {"token": token},
    _serve,
    EPILOG,
)
