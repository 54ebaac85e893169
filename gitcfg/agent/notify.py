"""Telling systemd how the agent is: that it listens to signals, and in one line what it does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress


def notifier(address: str) -> Callable[[str], None]:
    """Who sends a state (`READY=1`) to the socket that NOTIFY_SOCKET names; to nobody where that is empty."""

    def send(state: str) -> None:
        import socket

        with suppress(OSError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
            sock.connect(f"\0{address[1:]}" if address.startswith("@") else address)
            sock.send(state.encode())

    return send if address else lambda state: None
