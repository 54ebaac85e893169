"""Killed at any step of an installation: the next start of the agent clears up, whatever else keeps it."""

import fcntl
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial

import pytest

from gitcfg.agent.main import main
from gitcfg.install.package import Actions, Package
from tests.agent.site import CONFIG, Site, awaited, drained
from tests.install.world import World, killed_at, package, secret_file

OLD, NEW = "password = canary-of-old\n", "password = canary-of-new\n"
BROKEN = "delay = soon"


@contextmanager
def agent(site: Site) -> Iterator[int]:
    """An agent in a process of its own, killed at the end; made by fork, for a start costs 0.3 s."""
    child = os.fork()
    if child == 0:
        code = 1
        with suppress(BaseException):
            os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            code = main(["run", "--root", str(site.world.root)])
        os._exit(code)
    try:
        yield child
    finally:
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def pair(site: Site) -> tuple[Package, Package]:
    """One in force, and one that shall be; both have a secret."""
    old = package({CONFIG: secret_file(CONFIG, OLD), "/etc/app/gone": "gone\n"}, site.app())
    new = package({CONFIG: secret_file(CONFIG, NEW, 2), "/etc/app/new": "new\n"}, site.app(), commit="b")
    assert site.world.install(old, restart=("app",)).result == "ok"
    return old, new


def under_way(world: World) -> bool:
    return any(world.state(name).exists() for name in ("staged", "backup", "journal", "next.json"))


def is_whole(site: Site, package: Package) -> bool:
    """All files are of one package, and the daemon has them."""
    folder = site.world.root / "etc/app"
    found = {f"/etc/app/{path.name}": path.read_bytes() for path in folder.iterdir()}
    meant = {path: file.true_content for path, file in package.files.items()}
    return found == meant and site.world.runs_with("app") == found[CONFIG].decode()


def killed(site: Site, number: int, new: Package) -> int:
    """Installed by a process that is gone after a change of the disk; 0 where it came through."""
    return killed_at(number, "after", partial(site.world.install_asked, new, Actions(reload=("app",))))


@pytest.mark.parametrize(
    "more", ['delay = "60s"', BROKEN, 'delay = "60s"\nca = "/nowhere"'], ids=["delay", "broken", "ca"]
)
def test_a_start_clears_up_without_a_server(site: Site, more: str) -> None:
    """With a pause before its first round, and also where its settings keep it from any."""
    old, new = pair(site)
    site.configure(more, server="http://127.0.0.1:9")
    died = 0
    for number in range(3, 500, 9):
        code = killed(site, number, new)
        with agent(site):
            awaited(lambda: not under_way(site.world))
        assert is_whole(site, old) or is_whole(site, new)
        if is_whole(site, new):
            site.world.install(old, reload=("app",))
        if code == 0:
            break
        died += 1
    assert died > 5


def test_a_half_born_command_does_not_keep_the_next_start_away(site: Site) -> None:
    """One that was killed between fork and exec of a command leaves its locks to that for a moment."""
    site.offer("one\n", "a")
    site.accept()
    with site.world.state("agent.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        started = site.start("run", "--once")
        with pytest.raises(subprocess.TimeoutExpired):
            started.wait(0.7)
    assert "Another agent" not in drained(started)
    assert started.returncode == 0
