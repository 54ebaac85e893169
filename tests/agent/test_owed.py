"""A node that could not go back: its agent pays as soon as its server wants what is in force."""

import json
import signal

from gitcfg.install.installation import repair
from tests.agent.site import CONFIG, Site, awaited, drained
from tests.install.world import POLICY


def left_behind(site: Site, more: str = 'interval = "1h"') -> None:
    """The files are of commit a, the daemon runs with b's, and the server names a again."""
    site.configure(more)
    first = site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    site.world.stuck("app", "one")
    site.offer("sick\n", "b")
    assert site.once().returncode == 3
    assert (site.world.read(CONFIG), site.world.runs_with("app")) == ("one\n", "sick\n")
    site.book.offer(first)
    site.world.log("app")


def told(site: Site) -> list[str]:
    """What `status` says is owed."""
    owed: list[str] = json.loads(site.agent("status", "-o", "json").stdout)["owed"]
    return owed


def test_it_is_paid_though_the_digest_is_the_same(site: Site) -> None:
    left_behind(site)
    assert told(site) == ["restart app"]
    assert "pending   restart app\n" in site.agent("status").stdout
    site.world.stuck("app")
    done = site.once()
    assert done.returncode == 0
    assert "restart app is pending" in done.stderr
    assert (site.world.runs_with("app"), site.world.log("app"), told(site)) == ("one\n", ["restart"], [])
    assert site.book.results == [("a", "ok"), ("b", "failed"), ("a", "ok")]
    assert site.once().returncode == 0
    assert site.world.log("app") == []


def test_what_fails_again_is_left_alone_for_a_while(site: Site) -> None:
    left_behind(site)
    assert site.once().returncode == 3
    assert site.world.log("app") == ["restart"]
    assert site.once().returncode == 3
    assert site.world.log("app") == []
    assert site.book.results == [("a", "ok"), ("b", "failed"), ("a", "failed")]
    site.book.again = True
    site.world.stuck("app")
    assert site.once().returncode == 0
    assert site.world.runs_with("app") == "one\n"


def test_a_daemon_pays_when_it_can(site: Site) -> None:
    left_behind(site, 'interval = "1s"')
    daemon = site.start()
    awaited(lambda: ("a", "failed") in site.book.results)
    site.world.stuck("app")
    awaited(lambda: site.world.runs_with("app") == "one\n" and site.book.results[-1] == ("a", "ok"))
    daemon.send_signal(signal.SIGTERM)
    drained(daemon)
    assert told(site) == []


def test_a_damaged_note_has_everything_installed_anew(site: Site) -> None:
    left_behind(site)
    site.book.asked = {key: {"restart": ["app"]} for key in site.book.asked}
    site.world.state("owed.json").write_text("{")
    site.world.stuck("app")
    done = site.once()
    assert "owed.json.damaged-" in done.stderr
    assert (done.returncode, site.world.runs_with("app")) == (0, "one\n")


def test_what_somebody_else_has_paid_is_told(site: Site) -> None:
    """Else a server would wait for ever for a node that is well again."""
    left_behind(site)
    assert site.once().returncode == 3
    site.world.stuck("app")
    assert repair(site.world.place(), POLICY).restarted == ("app",)
    assert site.once().returncode == 0
    assert site.once().returncode == 0
    assert site.book.results == [("a", "ok"), ("b", "failed"), ("a", "failed"), ("a", "unchanged")]
    assert site.world.log("app") == ["restart", "restart"]
