"""A daemon that has run for long is as large as one that has just begun."""

import re
import signal
from pathlib import Path

import pytest

from tests.agent.site import Site, awaited, drained

ROUNDS, WARM = 1000, 200
PATIENCE = 60.0
"""Seconds for a round: a question that hangs is given up after 30, and a hangup counts only then."""
MOST = 1 << 20
"""Bytes that it may grow by: of what leaks in each round even a kilobyte shows."""


def resident(number: int) -> int:
    """Bytes of a process that are its own."""
    said = Path(f"/proc/{number}/smaps_rollup").read_text()
    return 1024 * sum(int(size) for size in re.findall(r"^Private_\w+: +(\d+) kB", said, re.MULTILINE))


@pytest.mark.slow
@pytest.mark.parametrize("away", [False, True])
def test_a_thousand_rounds_take_no_memory(site: Site, away: bool) -> None:
    """Each hangup ends a long-poll, and begins a check-in. Without a server, each begins a miss."""
    site.configure('interval = "1h"\nwait = "1h"\ntimeout = "30s"')
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    site.book.away = (lambda path: True) if away else (lambda path: False)
    site.book.requests.clear()
    daemon = site.start()
    awaited(lambda: site.book.requests)
    sizes = []
    for number in range(ROUNDS):
        before = len(site.book.requests)
        daemon.send_signal(signal.SIGHUP)
        awaited(lambda before=before: len(site.book.requests) > before, PATIENCE)  # type: ignore[misc]
        if number in (WARM, ROUNDS - 1):
            sizes.append(resident(daemon.pid))
        site.book.checkins.clear()
        site.book.nonces.clear()
    daemon.send_signal(signal.SIGTERM)
    said = drained(daemon)
    assert daemon.returncode == 0, said
    assert sizes[1] - sizes[0] < MOST
    assert len(said.splitlines()) < 20, said


@pytest.mark.slow
def test_a_hundred_installations_take_no_memory(site: Site) -> None:
    site.configure('interval = "1h"\nwait = "1h"\nreach = "0s"')
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    daemon, sizes = site.start(), []
    for number in range(100):
        text = "bad\n" if number % 10 == 9 else f"{number}\n"
        made = site.package(text, "a")._replace(commit=f"{number:040x}", digest=f"{number:064x}")
        site.book.offer(made, reload=["app"])
        awaited(lambda commit=made.commit: site.book.heard(commit))  # type: ignore[misc]
        if number in (20, 99):
            sizes.append(resident(daemon.pid))
    daemon.send_signal(signal.SIGTERM)
    drained(daemon)
    assert sizes[1] - sizes[0] < MOST
