"""A server asked over HTTP, with a token."""

import errno
import http.client
import json
import ssl
import urllib.error
import urllib.parse
import urllib.request
from typing import Annotated, Any

import typer

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown

_SECONDS = 30
_MAY = "`gitcfg serve token create NAME --role operate` makes one that may."

Server = Annotated[
    str | None,
    typer.Option(
        "--server",
        envvar="GITCFG_SERVER",
        help="Ask this server, with the token that GITCFG_TOKEN says; else the database.",
        metavar="URL",
        show_default=False,
    ),
]
Token = Annotated[
    str | None,
    typer.Option(
        "--token",
        envvar="GITCFG_TOKEN",
        help="The token for --server; better in the environment: others see arguments.",
        metavar="TEXT",
        show_default=False,
    ),
]


class Unreachable(GitcfgError):
    """The server gives no answer, or none for now: it may give one later."""


def ask(
    server: str, token: str | None, path: str, method: str = "GET", body: bytes | None = None
) -> dict[str, Any]:
    """A server's answer. GitcfgError: it refuses. Unreachable: it gives none."""
    request = _request(server, token, path, method)
    if body is not None:
        request.data = body
        request.add_header("Content-Type", "application/json")
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:
            found = json.load(response)
    except urllib.error.HTTPError as error:
        raise _refused(server, token, method, error) from None
    except (OSError, http.client.HTTPException) as error:
        raise _unreachable(server, error) from None
    except ValueError:
        found = None
    if not isinstance(found, dict):
        raise GitcfgError(f"{server} answers, but not as a server of gitcfg.", "Is the address right?")
    return found


def _request(server: str, token: str | None, path: str, method: str) -> urllib.request.Request:
    wrong = GitcfgError(f"{shown(server)} is no server.", "Write https://HOST[:PORT].")
    if not server.startswith(("http://", "https://")):
        raise wrong
    try:
        request = urllib.request.Request(server.rstrip("/") + path, method=method)
        _ = urllib.parse.urlsplit(server).port
    except ValueError:
        raise wrong from None
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    return request


def _unreachable(server: str, error: Exception) -> GitcfgError:
    """Nobody answers there: why, and what to do about it."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, ssl.SSLCertVerificationError):
        message = f"{server} has a certificate that is not trusted here: {reason.verify_message}."
        return GitcfgError(message, "SSL_CERT_FILE=ca.pem names a file of those that are to be trusted.")
    if isinstance(reason, ssl.SSLError):
        hint = "It may speak no TLS: then write http://."
        return GitcfgError(f"{server} does not speak TLS as it should: {reason.reason}.", hint)
    if getattr(reason, "errno", None) == errno.ECONNREFUSED:
        return Unreachable(f"{server} does not answer: nobody listens there.", "Is `gitcfg serve` running?")
    said = getattr(reason, "strerror", None) or reason or type(reason).__name__
    hint = "Is the address right? Where the server speaks TLS, write https://."
    return Unreachable(f"{server} does not answer: {said}.", hint)


def _refused(server: str, token: str | None, method: str, error: urllib.error.HTTPError) -> GitcfgError:
    try:
        said = json.load(error)
        message = str(said.get("detail") or said.get("title"))
    except (OSError, ValueError, AttributeError):
        message = f"{server} answers {error.code}."
    if error.code == 401:
        return _unknown(server, token)
    if error.code >= 500:
        return Unreachable(f"{server} cannot answer now: {shown(message, 300)}")
    hint = ""
    if error.code == 404:
        message = f"{server} has no such thing, or the token may not do that."
        hint = "" if method == "GET" else _MAY
    return GitcfgError(shown(message, 300), hint, code=REFUSED if error.code == 409 else 2)


def _unknown(server: str, token: str | None) -> GitcfgError:
    hint = "`gitcfg serve token create NAME` makes one where the server runs."
    if not token:
        return GitcfgError(f"{server} wants a token, and none is given.", "GITCFG_TOKEN says it.", hint)
    return GitcfgError(f"{server} does not know the token.", hint)
