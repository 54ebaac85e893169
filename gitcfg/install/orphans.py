"""Processes that outlived the installation that had started them."""

from __future__ import annotations

import os
import signal
from contextlib import suppress


def start_of(pid: int) -> int:
    """When a process started (kernel's ticks): tells it from a later one of that number. 0: it is gone."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read().rpartition(b")")[2].split()[19])
    except (OSError, ValueError, IndexError):
        return 0


def end_orphan(process: tuple[int, int] | None) -> None:
    """Kill what an installation that was killed had been running, if it still runs."""
    if process is None or process[1] == 0 or start_of(process[0]) != process[1]:
        return
    with suppress(ProcessLookupError):
        os.killpg(process[0], signal.SIGKILL)
