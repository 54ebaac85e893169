"""A loss of power at any change: afterwards the old package or the new one, whole, as it was told."""

import random
import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from gitcfg.install.drift import recover
from gitcfg.install.installation import install
from gitcfg.install.outcome import Outcome
from gitcfg.install.package import Actions, Check, Package, Subsystem
from gitcfg.install.record import read_debts, read_installed, read_last_report
from gitcfg.install.store import Place
from tests.install.power import Apart, Disks, PowerLoss, left
from tests.install.world import POLICY, QuickClock, World, made_file, package, secret_file, standing
from tests.seeds import TIMES

Work = Callable[[Disks], object]
WAYS = 4 * TIMES
"""How many of the states are looked at that may be left after each change."""

GOOD, BAD = Subsystem("app", reload=("/bin/true",)), Subsystem("app", reload=("/bin/false",))
FILES = {
    "/etc/app/a": "old a",
    "/etc/app/b": "old b",
    "/etc/app/gone/deep": "gone",
    "/etc/mode": made_file("/etc/mode", "x", "0600"),
    "/etc/secret": secret_file("/etc/secret", "old secret"),
}
OLD = package(FILES, GOOD)
NEW_FILES = {
    "/etc/app/a": "new a",
    "/etc/app/new/deep": "new",
    "/srv/x": "x",
    "/etc/mode": made_file("/etc/mode", "x", "0640"),
    "/etc/secret": secret_file("/etc/secret", "new secret", 2),
}


def place(disk: Disks) -> Place:
    return Place(str(disk.root), disk=disk, clock=QuickClock())


def whole(root: Path) -> str:
    """Which package's files stand, all of them and nothing else."""
    found = {path: what[1::3] for path, what in standing(root).items() if what[0] == "file"}
    for one in (OLD, package(NEW_FILES, commit="b")):
        if found == {path: (file.bits, file.true_content) for path, file in one.files.items()}:
            return one.commit[0]
    return "nothing" if not found else f"a mixture: {found}"


def lost(start: Path, root: Path, end: int, work: Work, kind: type[Disks]) -> tuple[Disks, object]:
    """Work on a copy of a tree until the power is lost; what the work came to, None if it was lost before."""
    shutil.copytree(start, root, symlinks=True)
    disk, result = kind(root, end), None
    with suppress(PowerLoss):
        result = work(disk)
    return disk, result


def mend(disk: Disks) -> object:
    return recover(place(disk))


def settled(root: Path, result: object) -> None:
    recover(Place(str(root), clock=QuickClock()))
    record = read_installed(Place(str(root)))
    assert whole(root) == (record.commit[0] if record else "nothing")
    assert not (root / "var/lib/gitcfg/journal").exists()
    assert not list(root.rglob(".gitcfg-*"))
    if isinstance(result, Outcome):
        assert (result.result == "ok") == (whole(root) == "b")


@pytest.fixture
def started(world: World) -> Path:
    """A node on which the old package is in force."""
    assert world.install(OLD).result == "ok"
    return world.root


def owed_or_reverted(root: Path) -> bool:
    """Whether something is owed, as it must be where the last outcome was that going back failed."""
    here = Place(str(root))
    told = read_last_report(here)
    owes = bool(read_debts(here))
    assert (told is not None and told.result == "failed") == owes
    return owes


def test_power_lost_where_going_back_fails(world: World) -> None:
    """Whatever is left then: what took the new files, and not the old ones again, is owed."""
    ran = world.daemons / "ran"
    old = Subsystem("app", reload=("/bin/false",))
    takes = ("/bin/sh", "-c", f"echo x > {ran}")
    new = Subsystem("app", reload=takes, check=Check(("/bin/false",), 20.0, 0))
    assert world.install(package(FILES, old)).result == "ok"
    chance, owed, folder = random.Random(0), 0, world.root.parent
    for end in range(10_000):
        ran.unlink(missing_ok=True)

        def work(disk: Disks) -> Outcome:
            return install(place(disk), package(NEW_FILES, new, commit="b"), Actions(reload=("app",)), POLICY)

        disk, result = lost(world.root, folder / "run", end, work, Disks)
        for _ in range(WAYS):
            left(disk, chance, folder / "left")
            settled(folder / "left", result)
            owes = owed_or_reverted(folder / "left")
            assert owes or not ran.exists()
            owed += owes
            shutil.rmtree(folder / "left")
        shutil.rmtree(folder / "run")
        if result is not None:
            break
    assert owed > 10 * WAYS


def every(start: Path, new: Package, twice: bool = False, kind: type[Disks] = Disks) -> int:
    """Lose power at each change, and again in the recovery; how many states were looked at."""
    chance, looked, folder = random.Random(0), 0, start.parent
    for end in range(10_000):
        root = folder / "run"

        def work(disk: Disks) -> Outcome:
            return install(place(disk), new, Actions(reload=("app",)), POLICY)

        disk, result = lost(start, root, end, work, kind)
        for _ in range(WAYS):
            left(disk, chance, folder / "left")
            if twice:
                again = chance.randint(0, 60)
                second, _ = lost(folder / "left", folder / "again", again, mend, kind)
                shutil.rmtree(folder / "left")
                left(second, chance, folder / "left")
                shutil.rmtree(folder / "again")
            settled(folder / "left", result)
            shutil.rmtree(folder / "left")
            looked += 1
        shutil.rmtree(root)
        if result is not None:
            return looked
    raise AssertionError("it never came through")


@pytest.mark.parametrize("app", [GOOD, BAD])
def test_power_lost_at_every_change(started: Path, app: Subsystem) -> None:
    assert every(started, package(NEW_FILES, app, commit="b")) > 60 * WAYS


@pytest.mark.parametrize("app", [GOOD, BAD])
def test_power_lost_with_the_state_folder_elsewhere(started: Path, app: Subsystem) -> None:
    new = package(NEW_FILES, app, commit="b")
    assert every(started, new, kind=Apart) > 60 * WAYS


def test_power_lost_in_a_first_installation(world: World) -> None:
    assert every(world.root, package(NEW_FILES, GOOD, commit="b")) > 60 * WAYS


@pytest.mark.slow
@pytest.mark.parametrize("app", [GOOD, BAD])
def test_power_lost_in_the_recovery_too(started: Path, app: Subsystem) -> None:
    assert every(started, package(NEW_FILES, app, commit="b"), twice=True) > 60 * WAYS
