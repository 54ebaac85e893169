"""Records that are half there, of another version, or hostile; and the lock."""

import json
import os
from pathlib import Path

import pytest

from gitcfg.install.disk import Disk
from gitcfg.install.installation import install
from gitcfg.install.outcome import InstallError, PackageError
from gitcfg.install.package import Actions, parse_package
from gitcfg.install.record import read_installed, read_last_report
from gitcfg.install.store import hold_lock, open_store
from tests.install.world import POLICY, World, filled, made_file, mounted, package

CONFIG = "/etc/app/app.conf"


def test_every_beginning_of_a_record_is_refused(world: World) -> None:
    """No beginning of it says less than the whole: none is taken for the package in force."""
    assert world.install(package({CONFIG: "x"})).result == "ok"
    record = world.state("installed.json")
    raw = record.read_bytes()
    for size in range(len(raw)):
        record.write_bytes(raw[:size])
        with pytest.raises(InstallError, match=r"installed\.json"):
            read_installed(world.place())
    record.write_bytes(raw)
    assert read_installed(world.place()) == package({CONFIG: "x"})


def test_every_beginning_of_a_report_is_none(world: World) -> None:
    outcome = world.install(package({CONFIG: "x"}))
    report = world.state("report.json")
    raw = report.read_bytes()
    for size in range(len(raw)):
        report.write_bytes(raw[:size])
        assert read_last_report(world.place()) is None
    report.write_bytes(raw)
    assert read_last_report(world.place()) == outcome


@pytest.mark.parametrize("said", [{}, {"result": "ok", "of": "a later version"}, [], 1])
def test_a_report_of_another_version_is_none(world: World, said: object) -> None:
    assert world.install(package({CONFIG: "x"})).result == "ok"
    world.state("report.json").write_text(json.dumps(said))
    assert read_last_report(world.place()) is None


@pytest.mark.parametrize("size", [0, 1, 100])
def test_a_half_written_next_record_is_nobodys(world: World, size: int) -> None:
    """It is what a death leaves; its name is taken by the next one."""
    assert world.install(package({CONFIG: "x"})).result == "ok"
    for name in ("next.json", "next.json.new", "installed.json.new", "report.json.new"):
        world.state(name).write_bytes(b"x" * size)
    new = package({CONFIG: "y"}, commit="b")
    assert world.install(new).result == "ok"
    assert read_installed(world.place()) == new
    assert world.install(package({CONFIG: "z"}, commit="c")).result == "ok"


class Refusing(Disk):
    """Takes half of what is written."""

    def write(self, file: int, content: bytes) -> None:
        super().write(file, content[: len(content) // 2])
        raise OSError(28, "No space left on device")


def test_a_record_that_found_no_room_takes_none(world: World) -> None:
    with open_store(world.place(Refusing())) as store, pytest.raises(OSError, match="No space"):
        store.write_json("installed.json", {"much": "x" * 1000})
    assert list(world.state(".").iterdir()) == []


def raw_package(**more: object) -> bytes:
    said = {"schema": "gitcfg.node/1", "node": "n", "commit": "a" * 40, "digest": "a" * 64, "state": "active"}
    return json.dumps({**said, "files": {}, "subsystems": {}, **more}).encode()


def test_a_path_that_lies_deep_is_refused() -> None:
    """Thousands of folders could be made and not be removed again: removing goes down into each."""
    path = "/etc" + "/a" * 1000 + "/b"
    file = made_file(path, "x")
    said = {"content": "x", "mode": "0644", "owner": "root", "group": "root", "digest": file.digest}
    with pytest.raises(PackageError, match="more than 100 folders"):
        parse_package(raw_package(files={path: said}))


def test_the_deepest_path_comes_and_goes(world: World) -> None:
    path = "/etc" + "/a" * 98 + "/b"
    app = world.daemon("app", path)
    assert world.install(package({path: "x"}, app), restart=("app",)).result == "ok"
    assert world.install(package({}, commit="b"), stop=("app",)).result == "ok"
    assert not (world.root / "etc").exists()


def test_parameters_that_nest_deeply_are_refused() -> None:
    """Some that can just be read could not be written into the record: deeper in the program less is left."""
    deep: object = 1
    for _ in range(300):
        deep = [deep]
    with pytest.raises(PackageError, match="is nested too deeply"):
        parse_package(raw_package(params={"A": deep}))
    assert parse_package(raw_package(params={"A": [[{"b": [1]}]]})).params == {"A": [[{"b": [1]}]]}


def test_a_lock_on_a_full_disk(world: World) -> None:
    with mounted(world.root, "size=1m"):
        assert world.install(package({CONFIG: "x"})).result == "ok"
        world.state("lock").write_bytes(b"")
        filled(world.root)
        with open_store(world.place()) as store, hold_lock(store, world.place()):
            assert world.state("lock").read_bytes() == b""


def test_who_waited_for_a_lock_that_was_replaced_looks_again(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    place, real, taken = world.place(lock_wait=0.2), fcntl.flock, []

    def flock(file: int, operation: int) -> None:
        real(file, operation)
        taken.append(os.fstat(file).st_ino)
        if len(taken) == 1:
            world.state("lock").unlink()

    monkeypatch.setattr(fcntl, "flock", flock)
    with open_store(place) as store, hold_lock(store, place):
        assert len(taken) == 2
        assert world.state("lock").stat().st_ino == taken[-1]


@pytest.mark.parametrize("what", ["link", "folder"])
def test_a_lock_that_is_something_else_is_refused(world: World, what: str, tmp_path: Path) -> None:
    assert world.install(package({CONFIG: "x"})).result == "ok"
    world.state("lock").unlink()
    canary = tmp_path / "canary"
    canary.write_text("canary")
    if what == "link":
        world.state("lock").symlink_to(canary)
    else:
        world.state("lock").mkdir()
    outcome = install(world.place(), package({CONFIG: "y"}, commit="b"), Actions(), POLICY)
    assert (outcome.result, world.read(CONFIG), canary.read_text()) == ("refused", "x", "canary")


def test_a_state_folder_that_others_can_write_is_named_whole(world: World) -> None:
    """With the root: there may be another one at the path below it."""
    assert world.install(package({CONFIG: "x"})).result == "ok"
    world.state(".").chmod(0o777)
    with pytest.raises(InstallError) as raised:
        read_installed(world.place())
    assert f"{world.root}/var/lib/gitcfg is writable by other users" in raised.value.message
