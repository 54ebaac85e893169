"""Real file systems that are full, read-only, without names left, or another one than the state folder's."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from gitcfg.install.drift import find_drift, recover
from gitcfg.install.package import Actions
from gitcfg.install.record import read_installed, read_last_report
from tests.install.world import (
    KILLED,
    Dying,
    World,
    filled,
    killed_at,
    mounted,
    package,
    read_only,
    standing,
)

CONFIG = "/etc/app/app.conf"


@pytest.fixture
def disks() -> Iterator[ExitStack]:
    """Ends what is mounted before the world is removed."""
    with ExitStack() as stack:
        yield stack


def test_a_full_disk_is_seen_before_anything_is_written(world: World, disks: ExitStack) -> None:
    disks.enter_context(mounted(world.root, "size=1m"))
    assert world.install(package({CONFIG: "one"})).result == "ok"
    outcome = world.install(package({CONFIG: "x" * 600_000}, commit="b"))
    assert outcome.result == "refused"
    assert "KiB left but needs" in outcome.output
    assert world.read(CONFIG) == "one"


def test_a_disk_without_names_left_is_seen_before_anything_is_written(world: World, disks: ExitStack) -> None:
    disks.enter_context(mounted(world.root, "nr_inodes=200"))
    assert world.install(package({CONFIG: "one"})).result == "ok"
    outcome = world.install(package({f"/etc/app/{number}": "x" for number in range(90)}, commit="b"))
    assert outcome.result == "refused"
    assert "more files" in outcome.output
    assert world.read(CONFIG) == "one"


def test_a_read_only_file_system_is_said(world: World, disks: ExitStack) -> None:
    disks.enter_context(mounted(world.root, "size=1m"))
    assert world.install(package({CONFIG: "one"})).result == "ok"
    with read_only(world.root):
        outcome = world.install(package({CONFIG: "two"}, commit="b"))
    assert outcome.result == "refused"
    assert "Read-only file system" in outcome.output
    assert world.read(CONFIG) == "one"
    record = read_installed(world.place())
    assert record is not None
    assert record.commit == "a" * 40


def test_files_on_a_read_only_file_system(world: World, disks: ExitStack) -> None:
    """The state folder can be written: nothing was changed, and the report says why."""
    disks.enter_context(mounted(world.root / "etc", "size=1m"))
    app = world.daemon("app", CONFIG)
    assert world.install(package({CONFIG: "one\n", "/etc/b": "b"}, app), restart=("app",)).result == "ok"
    world.log("app")
    before = standing(world.root)
    with read_only(world.root / "etc"):
        outcome = world.install(package({CONFIG: "two\n", "/etc/c/d": "d"}, app, commit="b"), reload=("app",))
        assert (outcome.result, outcome.step) == ("reverted", "write files")
        assert "Read-only file system" in outcome.output
        assert read_last_report(world.place()) == outcome
        assert standing(world.root) == before
        assert (world.log("app"), world.runs_with("app")) == ([], "one\n")
        assert not world.state("journal").exists()
    assert world.install(package({CONFIG: "two\n"}, app, commit="b"), reload=("app",)).result == "ok"


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("where", ["", "etc", "var/lib/gitcfg"])
def test_going_back_needs_no_room(world: World, disks: ExitStack, where: str, names: bool) -> None:
    """It dies at any change, and then somebody takes all that is left of the disk."""
    disks.enter_context(mounted(world.root / where, "size=1m,nr_inodes=400"))
    app = world.daemon("app", CONFIG)
    old, new = package({CONFIG: "one\n", "/etc/b": "b"}, app), package({CONFIG: "two\n"}, app, commit="b")
    assert world.install(old, restart=("app",)).result == "ok"
    told = set()
    for number in range(0, 400, 5):
        code = killed_at(
            number, "after", lambda disk: world.install_asked(new, Actions(reload=("app",)), disk)
        )
        empty = filled(world.root / where, names)
        outcome = recover(world.place())
        told.add(outcome and outcome.result)
        text = world.read(CONFIG)
        assert text == world.runs_with("app")
        assert (world.root / "etc/b").exists() == (text == "one\n")
        assert not world.state("journal").exists()
        empty()
        assert read_installed(world.place()) == (old if text == "one\n" else new)
        assert find_drift(world.place()) == ()
        if text == "two\n":
            assert world.install(old, reload=("app",)).result == "ok"
        if code == 0:
            assert told == {None, "reverted", "ok"}
            return
        assert code == KILLED
    raise AssertionError("it always died")


@pytest.mark.parametrize("names", [False, True])
@pytest.mark.parametrize("where", ["var/lib/gitcfg", "etc"])
def test_somebody_takes_all_room_while_it_installs(
    world: World, disks: ExitStack, where: str, names: bool
) -> None:
    disks.enter_context(mounted(world.root / where, "size=1m,nr_inodes=400"))
    app = world.daemon("app", CONFIG)
    empties = []
    taking = world.root / where
    old, new = package({CONFIG: "one\n"}, app), package({CONFIG: "two\n", "/etc/x/y": "y"}, app, commit="b")
    assert world.install(old, restart=("app",)).result == "ok"
    before = standing(world.root)
    results = set()
    for number in range(0, 400, 7):
        disk = Dying(number, "before", lambda: empties.append(filled(taking, names)))
        outcome = world.install_asked(new, Actions(reload=("app",)), disk)
        results.add(outcome.result)
        while empties:
            empties.pop()()
        if "Cannot clean up" in outcome.output:
            recover(world.place())
        if outcome.result == "ok":
            assert world.read(CONFIG) == world.runs_with("app") == "two\n"
            assert world.install(old, reload=("app",)).result == "ok"
        assert standing(world.root) == before
        assert world.runs_with("app") == "one\n"
        assert read_installed(world.place()) in (old, new)
        assert not world.state("journal").exists()
        if disk.count <= number:
            assert results == {"reverted", "ok"}
            return
    raise AssertionError("it never came through")


def test_files_on_another_file_system_than_the_state(world: World, disks: ExitStack) -> None:
    """Backups are copies then; dying is as safe."""
    folder = world.root / "etc"
    disks.enter_context(mounted(folder, "size=4m"))
    app = world.daemon("app", CONFIG)
    old, new = package({CONFIG: "one\n"}, app), package({CONFIG: "two\n"}, app, commit="b")
    assert world.install(old, restart=("app",)).result == "ok"
    (folder / "app/link").symlink_to("nowhere")
    before = standing(world.root)
    bad = package({CONFIG: "bad\n", "/etc/app/link": "file"}, app, commit="c")
    assert world.install(bad, reload=("app",)).result == "reverted"
    assert standing(world.root) == before
    for number in range(20, 80, 3):
        code = killed_at(
            number, "after", lambda disk: world.install_asked(new, Actions(reload=("app",)), disk)
        )
        recover(world.place())
        assert code in (0, KILLED)
        record = read_installed(world.place())
        assert record is not None
        assert world.read(CONFIG) == record.files[CONFIG].content.decode() == world.runs_with("app")
        if record == new:
            assert world.install(old, reload=("app",)).result == "ok"
