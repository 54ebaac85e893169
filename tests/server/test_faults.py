"""What befalls a server's disk: full, read-only, its files gone or somebody else's; and how it ends."""

import os
import resource
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest

from tests.server.agent import Answer, Node, checkin
from tests.server.site import GITCFG, Server, Site, run, until

POLLS = 100


@contextmanager
def small_disk(place: Path, size: str = "2m") -> Iterator[Path]:
    """A disk of its own, which only root can make."""
    place.mkdir()
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={size}", "none", str(place)], capture_output=True
    )
    if done.returncode:
        pytest.skip("no disk can be mounted here")
    try:
        yield place
    finally:
        subprocess.run(["umount", "-l", str(place)], check=True)


def filled(folder: Path) -> Path:
    """A file that takes all the room there is."""
    file = folder / "ballast"
    with file.open("wb", buffering=0) as opened, suppress(OSError):
        while opened.write(b"\0" * 4096):
            pass
    return file


def kept(database: Path) -> int:
    """How many check-ins are in a database, which must be sound."""
    with closing(sqlite3.connect(database)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        (number,) = connection.execute("SELECT count(*) FROM nonces").fetchone()
        return int(number)


def pour(node: Node, until_status: int) -> tuple[int, Answer]:
    """Check in until the answer is another one: how many were taken, and that answer."""
    for number in range(90):
        answer = node.checkin(facts={"a": os.urandom(15_000).hex()})
        if answer.status == until_status:
            return number, answer
        assert answer.status == 200, answer.body
    raise AssertionError("it never came to that")


def reads_go_on(server: Server, node: Node, token: str) -> None:
    assert node.config().status == 200
    for target in ("/v1/nodes", "/v1/releases", "/metrics", "/v1/diff"):
        assert server.get(target, token).status == 200, target


def test_a_disk_that_is_full_until_there_is_room(site: Site, tmp_path: Path) -> None:
    node = Node("n1", "")
    commit = site.with_nodes({"n1": node})
    with small_disk(tmp_path / "disk") as disk:
        database = disk / "state.db"
        with Server(site, "--database", f"sqlite:///{database}", "--log-level", "warning") as server:
            server.accepted(commit)
            asking, token = server.node("n1", node), server.token()
            assert asking.checkin().status == 200
            ballast = filled(disk)
            taken, answer = pour(asking, 503)
            assert (answer.problem, answer.headers["retry-after"]) == ("unavailable", "5")
            reads_go_on(server, asking, token)
            ready = server.get("/readyz")
            assert (ready.status, ready.json()["failing"]) == (503, True)
            assert "disk is full" in server.log.read_text()
            ballast.unlink()
            until(lambda: server.get("/readyz").status == 200, server.log)
            assert asking.checkin().status == 200
            assert kept(database) == 1 + taken + 1
            assert server.stop() == 0


def unwritable(server: Server, asking: Node, token: str) -> tuple[int, int]:
    """Let a server write to no file any more: it goes on answering. What it might write to until then."""
    limit = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
    resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (0, limit[1]))
    assert asking.checkin().problem == "unavailable"
    reads_go_on(server, asking, token)
    return limit


def test_no_more_can_be_written_to_a_file(site: Site, tmp_path: Path) -> None:
    """The same for who is not root: writes fail from a size on."""
    node = Node("n1", "")
    commit = site.with_nodes({"n1": node})
    database = tmp_path / "state.db"
    with Server(site, "--database", f"sqlite:///{database}", "--log-level", "warning") as server:
        server.accepted(commit)
        asking, token = server.node("n1", node), server.token()
        assert asking.checkin().status == 200
        limit = unwritable(server, asking, token)
        assert server.get("/readyz").status == 503
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limit)
        until(lambda: server.get("/readyz").status == 200, server.log)
        assert asking.checkin().status == 200
        assert kept(database) == 2


def test_a_disk_that_becomes_read_only(site: Site, tmp_path: Path) -> None:
    node = Node("n1", "")
    commit = site.with_nodes({"n1": node})
    with small_disk(tmp_path / "disk") as disk:
        database = disk / "state.db"
        with Server(site, "--database", f"sqlite:///{database}") as server:
            server.accepted(commit)
            asking, token = server.node("n1", node), server.token()
            # Read-only as ext4 makes itself after a fault: whoever has the file open cannot write either.
            unwritable(server, asking, token)
            server.process.kill()
            server.process.wait(10)
        run("mount", "-o", "remount,ro", str(disk), cwd=tmp_path)
        code, said = refused(site, "--database", f"sqlite:///{database}")
        assert (code, "Read-only file system" in said, "hint: " in said) == (2, True, True), said


def test_files_that_are_taken_away_and_put_back(site: Site, tmp_path: Path) -> None:
    node = Node("n1", "")
    commit = site.with_nodes({"n1": node})
    database = tmp_path / "state.db"
    with Server(site, "--database", f"sqlite:///{database}", "--log-level", "warning") as server:
        server.accepted(commit)
        asking, token = server.node("n1", node), server.token()
        assert asking.checkin().status == 200
        moved = tmp_path / "moved.db"
        database.rename(moved)
        assert asking.checkin().problem == "unavailable"
        assert asking.config().status == 200
        until(lambda: server.get("/readyz").status == 503, server.log)
        assert not database.exists()
        moved.rename(database)
        until(lambda: server.get("/readyz").status == 200, server.log)
        assert asking.checkin().status == 200
        assert server.get("/v1/nodes", token).status == 200
        backup = tmp_path / "backup.db"
        with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(backup)) as target:
            source.backup(target)
        os.replace(backup, database)
        until(lambda: asking.checkin().status == 200, server.log)
        until(lambda: server.get("/readyz").status == 200, server.log)
        assert server.stop() == 0
    assert kept(database) == 3


def refused(site: Site, *words: str) -> tuple[int, str]:
    """The exit code of a server that does not start, and what it says."""
    command = [*GITCFG, "-C", str(site.bare), "serve", "--listen", "127.0.0.1:0", *words]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    return done.returncode, done.stderr


def test_what_cannot_be_written_or_read_at_the_start(site: Site, tmp_path: Path) -> None:
    site.with_nodes({})
    with small_disk(tmp_path / "disk") as disk:
        run("mount", "-o", "remount,ro", str(disk), cwd=tmp_path)
        for words, message in (
            (("--state", str(disk / "state")), "the folder"),
            (("--state", str(disk)), "the server's key"),
            (("--database", f"sqlite:///{disk}/state.db"), "the state database"),
        ):
            code, said = refused(site, *words)
            assert (code, said.count(message), said.count("hint: ")) == (2, 1, 1), said
            assert "Read-only file system" in said
    folder = tmp_path / "state"
    (folder / "server.key").mkdir(parents=True)
    code, said = refused(site, "--state", str(folder))
    assert (code, "the server's key" in said, "hint: " in said) == (2, True, True), said


def test_it_ends_at_once_though_many_wait(site: Site) -> None:
    nodes = {f"n{number}": Node(f"n{number}", "") for number in range(10)}
    commit = site.with_nodes(nodes)
    with Server(site) as server:
        server.accepted(commit)
        token = server.token()
        waiting = [server.node(name, node) for name, node in nodes.items()]
        digest = waiting[0].config().json()["digest"]
        answers: list[tuple[int, float]] = []

        def wait(node: Node) -> None:
            answer = node.config(60, digest)
            answers.append((answer.status, time.monotonic()))

        threads = [threading.Thread(target=wait, args=(waiting[each % 10],)) for each in range(POLLS)]
        for thread in threads:
            thread.start()
        until(lambda: f"gitcfg_long_polls {POLLS}" in server.get("/metrics", token).body.decode(), server.log)
        begun = time.monotonic()
        assert server.stop() == 0
        for thread in threads:
            thread.join(30)
    assert [status for status, _ in answers] == [304] * POLLS
    assert max(at for _, at in answers) - begun < 10  # half a second, and others load the machine


def test_what_was_answered_survives_kill_9(site: Site) -> None:
    """Killed in the middle of requests: what was answered 200 is kept, and every nonce counts once."""
    nodes = {f"n{number}": Node(f"n{number}", "") for number in range(8)}
    commit = site.with_nodes(nodes)
    database = site.bare / "gitcfg-server/state.db"
    answered: list[tuple[str, bytes, dict[str, str], int]] = []
    ended = threading.Event()
    with Server(site) as server:
        server.accepted(commit)

        def ask(node: Node) -> None:
            target, body = f"/v1/nodes/{node.name}/checkin", checkin(node.name)
            while not ended.is_set():
                headers = node.signed("POST", target, body)
                try:
                    status = node.send("POST", target, body, headers).status
                except OSError:
                    status = 0
                answered.append((node.name, body, headers, status))
                if status != 200:
                    return

        threads = [threading.Thread(target=ask, args=(server.node(*each),)) for each in nodes.items()]
        for thread in threads:
            thread.start()
        until(lambda: len(answered) > 100, server.log)
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(10)
        ended.set()
        for thread in threads:
            thread.join(30)
    taken = [each for each in answered if each[3] == 200]
    cut = [each for each in answered if each[3] != 200]
    assert len(taken) <= kept(database) <= len(answered)
    with Server(site) as again:
        again.accepted(commit)
        for name, body, headers, status in (*taken[-8:], *cut):
            node = again.node(name, nodes[name])
            answer = node.send("POST", f"/v1/nodes/{name}/checkin", body, headers)
            assert answer.status == 401 or (status != 200 and answer.status == 200)
        assert kept(database) == len({headers["Signature"] for *_, headers, _ in answered})
        assert again.node("n0", nodes["n0"]).checkin().status == 200
        assert again.stop() == 0
