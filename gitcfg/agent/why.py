"""Why a server did not answer, in words, and what may help."""

from __future__ import annotations

import socket

_NO_MATCH, _TIMES, _PLAIN = (62, 64), (9, 10), "WRONG_VERSION_NUMBER"
"""OpenSSL's words for a certificate with another name, one of another time, and an answer without TLS."""


def hints(error: Exception) -> tuple[str, ...]:
    """What may help. By attributes: ssl is imported only by who needs it."""
    code = getattr(error, "verify_code", None)
    if code is None:
        plain = getattr(error, "reason", None) == _PLAIN
        return ("Does the server speak https there?",) if plain else ()
    if code in _NO_MATCH:
        return ("`server` in agent.toml must have a name that the server's certificate is for.",)
    if code in _TIMES:
        return ("Is this node's clock right?",)
    return ('If the site has certificates of its own: ca = "FILE" in agent.toml names those to trust.',)


def why(error: Exception) -> str:
    """The reason, without a full stop."""
    told = getattr(error, "verify_message", "")
    if told:
        return f"certificate verify failed: {told.rstrip('.')}"
    if isinstance(error, (TimeoutError, socket.timeout)):
        return "the time ran out"
    if isinstance(error, OSError) and error.strerror:
        return error.strerror
    return str(error).rstrip(".") or type(error).__name__
