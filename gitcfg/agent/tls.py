"""Which certificates are believed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .problems import Unreachable
from .settings import Settings

if TYPE_CHECKING:
    import ssl


def context_of(settings: Settings) -> ssl.SSLContext | None:
    """The system's certificates, or those that agent.toml names; None where no server has TLS."""
    if not any(server.tls for server in settings.servers):
        return None
    import ssl

    try:
        return ssl.create_default_context(cafile=settings.ca or None)
    except (ssl.SSLError, OSError) as error:
        raise Unreachable(
            f"The certificates in {settings.ca or 'the system'} cannot be read: {error}.",
            "`ca` in agent.toml names a file of certificates in PEM format.",
        ) from error
