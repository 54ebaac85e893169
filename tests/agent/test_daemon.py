"""The daemon: follows, is told to end, and lives through servers that are away or behind."""

import signal
from dataclasses import replace

from tests.agent.server import serving
from tests.agent.site import Site, awaited, drained, ready


def test_a_daemon_follows_and_ends_when_it_is_told(site: Site) -> None:
    ready(site)
    daemon = site.start()
    awaited(lambda: any("config" in one for one in site.book.requests))
    site.offer("two\n", "b")
    awaited(lambda: ("b", "ok") in site.book.results)
    site.offer("bad\n", "c")
    awaited(lambda: ("c", "reverted") in site.book.results)
    site.offer("three\n", "d")
    awaited(lambda: ("d", "ok") in site.book.results)
    daemon.send_signal(signal.SIGTERM)
    said = drained(daemon)
    assert daemon.returncode == 0, said
    assert "reverted at `reload app`" in said
    assert site.world.runs_with("app") == "three\n"


def test_a_hangup_ends_the_waiting(site: Site) -> None:
    site.configure('interval = "1h"\nwait = "1h"')
    ready(site)
    daemon = site.start()
    awaited(lambda: any("config" in one for one in site.book.requests))
    before = len(site.book.checkins)
    daemon.send_signal(signal.SIGHUP)
    awaited(lambda: len(site.book.checkins) > before)
    daemon.send_signal(signal.SIGTERM)
    drained(daemon)
    assert daemon.returncode == 0


def test_a_daemon_lives_through_a_server_that_is_away(site: Site) -> None:
    ready(site)
    site.book.away = lambda path: True
    daemon = site.start()
    awaited(lambda: len(site.book.requests) > 2)
    site.offer("two\n", "b")
    site.book.away = lambda path: False
    awaited(lambda: ("b", "ok") in site.book.results)
    daemon.send_signal(signal.SIGTERM)
    drained(daemon)
    assert daemon.returncode == 0


def test_each_outage_and_its_end_are_told(site: Site) -> None:
    site.configure('interval = "1s"\nwait = "0s"')
    ready(site)
    daemon = site.start()
    for _ in range(2):
        heard = len(site.book.checkins)
        awaited(lambda heard=heard: len(site.book.checkins) > heard)  # type: ignore[misc]
        site.book.requests.clear()
        site.book.away = lambda path: True
        awaited(lambda: len(site.book.requests) > 1)
        site.book.away = lambda path: False
    heard = len(site.book.checkins)
    awaited(lambda: len(site.book.checkins) > heard + 1)
    daemon.send_signal(signal.SIGTERM)
    said = drained(daemon)
    assert said.count("did not answer") == 2, said
    assert said.count("answers correctly again") == 2, said


def test_a_server_that_is_behind_is_left_for_another(site: Site) -> None:
    site.configure('interval = "1s"\nwait = "0s"')
    ready(site)
    behind = replace(site.book, sequence=1, checkins=[], requests=[])
    with serving(behind) as url:
        site.configure(f'server = ["{url}", "{site.url}"]')
        site.offer("two\n", "b")
        daemon = site.start()
        awaited(lambda: ("b", "ok") in site.book.results)
        daemon.send_signal(signal.SIGTERM)
        assert "is older than the last one" in drained(daemon)
    assert behind.requests
