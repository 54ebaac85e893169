"""What somebody else writes while an installation is under way, or has died: never lost, never mixed."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from gitcfg.install.disk import LARGEST, Disk
from gitcfg.install.drift import recover
from gitcfg.install.package import Actions, Package, Subsystem
from gitcfg.install.record import read_installed
from tests.install.world import KILLED, World, killed_at, made_file, package

CONFIG = "/etc/app/app.conf"
FORTH = Actions(reload=("app",))


def both(world: World) -> tuple[Package, Package]:
    """The first is in force; the second adds a file."""
    app = world.daemon("app", CONFIG)
    old = package({CONFIG: "one\n"}, app)
    new = package({CONFIG: "two\n", "/etc/new": "new"}, app, commit="b")
    assert world.install(old, restart=("app",)).result == "ok"
    return old, new


def died(world: World, new: Package, when: Callable[[], bool]) -> None:
    """Killed at the first change after which something holds."""
    for number in range(10, 300):
        code = killed_at(number, "after", lambda disk: world.install_asked(new, FORTH, disk))
        assert code == KILLED
        if when():
            return
        recover(world.place())
    raise AssertionError("it never did")


def test_what_was_written_after_a_death_is_kept(world: World) -> None:
    old, new = both(world)
    died(world, new, lambda: world.read(CONFIG) == "two\n")
    world.write(CONFIG, "by hand\n")
    world.write("/etc/new", "by hand too\n")
    outcome = recover(world.place())
    assert outcome is not None
    assert (outcome.result, world.read(CONFIG), read_installed(world.place())) == ("reverted", "one\n", old)
    assert "kept" in outcome.output
    assert [world.read(path) for path in outcome.kept] == ["by hand\n", "by hand too\n"]
    assert not (world.root / "etc/new").exists()


def test_what_was_written_after_a_way_back_that_died_stays(world: World) -> None:
    """The old files had been put back, and their backups are gone: that is no reason to be stuck."""
    both(world)
    app = world.daemon("app", CONFIG)
    bad = package({CONFIG: "bad\n", "/etc/new": "new"}, app, commit="b")
    journal = world.state("journal")
    died(world, bad, lambda: journal.exists() and b'"back"' in journal.read_bytes())
    world.write(CONFIG, "by hand\n")
    world.write("/etc/new", "by hand too\n")
    outcome = recover(world.place())
    assert outcome is not None
    assert (outcome.result, outcome.kept) == ("reverted", ())
    assert (world.read(CONFIG), world.read("/etc/new")) == ("by hand\n", "by hand too\n")


def test_without_the_line_that_says_so_it_stays_too(world: World) -> None:
    """Killed between putting back and the journal's line, or the line found no room."""
    both(world)
    bad = package({CONFIG: "bad\n"}, world.daemon("app", CONFIG), commit="b")
    backup = world.state("backup/0")

    def put_back() -> bool:
        journal = world.state("journal")
        lines = journal.read_bytes() if journal.exists() else b""
        return b'"undo"' in lines and b'"back"' not in lines and not backup.exists()

    died(world, bad, put_back)
    world.write(CONFIG, "by hand\n")
    outcome = recover(world.place())
    assert outcome is not None
    assert (outcome.result, world.read(CONFIG)) == ("reverted", "by hand\n")


def test_a_backup_that_somebody_removed_is_said(world: World) -> None:
    _, new = both(world)
    died(world, new, lambda: world.read(CONFIG) == "two\n")
    world.state("backup/0").unlink()
    outcome = recover(world.place())
    assert outcome is not None
    assert outcome.result == "failed"
    assert f"Not restored: {CONFIG}" in outcome.output
    assert world.state("journal").exists()


class Meddling(Disk):
    """Does something once, right before the first file takes its target's place."""

    def __init__(self, what: Callable[[], object]) -> None:
        self.what, self.done = what, False

    def rename(self, at: int, name: str, to: int, new: str) -> None:
        super().rename(at, name, to, new)
        if name == "next.json.new" and not self.done:
            self.done = True
            self.what()


def test_what_a_command_before_the_swap_writes_is_kept(world: World) -> None:
    _, new = both(world)
    target = world.root / CONFIG[1:]
    write = ("/bin/sh", "-c", f"echo written by a daemon > {target}.tmp && mv {target}.tmp {target}")
    gone = Subsystem("gone", stop=write)
    old = package({CONFIG: "one\n"}, world.daemon("app", CONFIG), gone, commit="c")
    assert world.install(old).result == "unchanged"
    outcome = world.install(new, reload=("app",), stop=("gone",))
    assert (outcome.result, world.runs_with("app")) == ("ok", "two\n")
    assert [world.read(path) for path in outcome.kept] == ["written by a daemon\n"]


@pytest.mark.parametrize("kind", ["folder", "pipe", "device"])
def test_a_target_that_becomes_something_else_in_the_middle(world: World, kind: str) -> None:
    """Seen in the backup: the file was moved away, and the installation ends with what it has found."""
    _, new = both(world)
    target = world.root / CONFIG[1:]

    def become() -> None:
        target.rename(world.root / "away")
        _made(kind, target)

    outcome = world.install(new, disk=Meddling(become), reload=("app",))
    assert outcome.result == "reverted"
    assert any(word in outcome.output for word in ("Another program", "Is a directory"))
    assert not (world.root / "etc/new").exists()
    assert not target.is_file()
    again = world.install(new, reload=("app",))
    assert again.result == "refused"
    assert CONFIG in again.output


def _made(kind: str, target: Path) -> None:
    if kind == "folder":
        target.mkdir()
    elif kind == "pipe":
        os.mkfifo(target)
    else:
        try:
            os.mknod(target, 0o20600, os.makedev(1, 3))
        except PermissionError:
            pytest.skip("devices cannot be made here")


def test_a_target_that_is_a_device_is_refused(world: World) -> None:
    (world.root / "etc/app").mkdir(parents=True)
    target = world.root / CONFIG[1:]
    _made("device", target)
    outcome = world.install(package({CONFIG: "x"}))
    assert outcome.result == "refused"
    assert "A device, pipe or socket" in outcome.output
    assert target.is_char_device()


def test_a_second_name_of_a_file_elsewhere(world: World) -> None:
    """A target that is a hard link: the other name keeps its content, going back brings the link back."""
    other = world.write("/srv/other", "theirs")
    target = world.write(CONFIG, "x")
    target.unlink()
    target.hardlink_to(other)
    bad = Subsystem("bad", reload=("/bin/false",))
    outcome = world.install(package({CONFIG: "one", "/etc/b": "b"}, bad), reload=("bad",))
    assert outcome.result == "reverted"
    assert target.samefile(other)
    outcome = world.install(package({CONFIG: "one"}, commit="b"))
    assert (outcome.result, other.read_text(), target.read_text()) == ("ok", "theirs", "one")
    assert not target.samefile(other)


def test_an_endless_file_at_a_target_is_not_read(world: World) -> None:
    """Whoever may write to a managed file must not hold the node up: this one would take an hour."""
    both(world)
    target = world.root / CONFIG[1:]
    with target.open("r+b") as file:
        file.truncate(min(LARGEST << 10, 1 << 40))
    before = target.stat().st_size
    outcome = world.install(package({CONFIG: "two\n"}, commit="b"))
    assert outcome.result == "refused"
    assert "too large to back up" in outcome.output
    outcome = world.install(package({}, commit="b"))
    assert outcome.result == "refused"
    assert target.stat().st_size == before


def test_no_secret_is_ever_open_to_others(world: World) -> None:
    """What the state folder holds, and each new file beside its target, after every change."""
    old, new = both(world)
    secret = made_file("/etc/hidden/secret", "s", "0600")
    last = package({**new.files, "/etc/hidden/secret": secret}, *new.subsystems.values(), commit="c")
    seen = set()
    for number in range(0, 300, 2):
        code = killed_at(number, "after", lambda disk: world.install_asked(last, FORTH, disk))
        hidden = world.root / "etc/hidden"
        for path in [*world.state(".").iterdir(), *(hidden.iterdir() if hidden.exists() else ())]:
            assert not path.lstat().st_mode & 0o077, path
            seen.add(path.name.partition("-")[0])
        recover(world.place())
        if code == 0:
            assert {"staged", "backup", "next.json", "next.json.new", "journal", ".gitcfg", "secret"} <= seen
            return
        if read_installed(world.place()) == last:
            assert world.install(old, reload=("app",)).result == "ok"
    raise AssertionError("it never came through")
