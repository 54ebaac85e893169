"""A server asked over HTTP, with a token."""

import json
import urllib.error
import urllib.request
from typing import Annotated, Any

import typer

from gitcfg.model import REFUSED, GitcfgError
from gitcfg.model.names import shown

_SECONDS = 30

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


def ask(server: str, token: str | None, path: str, method: str = "GET") -> dict[str, Any]:
    """A server's answer. GitcfgError: it gives none, or refuses."""
    if not server.startswith(("http://", "https://")):
        raise GitcfgError(f"{shown(server)} is no server.", "Write https://HOST[:PORT].")
    request = urllib.request.Request(server.rstrip("/") + path, method=method)
    if token:
        request.add_header("Authorization", f"Bearer {token}")
    try:
        with urllib.request.urlopen(request, timeout=_SECONDS) as response:
            found: dict[str, Any] = json.load(response)
            return found
    except urllib.error.HTTPError as error:
        raise _refused(server, error) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", error)
        raise GitcfgError(f"{server} does not answer: {reason}.") from None


def _refused(server: str, error: urllib.error.HTTPError) -> GitcfgError:
    try:
        said = json.load(error)
        message = str(said.get("detail") or said.get("title"))
    except (OSError, ValueError, AttributeError):
        message = f"{server} answers {error.code}."
    if error.code == 401:
        return GitcfgError(f"{server} does not know the token.", "`gitcfg serve token create` makes one.")
    hint = "The token may be one that may only look." if error.code == 404 else ""
    return GitcfgError(shown(message, 300), hint, code=REFUSED if error.code == 409 else 2)
