"""Links, folders and devices in the way, disks that are full or read-only, and two at once."""

import json
import os
import resource
import subprocess
import threading
from pathlib import Path

import pytest

from gitcfg.install.disk import Disk
from gitcfg.install.drift import find_drift, recover
from gitcfg.install.installation import install
from gitcfg.install.outcome import Busy, PackageError
from gitcfg.install.package import Actions, Subsystem, parse_package
from gitcfg.install.store import hold_lock, open_store
from tests.install.world import POLICY, World, in_child, package, standing

CONFIG = "/etc/app/app.conf"


def canary(world: World) -> Path:
    """A folder outside of the root that must never be touched."""
    outside = world.root.parent / "outside"
    outside.mkdir()
    (outside / "app.conf").write_text("canary")
    (outside / "passwd").write_text("canary")
    return outside


def untouched(outside: Path) -> bool:
    files = sorted(path.name for path in outside.iterdir())
    return files == ["app.conf", "passwd"] and all(path.read_text() == "canary" for path in outside.iterdir())


@pytest.mark.parametrize("link", ["etc", "etc/app"])
def test_a_folder_that_is_a_link_is_refused(world: World, link: str) -> None:
    outside = canary(world)
    (world.root / link).parent.mkdir(exist_ok=True)
    (world.root / link).symlink_to(outside)
    outcome = world.install(package({CONFIG: "x"}))
    assert outcome.result == "refused"
    assert f"/{link} is a link to {outside}" in outcome.output
    assert untouched(outside)


def test_a_link_at_the_target_is_replaced_and_never_followed(world: World) -> None:
    outside = canary(world)
    target = world.write(CONFIG, "x")
    target.unlink()
    target.symlink_to(outside / "passwd")
    outcome = world.install(package({CONFIG: "one"}))
    assert (outcome.result, outcome.changed) == ("ok", (CONFIG,))
    assert target.read_text() == "one"
    assert not target.is_symlink()
    target.unlink()
    target.symlink_to(outside / "passwd")
    assert [(one.kind, one.path) for one in find_drift(world.place())] == [("link", CONFIG)]
    outcome = world.install(package({}, commit="b"))
    assert (outcome.result, outcome.removed) == ("ok", (CONFIG,))
    assert untouched(outside)


def test_a_link_comes_back_when_the_installation_fails(world: World) -> None:
    outside = canary(world)
    target = world.write(CONFIG, "x")
    target.unlink()
    target.symlink_to(outside / "passwd")
    outcome = world.install(package({CONFIG: "one"}, Subsystem("a", reload=("/bin/false",))), reload=("a",))
    assert outcome.result == "reverted"
    assert os.readlink(target) == str(outside / "passwd")
    assert untouched(outside)


class Swapping(Disk):
    """Puts a link in the place of a folder in the middle of an installation."""

    def __init__(self, folder: Path, outside: Path) -> None:
        self.place, self.outside, self.done = folder, outside, False

    def rename(self, at: int, name: str, to: int, new: str) -> None:
        super().rename(at, name, to, new)
        if name.startswith(".gitcfg-") and not self.done:
            self.done = True
            self.place.rename(self.place.with_name("away"))
            self.place.symlink_to(self.outside)


def test_a_folder_that_becomes_a_link_meanwhile_is_not_followed(world: World) -> None:
    outside = canary(world)
    assert world.install(package({CONFIG: "one", "/etc/app/passwd": "two"})).result == "ok"
    disk = Swapping(world.root / "etc/app", outside)
    outcome = world.install(package({CONFIG: "1", "/etc/app/passwd": "2"}, commit="b"), disk=disk)
    assert disk.done
    assert outcome.result == "failed"
    assert "is a link" in outcome.output
    assert untouched(outside)
    (world.root / "etc/app").unlink()
    (world.root / "etc/away").rename(world.root / "etc/app")
    back = recover(world.place())
    assert back is not None
    assert back.result == "reverted"
    assert (world.read(CONFIG), world.read("/etc/app/passwd")) == ("one", "two")


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_a_folder_or_a_pipe_at_the_target_is_refused(world: World, kind: str) -> None:
    (world.root / "etc/app").mkdir(parents=True)
    target = world.root / CONFIG[1:]
    target.mkdir() if kind == "folder" else os.mkfifo(target)
    before = standing(world.root) if kind == "folder" else {}
    outcome = world.install(package({CONFIG: "x", "/etc/other": "y"}))
    assert outcome.result == "refused"
    assert CONFIG in outcome.output
    assert not (world.root / "etc/other").exists()
    assert kind == "pipe" or standing(world.root) == before


def test_a_file_where_a_folder_should_be_is_refused(world: World) -> None:
    world.write("/etc/app", "a file")
    outcome = world.install(package({CONFIG: "x"}))
    assert outcome.result == "refused"
    assert "/etc/app is not a folder" in outcome.output
    assert world.read("/etc/app") == "a file"


def test_a_state_folder_that_others_can_write_is_refused(world: World) -> None:
    assert world.install(package({CONFIG: "x"})).result == "ok"
    world.state(".").chmod(0o777)
    outcome = world.install(package({CONFIG: "y"}, commit="b"))
    assert outcome.result == "refused"
    assert "is writable by other users" in outcome.output


def test_a_file_that_is_open_or_running_is_replaced(world: World) -> None:
    program = world.write("/srv/program", "")
    program.write_bytes(Path("/bin/sleep").read_bytes())
    program.chmod(0o755)
    with subprocess.Popen([program, "10"]) as running:
        assert world.install(package({"/srv/program": "text"})).result == "ok"
        running.kill()
    assert world.read("/srv/program") == "text"


def test_a_file_system_that_ends_in_the_middle(world: World) -> None:
    """RLIMIT_FSIZE: a file that may not grow; the write fails as on a full disk."""
    assert world.install(package({CONFIG: "one"})).result == "ok"

    def work() -> None:
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
        outcome = world.install(package({CONFIG: "two", "/etc/app/large": "x" * 200_000}, commit="b"))
        assert outcome.result == "reverted", outcome

    assert in_child(work) == 0
    assert world.read(CONFIG) == "one"
    assert not (world.root / "etc/app/large").exists()


def test_two_at_once_the_second_says_who_is_first(world: World) -> None:
    place = world.place(lock_wait=0.0)
    with open_store(place) as store, hold_lock(store, place):
        outcome = install(place, package({CONFIG: "x"}), Actions(), POLICY)
        assert outcome.result == "refused"
        assert f"test, process {os.getpid()}" in outcome.output
        with pytest.raises(Busy):
            recover(place)


def test_the_second_can_wait(world: World) -> None:
    slow = Subsystem("slow", reload=("/bin/sh", "-c", "sleep 0.3"))
    results = []

    def work() -> None:
        outcome = install(world.place(), package({CONFIG: "x"}, slow), Actions(reload=("slow",)), POLICY)
        results.append(outcome.result)

    thread = threading.Thread(target=work)
    thread.start()
    while not world.state("journal").exists():
        pass
    waiting = world.place(lock_wait=20.0)
    outcome = install(waiting, package({CONFIG: "y"}, commit="b"), Actions(), POLICY)
    thread.join()
    assert (results, outcome.result) == (["ok"], "ok")


def test_many_processes_at_once_leave_one_package(world: World) -> None:
    def work(number: int) -> None:
        files = {CONFIG: f"{number}", "/etc/app/second": f"{number}"}
        place = world.place(lock_wait=60.0)
        outcome = install(place, package(files, commit="abcdef"[number]), Actions(), POLICY)
        assert outcome.result == "ok"

    children = []
    for number in range(6):
        child = os.fork()
        if child == 0:
            os._exit(in_child(lambda number=number: work(number)))  # type: ignore[misc]
        children.append(child)
    assert [os.waitpid(child, 0)[1] for child in children] == [0] * 6
    assert world.read(CONFIG) == world.read("/etc/app/second")


GOOD = {"schema": "gitcfg.node/1", "node": "n", "commit": "a" * 40, "digest": "a" * 64, "state": "active"}


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"schema": "gitcfg.node/2"}, "schema"),
        ({"commit": "main"}, "commit"),
        ({"files": []}, "files"),
        ({"files": {"relative": {}}}, "absolute"),
        ({"files": {"/etc/../root/x": {}}}, "absolute"),
        ({"files": {"/etc//x": {}}}, "absolute"),
        ({"files": {"/etc/x/": {}}}, "absolute"),
        ({"files": {"/etc/a\nb": {}}}, "control"),
        ({"files": {"/etc/a\0b": {}}}, "control"),
        ({"files": {"/etc/\ud800": {}}}, "UTF-8"),
        ({"files": {"/etc/.gitcfg-x": {}}}, "reserved for gitcfg"),
        ({"files": {"/etc/x": {"content": "", "mode": "4755", "owner": "root", "group": "root"}}}, "mode"),
        ({"files": {"/etc/x": {"content": "", "base64": ""}}}, "one of content"),
        ({"files": {"/etc/x": {"base64": "%%"}}}, "Cannot decode the content of"),
        ({"files": {"/etc/x": {"content": 1}}}, "not text"),
        ({"files": {"/etc/x": {"contents": ""}}}, "unknown key"),
        ({"subsystems": {"a": {"restrat": []}}}, "unknown key"),
        ({"subsystems": {"a": {"restart": "rm -rf /"}}}, "list"),
        ({"subsystems": {"a": {"restart": []}}}, "no program"),
        ({"subsystems": {"a": {"restart": ["a\0b"]}}}, "NUL"),
        ({"subsystems": {"a": {"check": {"run": ["x"], "timeout": -1}}}}, "timeout"),
        ({"subsystems": {"a": {"check": {"run": ["x"], "retries": 1e9}}}}, "retries"),
        ({"subsystems": {"a": {"using": "both"}}}, "using"),
        ({"subsystems": {"a\nb": {}}}, "control"),
    ],
)
def test_a_package_is_read_strictly(change: dict[str, object], word: str) -> None:
    whole = {**GOOD, "files": {}, "subsystems": {}, "unknown at the top": 1}
    assert parse_package(json.dumps(whole).encode()).node == "n"
    with pytest.raises(PackageError, match=word):
        parse_package(json.dumps({**whole, **change}).encode())


@pytest.mark.parametrize("raw", [b"", b"[1", b"\xff", b'{"a": 1, "a": 2}', b'{"a": NaN}', b"[" * 100_000])
def test_what_is_not_json_is_refused(raw: bytes) -> None:
    with pytest.raises(PackageError):
        parse_package(raw)


@pytest.mark.parametrize(
    "raw", [b"", b"{", b'{"schema": "other"}', b'{"schema": "gitcfg.installed/1", "package": {}}']
)
def test_a_record_that_cannot_be_read_is_refused(world: World, raw: bytes) -> None:
    assert world.install(package({CONFIG: "x"})).result == "ok"
    world.state("installed.json").write_bytes(raw)
    outcome = world.install(package({CONFIG: "y"}, commit="b"))
    assert outcome.result == "refused"
    assert "installed.json" in outcome.output
    assert world.read(CONFIG) == "x"
