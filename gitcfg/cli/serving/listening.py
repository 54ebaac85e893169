"""Where a server listens, as it is said on the command line: with what certificate, behind what proxies."""

import socket
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.server.running import ListenOptions

Where = Annotated[
    str, typer.Option("--listen", envvar="GITCFG_LISTEN", help="Where to listen.", metavar="HOST:PORT")
]
Certificate = Annotated[
    str | None,
    typer.Option(
        "--tls-cert",
        envvar="GITCFG_TLS_CERT",
        help="The certificate, with what leads to it (PEM).",
        metavar="FILE",
        show_default=False,
    ),
]
CertificateKey = Annotated[
    str | None,
    typer.Option(
        "--tls-key",
        envvar="GITCFG_TLS_KEY",
        help="The certificate's private key (PEM).",
        metavar="FILE",
        show_default=False,
    ),
]
TrustedProxies = Annotated[
    list[str] | None,
    typer.Option(
        "--trusted-proxy",
        envvar="GITCFG_TRUSTED_PROXY",
        help="A proxy, or a network of them, that is believed whom it asks for; several: say it again.",
        metavar="ADDRESS",
        show_default=False,
    ),
]
MostPending = Annotated[
    int,
    typer.Option(
        "--max-pending",
        envvar="GITCFG_MAX_PENDING",
        help="So many keys are kept of nodes that wait to be accepted.",
        min=1,
        max=1_000_000,
        metavar="N",
    ),
]
MostOfAddress = Annotated[
    int,
    typer.Option(
        "--max-pending-per-address",
        envvar="GITCFG_MAX_PENDING_PER_ADDRESS",
        help="So many of them from one address.",
        min=1,
        max=1_000_000,
        metavar="N",
    ),
]
PendingDays = Annotated[
    float,
    typer.Option(
        "--pending-days",
        envvar="GITCFG_PENDING_DAYS",
        help="So long after it came last.",
        min=0.01,
        max=3650,
        metavar="DAYS",
    ),
]


def free(where: "ListenOptions") -> None:
    """Try whether one can listen there, before anything is made. GitcfgError: one cannot."""
    try:
        found = socket.getaddrinfo(where.host, where.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        with socket.socket(*found[0][:3]) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind(found[0][4])
    except OSError as error:
        hint = "Another program may listen there, or the address is none of this machine."
        raise GitcfgError(f"Cannot listen on {where.host}:{where.port}: {error.strerror}.", hint) from None


def place(text: str, cert: str | None, key: str | None, proxies: Iterable[str]) -> "ListenOptions":
    """Where to listen. GitcfgError: what is said is no place, no network, or half a certificate."""
    from gitcfg.server.proxies import parse_network
    from gitcfg.server.running import ListenOptions

    host, _, port = text.rpartition(":")
    if not host or not port.isdigit() or int(port) > 65535:
        raise GitcfgError(f"{text} is no place to listen on.", "Write HOST:PORT.")
    if (cert is None) != (key is None):
        raise GitcfgError("A certificate and its key go together.", "Say both --tls-cert and --tls-key.")
    tls = (cert, key) if cert is not None and key is not None else None
    return ListenOptions(host.strip("[]"), int(port), tls, tuple(map(parse_network, proxies)))
