"""Judging a push ends in time, within its memory, and when nobody waits for it any more."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import pytest

from tests.gate.server import CODE, ENVIRONMENT, Server, answer, commit, git
from tests.gate.sshd import PROGRAM, serving

LONG = 30.0
"""Seconds: within that a process has ended, however busy the machine is."""

Files = Mapping[str, str]
START: Files = {"gitcfg.yaml": "format: 1\n"}
# Thousands of instances of a large text keep one busy for a minute.
SLOW: Files = {
    "features/L.yaml": "params: {'Q_${as}': x}\n",
    "groups/default.yaml": f"features: [{{feature: L, as: 'x[1-10000]', with: {{t: {'y' * 900_000}}}}}]\n",
}
LISTED = ", ".join(f"{{feature: L, as: 'x{n}_[1-10000]'}}" for n in range(10))
LARGE: Files = {"features/L.yaml": "{}\n"} | {
    f"groups/g{n}.yaml": f"features: [{LISTED}]\n" for n in range(20)
}


@pytest.fixture
def server(tmp_path: Path) -> Server:
    return Server(tmp_path / "server")


def bombed(server: Server, files: Files) -> Path:
    """A desk with a first commit that the server has, and these files in a second one."""
    desk = server.desk("desk", START)
    assert server.push(desk, "main").taken
    commit(desk, files, "Bomb")
    return desk


def test_what_takes_too_long_is_refused_and_told_where(server: Server) -> None:
    desk = bombed(server, SLOW)
    git(server.folder, "config", "gitcfg.timeLimit", "2s")
    before = time.monotonic()
    push = server.push(desk, "main:topic")
    assert not push.taken
    assert time.monotonic() - before < LONG
    assert "The check took longer than 2s, so the push was rejected. It was " in push.text
    assert "gitcfg.timeLimit" in push.said[-1]
    # What was read by then is kept for the next try, although nothing was accepted.
    assert any((server.folder / "gitcfg").iterdir())
    assert "topic" not in git(server.folder, "for-each-ref")
    assert judged(server.folder, desk).returncode == 5


def judged(folder: Path, desk: Path) -> subprocess.CompletedProcess[str]:
    """The hook as git calls it where what the desk has is pushed."""
    git(folder, "fetch", "--quiet", str(desk), "main")
    tips = git(folder, "rev-parse", "main", "FETCH_HEAD").split()
    return subprocess.run(
        [sys.executable, "-m", "gitcfg", "--no-pager", "hook", "pre-receive"],
        input=f"{tips[0]} {tips[1]} refs/heads/main\n",
        env=ENVIRONMENT | CODE | {"HOME": str(folder)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=2 * LONG,
        check=False,
    )


def test_what_takes_too_much_memory_is_refused(server: Server) -> None:
    desk = bombed(server, LARGE)
    git(server.folder, "config", "gitcfg.memoryLimit", "100m")
    push = server.push(desk, "main")
    assert not push.taken
    assert "took more than 100 MiB of memory, so the push was rejected. It was " in push.text
    assert server.tip() != git(desk, "rev-parse", "HEAD").strip()


@pytest.mark.parametrize("key", ["timeLimit", "memoryLimit"])
@pytest.mark.parametrize("value", ["0", "-1", "soon", ""])
def test_a_limit_that_is_none_accepts_nothing(server: Server, key: str, value: str) -> None:
    desk = server.desk("desk", START)
    git(server.folder, "config", f"gitcfg.{key}", value)
    push = server.push(desk, "main")
    assert not push.taken
    assert f"gitcfg.{key}" in push.text


def family(top: int) -> Iterator[int]:
    """All processes below one."""
    for place in Path(f"/proc/{top}/task").glob("*/children"):
        for child in map(int, place.read_text().split()):
            yield child
            yield from family(child)


def running(process: int) -> bool:
    try:
        return "\nState:\tZ" not in Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


def hooks(top: int) -> set[int]:
    """The processes of the hook below one, once they judge."""
    until = time.monotonic() + LONG
    while time.monotonic() < until:
        with suppress(OSError):
            found = {
                one for one in family(top) if b"pre-receive" in Path(f"/proc/{one}/cmdline").read_bytes()
            }
            if len(found) >= 2:
                return found
        time.sleep(0.05)
    raise AssertionError("nothing judges the push")


def end(processes: set[int]) -> bool:
    until = time.monotonic() + LONG
    while any(map(running, processes)) and time.monotonic() < until:
        time.sleep(0.05)
    return not any(map(running, processes))


def test_nothing_is_judged_on_when_the_client_is_gone(server: Server) -> None:
    desk = bombed(server, SLOW)
    tip = server.tip()
    push = server.start(desk, "main")
    judging = hooks(push.pid)
    push.kill()
    push.wait()
    assert end(judging)
    assert server.tip() == tip


def test_what_judges_ends_with_what_watches_it(server: Server) -> None:
    desk = bombed(server, SLOW)
    push = server.start(desk, "main")
    judging = hooks(push.pid)
    watcher = next(one for one in judging if set(family(one)) & judging)
    os.kill(watcher, signal.SIGKILL)
    assert end(judging)
    _, told = push.communicate(timeout=LONG)
    assert not answer(push.returncode, told).taken


@pytest.mark.skipif(PROGRAM is None, reason="there is no sshd")
def test_nor_where_it_came_over_ssh(server: Server, tmp_path: Path) -> None:
    desk = bombed(server, SLOW)
    tip = server.tip()
    with serving(tmp_path) as (host, command):
        push = subprocess.Popen(
            ["git", "-C", str(desk), "push", "--quiet", f"{host}{server.folder}", "main"],
            env=ENVIRONMENT | {"HOME": str(tmp_path), "GIT_SSH_COMMAND": command},
            stderr=subprocess.PIPE,
        )
        # The hook is a child of sshd's, which is one of ours.
        judging = hooks(os.getpid())
        for process in list(family(push.pid)):
            os.kill(process, signal.SIGKILL)
        push.kill()
        push.wait()
        assert end(judging)
    assert server.tip() == tip
