"""What failed is tried again when the server says so, and not without end."""

import signal
import time

from tests.agent.site import Site, awaited, drained


def failed(site: Site) -> None:
    """A node whose commit b was taken back; the next try by itself is hours away."""
    site.configure('interval = "1h"')
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    site.offer("bad\n", "b")
    assert site.once().returncode == 3
    site.world.log("app")


def test_one_round_tries_again_at_once(site: Site) -> None:
    failed(site)
    assert site.once().returncode == 3
    assert site.world.log("app") == []
    site.book.again = True
    assert site.once().returncode == 3
    assert site.world.log("app")
    assert site.book.results == [("a", "ok"), ("b", "reverted"), ("b", "reverted")]


def test_a_daemon_tries_again_at_once(site: Site) -> None:
    failed(site)
    site.book.again = True
    daemon = site.start()
    awaited(lambda: site.book.results.count(("b", "reverted")) == 2)
    asked = len(site.book.requests)
    awaited(lambda: len(site.book.requests) > asked)
    daemon.send_signal(signal.SIGTERM)
    drained(daemon)
    assert site.book.results.count(("b", "reverted")) == 2


def test_again_for_ever_is_one_try_an_interval(site: Site) -> None:
    failed(site)
    site.configure('interval = "2s"\nwait = "0s"')
    site.book.again = True
    before, begun = site.book.results.count(("b", "reverted")), time.monotonic()
    daemon = site.start()
    awaited(lambda: site.book.results.count(("b", "reverted")) >= before + 3)
    took = time.monotonic() - begun
    daemon.send_signal(signal.SIGTERM)
    drained(daemon)
    assert took > 2 * 2.0 * 0.8
