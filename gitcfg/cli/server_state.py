"""The state of a server, for commands: requested from the server over HTTP, or read in its database.

This module has the options for its address, and the search without these options.
"""

import errno
import http.client
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from contextlib import closing, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from gitcfg.cli.session import Session
from gitcfg.git.repository import Repository
from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown
from gitcfg.model.text import ABBREVIATED, counted, install_hint, safe

if TYPE_CHECKING:
    from gitcfg.server.signatures import ServerKey
    from gitcfg.state.records import NodeState
    from gitcfg.state.state import State


def environment_option(name: str, metavar: str, help: str, **limits: Any) -> Any:
    """Return an option that the environment can set as well: `--tls-key` by GITCFG_TLS_KEY."""
    variable = f"GITCFG_{name.removeprefix('--').replace('-', '_').upper()}"
    return typer.Option(name, envvar=variable, help=help, metavar=metavar, **limits)


Server = Annotated[
    str | None,
    environment_option(
        "--server", "URL", "Ask this server, with the token in GITCFG_TOKEN; default: read the database."
    ),
]
Token = Annotated[
    str | None,
    environment_option(
        "--token",
        "TEXT",
        "The token for --server. Better use the environment: other users can see arguments.",
    ),
]
Database = Annotated[
    str | None,
    environment_option(
        "--database", "URL", "sqlite:///PATH or postgresql://USER@HOST/NAME; default: state.db in --state."
    ),
]
StateFolder = Annotated[
    str | None,
    environment_option(
        "--state", "DIR", "The folder of key and database; default: gitcfg-server in git's folder."
    ),
]
STATE_FOLDER = "gitcfg-server"
"""The folder beside the repository's objects, not in the cache, which may be deleted at any time."""
NOT_INSTALLED = GitcfgError("The server is not installed.", install_hint("server"))
_SECONDS = 30
_MAY = "Use `gitcfg serve token create NAME --role operate` to create a token that may."
_EVENTS = 1000


class StateQuery(msgspec.Struct, frozen=True):
    """A server with a token, a database's address, or a server's folder; without any, the default one."""

    url: str | None = None
    folder: str | None = None
    server: str | None = None
    token: str | None = None


def state_query(
    context: typer.Context,
    url: str | None,
    folder: str | None,
    server: str | None = None,
    token: str | None = None,
) -> StateQuery:
    """Read the options; the command line beats the environment. Raise GitcfgError if two are given."""
    values = {"--server": server, "--database": url, "--state": folder}
    given = [option for option, value in values.items() if value]
    written = [option for option in given if _is_on_command_line(context, option)]
    if "--server" in written and len(written) > 1:
        raise GitcfgError(f"Cannot combine --server with {written[1]}.", "A server knows its own database.")
    if written == ["--state"] and url:  # a database is allowed beside the folder with the server's key
        message = "--state and GITCFG_DATABASE name two databases."
        raise GitcfgError(message, "Use --database, or set GITCFG_DATABASE to nothing.")
    first = next(iter(written or given), None)
    if first == "--server":
        return StateQuery(server=server, token=token)
    return StateQuery(url=url) if first == "--database" else StateQuery(folder=folder)


def _is_on_command_line(context: typer.Context, option: str) -> bool:
    """Return whether an option is on the command line, not only in the environment."""
    for param in context.command.params:
        if option in param.opts:
            source = context.get_parameter_source(param.name or "")
            return source is not None and source.name == "COMMANDLINE"
    return False


def served_repository(session: Session) -> Repository:
    """Open the repository of the server: bare, or with a work tree."""
    found = Repository.served(session.repo)
    if found.git is not None and not found.git.is_bare:
        with suppress(GitcfgError):
            return Repository.open(session.repo)
    return found


def make_state_folder(session: Session, folder: str | None) -> Path:
    """Return the folder of key and database, created if missing; only its owner has access."""
    if folder is not None:
        found = Path(folder)
    else:
        shared = Repository.served(session.repo).shared
        assert shared is not None
        found = shared / STATE_FOLDER
    try:
        found.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        hint = "The server's user must own it. Use --state DIR for another place."
        raise GitcfgError(f"Cannot create the folder {found}: {error.strerror}.", hint) from None
    return found


def load_own_key(folder: Path) -> "ServerKey":
    """Load the server's own key, or create it. Raise GitcfgError if that fails."""
    from gitcfg.server.signatures import load_server_key

    file = folder / "server.key"
    try:
        return load_server_key(file)
    except OSError as error:
        hint = "The server's user must own it and its folder. Use --state DIR for another place."
        raise GitcfgError(f"Cannot use the server's key {file}: {error.strerror}.", hint) from None


def connect_state(session: Session, url: str | None, folder: str | None) -> "closing[State]":
    """Open the database, or create it. Raise GitcfgError if that fails, or its reader is not installed."""
    try:
        from gitcfg.state.state import connect
    except ImportError:
        raise NOT_INSTALLED from None
    return closing(
        connect(url or f"sqlite:///{(make_state_folder(session, folder) / 'state.db').absolute()}")
    )


def no_state() -> GitcfgError:
    """Return the error that no place is given, and the default one is empty."""
    hint = "Use --server URL to ask a server, or --database URL or --state DIR."
    return GitcfgError("There is no state of a server here.", hint)


def find_database(repository: "Repository", query: StateQuery) -> str | None:
    """Return the address of the database; None if it is not given and not beside the repository."""
    if query.url:
        return query.url
    if query.folder:
        return f"sqlite:///{(Path(query.folder) / 'state.db').absolute()}"
    if repository.shared is None:
        return None
    place = repository.shared / STATE_FOLDER / "state.db"
    return f"sqlite:///{place.absolute()}" if place.is_file() else None


def open_state(repository: "Repository", query: StateQuery) -> "closing[State]":
    """Open the database. Raise GitcfgError if it does not exist, or cannot be opened."""
    url = find_database(repository, query)
    if url is None:
        raise no_state()
    return open_database(url)


def open_database(url: str) -> "closing[State]":
    """Open an existing database. Raise GitcfgError if it does not exist, or its reader is not installed."""
    try:
        from gitcfg.state.state import open_existing
    except ImportError:
        raise NOT_INSTALLED from None
    return closing(open_existing(url))


class Unreachable(GitcfgError):
    """The server does not answer now, and may answer later."""


def ask_server(
    server: str, token: str | None, path: str, method: str = "GET", body: bytes | None = None
) -> dict[str, Any]:
    """Return a server's answer. Raise GitcfgError if it refuses, Unreachable if it does not answer."""
    wrong = GitcfgError(f"{shown(server)} is not the URL of a server.", "Use the form https://HOST[:PORT].")
    if not server.startswith(("http://", "https://")):
        raise wrong
    try:
        request = urllib.request.Request(server.rstrip("/") + path, method=method)
        _ = urllib.parse.urlsplit(server).port
    except ValueError:
        raise wrong from None
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    if body is not None:
        request.data = body
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:
            found = json.load(response)
    except urllib.error.HTTPError as error:
        raise _refusal(server, token, method, error) from None
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(server, error) from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise GitcfgError(f"{server} answers, but it is not a gitcfg server.", "Check the address.")
    return found


def _unreachable(server: str, error: Exception) -> GitcfgError:
    """Return the error with the reason why there is no answer, and what to do."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        message = f"The certificate of {server} is not trusted: {reason.verify_message}."
        return GitcfgError(message, "Set SSL_CERT_FILE to a file with the certificates to trust.")
    if isinstance(reason, ssl.SSLError):
        hint = "If the server does not use TLS, use http://."
        return GitcfgError(f"Cannot connect to {server} over TLS: {reason.reason}.", hint)
    if getattr(reason, "errno", None) == errno.ECONNREFUSED:
        return Unreachable(
            f"{server} does not answer: connection refused.", "Check that `gitcfg serve` is running."
        )
    why = getattr(reason, "strerror", None) or reason or type(reason).__name__
    hint = "Check the address. If the server uses TLS, use https://."
    return Unreachable(f"{server} does not answer: {why}.", hint)


def _refusal(server: str, token: str | None, method: str, error: urllib.error.HTTPError) -> GitcfgError:
    """Return the error for a status: Unreachable if the server itself fails."""
    try:
        problem = json.load(error)
        message = str(problem.get("detail") or problem.get("title"))
    except (OSError, ValueError, AttributeError):
        message = f"{server} answers {error.code}."
    if error.code == 401:
        hint = "Run `gitcfg serve token create NAME` on the server to create one."
        if not token:
            return GitcfgError(
                f"{server} requires a token, and there is none.", "Set it in GITCFG_TOKEN.", hint
            )
        return GitcfgError(f"{server} rejected the token: it is unknown.", hint)
    if error.code >= 500:
        return Unreachable(f"{server} cannot answer now: {shown(message, 300)}")
    hint = ""
    if error.code == 404:
        message = f"{server} does not have this, or the token does not allow it."
        hint = "" if method == "GET" else _MAY
    return GitcfgError(shown(message, 300), hint, code=REFUSED if error.code == 409 else 2)


def load_node_states(repository: "Repository", query: StateQuery, facts: bool = False) -> "list[NodeState]":
    """Return the reports of all nodes. Raise GitcfgError if there is no server, or it does not answer."""
    found = find_node_states(repository, query, facts)
    if found is None:
        raise no_state()
    return found


def find_node_states(
    repository: "Repository", query: StateQuery, facts: bool = False
) -> "list[NodeState] | None":
    """Return the reports of all nodes; None if no server is given and none has its state here."""
    if query.server is None:
        url = find_database(repository, query)
        if url is None:
            return None
        with open_database(url) as state:
            return state.checkins.nodes()
    from gitcfg.inventory.records import parse_node_states

    record = ask_server(query.server, query.token, "/v1/nodes?facts=1" if facts else "/v1/nodes")
    try:
        return parse_node_states(record)
    except ValueError as error:
        message = f"Cannot read the list of nodes from {query.server}: {error}."
        raise GitcfgError(message, "Its version may differ from this gitcfg.") from None


def note_on_tip(repository: "Repository | None", query: StateQuery) -> str:
    """Return a note on a branch's tip that no server has accepted; "" if it is accepted, or unknown."""
    if query.server is not None:
        record = ask_server(query.server, query.token, "/v1/commits")
    else:
        url = find_database(repository, query) if repository is not None else None
        if repository is None or url is None:
            return ""
        with open_database(url) as state:
            record = _tip_to_json(repository, state)
    tip, accepted = record["tip"], record["accepted"]
    if tip is None or accepted is None or tip == accepted:
        return ""
    where = f"{safe(str(record['ref']).removeprefix('refs/heads/'))} is at {safe(tip[:ABBREVIATED])}"
    counts = f"the accepted commit is {safe(accepted[:ABBREVIATED])}"
    if not record["errors"]:
        return f"note: {where}, which no server has accepted yet; {counts}."
    wrong = counted(record["errors"], "error")
    return f"note: {where}, which has {wrong}; {counts}. {safe(record['message'])}"


def _tip_to_json(repository: "Repository", state: "State") -> dict[str, Any]:
    """Return `gitcfg.commits/1` with the last accepted commit of a server, and the errors of the tip."""
    from gitcfg.server.fleets import find_tip

    newest = state.releases.newest(1)
    tip = find_tip(repository)
    events = state.events.after(max(0, state.events.newest() - _EVENTS), _EVENTS)
    wrong = [event.data for event in events if event.kind == "invalid" and event.data["tip"] == tip.commit]
    last = wrong[-1] if wrong else {}
    return {
        "ref": tip.ref,
        "tip": tip.commit,
        "accepted": newest[0].commit if newest else None,
        "errors": last.get("errors", 0),
        "message": last.get("message", ""),
    }
