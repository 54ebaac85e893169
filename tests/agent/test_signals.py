"""SIGTERM and SIGINT: a waiting ends at once, an installation comes to its end, and its result is kept."""

import signal
import socket
import subprocess
import threading
from pathlib import Path

import pytest

from gitcfg.agent.process import make_notifier
from gitcfg.install.package import Subsystem
from tests.agent.server import Handler, Reply
from tests.agent.site import CONFIG, ROOT, Site, awaited, drained
from tests.install.world import package

SLOW = 'touch "$0/begun"; while [ ! -e "$0/go" ]; do sleep 0.01; done; [ ! -e "$0/bad" ]'


class Held:
    """A server that answers nothing under a path until it is told to."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.asked = threading.Event()
        self.go = threading.Event()

    def __call__(self, handler: Handler, reply: Reply) -> Reply | None:
        if self.path not in handler.path:
            return reply
        self.asked.set()
        self.go.wait(60)
        handler.close_connection = True
        return None


def runs_one(site: Site) -> None:
    """Whatever is asked may take long."""
    site.configure('timeout = "1h"\nwait = "1h"\ninterval = "1h"\nreach = "0s"')
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize("path", ["/checkin", "/v1/commits/", "/changes"])
@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGINT, 130)])
def test_a_round_that_waits_for_a_server_ends_at_once(
    site: Site, path: str, number: signal.Signals, code: int
) -> None:
    runs_one(site)
    site.offer("two\n", "b")
    site.book.fault = held = Held(path)
    round_ = site.start("run", "--once")
    assert held.asked.wait(20)
    round_.send_signal(number)
    said = drained(round_)
    held.go.set()
    assert (round_.returncode, "during the round" in said) == (code, True), said
    assert site.world.runs_with("app") == "one\n"
    site.book.fault = None
    assert site.once().returncode == 0
    assert site.world.runs_with("app") == "two\n"


def test_a_hangup_begins_the_round_anew(site: Site) -> None:
    runs_one(site)
    site.book.fault = held = Held("/checkin")
    round_ = site.start("run", "--once")
    assert held.asked.wait(20)
    site.book.fault = None
    round_.send_signal(signal.SIGHUP)
    drained(round_)
    held.go.set()
    assert round_.returncode == 0


def test_the_daemon_ends_at_once_in_the_middle_of_a_long_poll(site: Site) -> None:
    runs_one(site)
    daemon = site.start()
    awaited(lambda: any("/config" in one for one in site.book.requests))
    daemon.send_signal(signal.SIGTERM)
    said = drained(daemon)
    assert (daemon.returncode, said.splitlines()[-1]) == (0, "Ended by SIGTERM.")


def slow(site: Site) -> Path:
    """Offer something whose activation waits for a file in this folder."""
    folder = site.world.daemons
    commands = f'commands = [["{site.app().restart[0]}", "**"], ["/bin/sh", "**"]]'
    site.configure(f'{commands}\ntimeout = "5s"\nwait = "5s"\ninterval = "1h"\nreach = "0s"')
    one = Subsystem("slow", restart=("/bin/sh", "-c", SLOW, str(folder)))
    made = package({CONFIG: "two\n"}, site.app(), one, commit="b")
    site.book.offer(made, restart=["slow"], reload=["app"])
    return folder


@pytest.mark.parametrize(("words", "code"), [(("run", "--once"), 0), (("run",), 0)])
@pytest.mark.parametrize("numbers", [(signal.SIGTERM,), (signal.SIGINT, signal.SIGTERM, signal.SIGINT)])
def test_an_installation_comes_to_its_end(
    site: Site, words: tuple[str, ...], code: int, numbers: tuple[signal.Signals, ...]
) -> None:
    runs_one(site)
    folder = slow(site)
    started = site.start(*words)
    awaited((folder / "begun").exists)
    for number in numbers:
        started.send_signal(number)
    with pytest.raises(subprocess.TimeoutExpired):
        started.wait(0.3)
    (folder / "go").touch()
    said = drained(started)
    assert (started.returncode, site.world.runs_with("app")) == (code, "two\n"), said
    assert not site.world.state("journal").exists()
    # What came of it was kept: nobody waits for a server any more.
    assert ("b", "ok") not in site.book.results
    assert site.once().returncode == 0
    assert ("b", "ok") in site.book.results


def test_an_installation_that_fails_after_the_signal_is_taken_back(site: Site) -> None:
    runs_one(site)
    folder = slow(site)
    (folder / "bad").touch()
    started = site.start("run", "--once")
    awaited((folder / "begun").exists)
    started.send_signal(signal.SIGTERM)
    (folder / "go").touch()
    drained(started)
    assert (started.returncode, site.world.runs_with("app")) == (3, "one\n")


@pytest.mark.parametrize("hidden", [False, True], ids=["path", "abstract"])
def test_states_go_to_the_socket_of_systemd(tmp_path: Path, hidden: bool) -> None:
    name = str(tmp_path / "notify")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(f"\0{name}" if hidden else name)
        told.settimeout(5)
        make_notifier(f"@{name}" if hidden else name)("READY=1")
        assert told.recv(100) == b"READY=1"
    make_notifier(name)("READY=1")
    make_notifier("")("READY=1")


def test_the_daemon_tells_systemd_that_it_listens(site: Site, tmp_path: Path) -> None:
    runs_one(site)
    name = tmp_path / "notify"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told:
        told.bind(str(name))
        told.settimeout(20)
        line = [*("env", f"NOTIFY_SOCKET={name}"), *site.line("run")]
        daemon = subprocess.Popen(line, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT)
        site.running.append(daemon)
        assert told.recv(1000) == b"READY=1"
        assert told.recv(1000) == f"STATUS=Follows {site.url} as n1.".encode()
        daemon.send_signal(signal.SIGHUP)
        daemon.send_signal(signal.SIGTERM)
        drained(daemon)
        assert daemon.returncode == 0
