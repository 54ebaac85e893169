"""What failed is tried again when the server says so, and not without end."""

import signal
import time

import pytest

from tests.agent.site import CONFIG, Site, awaited, drained


def failed(site: Site) -> None:
    """A node whose commit b was taken back; the next try by itself is hours away."""
    site.configure('interval = "1h"')
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    site.offer("bad\n", "b")
    assert site.once().returncode == 3
    site.world.log("app")


@pytest.mark.slow
def test_one_round_tries_again_at_once(site: Site) -> None:
    failed(site)
    assert site.once().returncode == 3
    assert site.world.log("app") == []
    site.book.again = True
    assert site.once().returncode == 3
    assert site.world.log("app")
    assert site.book.results == [("a", "ok"), ("b", "reverted"), ("b", "reverted")]


@pytest.mark.slow
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


@pytest.mark.slow
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


@pytest.mark.slow
def test_each_result_is_told_also_where_it_is_the_same(site: Site) -> None:
    failed(site)
    site.configure('interval = "1s"\nwait = "0s"')
    site.book.again = True
    before = site.book.results.count(("b", "reverted"))
    daemon = site.start()
    awaited(lambda: site.book.results.count(("b", "reverted")) >= before + 3)
    daemon.send_signal(signal.SIGTERM)
    said = drained(daemon)
    assert said.count(": reverted at `") >= 3, said
    assert said.count("to be installed") == said.count(": reverted at `")


@pytest.mark.slow
def test_each_mending_is_told(site: Site) -> None:
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    site.configure('drift = "repair"\ninterval = "1s"\nwait = "0s"')
    daemon = site.start()
    for _ in range(3):
        heard = len(site.book.checkins)
        site.world.write(CONFIG, "by hand\n")
        awaited(lambda: site.world.read(CONFIG) == "one\n")
        awaited(lambda heard=heard: len(site.book.checkins) > heard + 1)  # type: ignore[misc]
    daemon.send_signal(signal.SIGTERM)
    said = drained(daemon)
    assert said.count("Repaired files that were changed by hand") == 3, said
