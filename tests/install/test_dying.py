"""Dying anywhere: after `recover` everything is of the old package or all of the new, never a mixture."""

import os
import signal
import time
import zlib
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from gitcfg.install.disk import Disk
from gitcfg.install.drift import recover
from gitcfg.install.installation import install, repair
from gitcfg.install.outcome import Outcome
from gitcfg.install.package import Actions, Check, Package, Subsystem
from gitcfg.install.record import read_debts, read_installed, read_last_report
from tests.install.world import (
    KILLED,
    POLICY,
    Dying,
    World,
    killed_at,
    made_file,
    package,
    secret_file,
    standing,
)
from tests.seeds import TIMES, many

CONFIG = "/etc/app/app.conf"
MOST = 2000
"""More changes than any installation here makes."""

WITHIN = ("staged", "backup")
"""Folders of root's alone, there while an installation runs."""

Pair = tuple[Package, Actions, Package, Actions]
Asked = tuple[Package, Actions]


def small(world: World) -> Pair:
    """A change and one back: files written, added and removed, one daemon that reloads."""
    app = world.daemon("app", CONFIG)
    old = package({CONFIG: "one\n", "/etc/app/d/gone": "gone"}, app)
    new = package({CONFIG: "two\n", "/etc/app/new/deep": "deep"}, app, commit="b")
    return old, Actions(reload=("app",)), new, Actions(reload=("app",))


def large(world: World) -> Pair:
    """Two daemons, one of which acts before the swap, one leaves, and what somebody wrote is replaced."""
    app = world.daemon("app", CONFIG, using="old", check=None)
    other = world.daemon("other", "/etc/other.conf")
    files = {f"/etc/app/many/{number}": f"{number}" for number in range(4)}
    old = package({CONFIG: "one\n", "/etc/other.conf": "x\n", **files}, app, other)
    paths = [f"/etc/app/many/{number}" for number in range(2, 6)]
    changed = {path: made_file(path, f"new {path}", "0600") for path in paths}
    new = package({CONFIG: "two\n", "/etc/app/0": "0", **changed}, app, commit="b")
    return old, Actions(restart=("app", "other")), new, Actions(reload=("app",), stop=("other",))


def failing(world: World) -> Pair:
    """The new package is not taken, so that every point is on the way forth or back."""
    old, back, new, forth = small(world)
    app = world.daemon("app", CONFIG)
    return old, back, package({**new.files, CONFIG: made_file(CONFIG, "sick\n")}, app, commit="b"), forth


OLD_SECRET, NEW_SECRET = "password = canary-of-old\n", "password = canary-of-new\n"


def secret(world: World) -> Pair:
    """A secret of which a new version comes, and one that leaves."""
    app = world.daemon("app", CONFIG)
    left = secret_file("/etc/app/left", "a canary that leaves\n")
    old = package({CONFIG: secret_file(CONFIG, OLD_SECRET), left.path: left, "/etc/app/d/gone": "gone"}, app)
    changed = secret_file(CONFIG, NEW_SECRET, 2)
    new = package({CONFIG: changed, "/etc/app/new/deep": "deep"}, app, commit="b")
    return old, Actions(reload=("app",)), new, Actions(reload=("app",))


def begin(world: World, pair: Pair) -> None:
    """What the first package has not run before acts after the swap, whatever `using` says."""
    outcome = install(world.place(), pair[0], Actions(restart=tuple(pair[0].subsystems)), POLICY)
    assert (outcome.result, outcome.output) == ("ok", "")


def canaries(world: World) -> list[Path]:
    """The files of the state folder that hold a secret."""
    files = [path for path in world.state(".").rglob("*") if path.is_file()]
    return [path for path in files if b"canary" in path.read_bytes()]


def settled(world: World, old: Package, new: Package) -> Package:
    """The one package that the node is of, in files, record and daemons."""
    assert not world.state("journal").exists()
    record = read_installed(world.place())
    assert record in (old, new)
    assert record is not None
    whole = new if record == new else old
    expected = {path: ("file", file.bits, 0, 0, file.true_content) for path, file in whole.files.items()}
    assert not canaries(world)
    found = {path: what for path, what in standing(world.root).items() if what[0] != "folder"}
    assert found == expected
    for name, config in (("app", CONFIG), ("other", "/etc/other.conf")):
        if name not in world.names:
            continue
        text = (whole.files[config].true_content or b"").decode() if name in record.subsystems else None
        if record.subsystems.get(name) is None or record.subsystems[name].using == "new":
            owes = [one.name for one in read_debts(world.place())]
            assert world.runs_with(name) == text or name in owes
    return record


def sweep(world: World, pair: Pair, when: str, points: range) -> int:
    """Die at each of some points, one way and the other in turn; how many times it died."""
    old, back, new, forth = pair
    here: Asked = (old, back)
    there: Asked = (new, forth)
    deaths = 0
    for number in points:
        code = killed_at(number, when, partial(world.install_asked, *there))
        if code == 0:
            break
        assert code == KILLED
        deaths += 1
        assert not [
            path for path in canaries(world) if path.relative_to(world.state(".")).parts[0] not in WITHIN
        ]
        outcome = recover(world.place())
        stands = settled(world, here[0], there[0])
        if outcome is not None:
            assert outcome.result == ("ok" if stands == there[0] else "reverted")
            assert outcome == read_last_report(world.place())
        if stands == here[0]:
            again = install(world.place(), *there, POLICY)
            if again.result == "reverted":
                assert settled(world, here[0], there[0]) == here[0]
                continue
            assert again.result == "ok", again
        assert settled(world, here[0], there[0]) == there[0]
        here, there = there, here
    return deaths


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("pair", [small, failing, secret])
def test_dying_at_any_change(world: World, pair: Callable[[World], Pair], when: str) -> None:
    plan = pair(world)
    begin(world, plan)
    assert sweep(world, plan, when, range(len(when) % 4, MOST, 4)) > 20


@pytest.mark.slow
@pytest.mark.parametrize("start", range(min(TIMES, 3)))
@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("pair", [small, failing, large, secret])
def test_dying_at_every_change_both_ways(
    world: World, pair: Callable[[World], Pair], when: str, start: int
) -> None:
    """The ways alternate; a step of 3 from 0, 1 and 2 dies at every change, half of them each way."""
    plan = pair(world)
    begin(world, plan)
    assert sweep(world, plan, when, range(start, MOST, 3)) > 25


def dies_twice(world: World, pair: Pair, first: range, second: range) -> int:
    old, _, new, forth = pair
    deaths = 0
    for number in first:
        code = killed_at(number, "after", lambda disk: world.install_asked(new, forth, disk))
        for again in second:
            if code == 0:
                break
            code = killed_at(again, "before", lambda disk: recover(world.place(disk)))
            deaths += 1
        recover(world.place())
        stands = settled(world, old, new)
        if stands == new:
            outcome = install(world.place(), old, Actions(reload=("app",)), POLICY)
            assert outcome.result == "ok"
    return deaths


@pytest.mark.parametrize("pair", [small, secret])
def test_dying_in_recovery_again_and_again(world: World, pair: Callable[[World], Pair]) -> None:
    plan = pair(world)
    begin(world, plan)
    assert dies_twice(world, plan, range(30, 90, 9), range(0, 60, 3)) > 40


@pytest.mark.slow
def test_dying_in_recovery_everywhere(world: World) -> None:
    plan = small(world)
    begin(world, plan)
    step = max(1, 5 - TIMES)
    assert dies_twice(world, plan, range(0, 110, step), range(0, 80, step)) > 1000 / step**2


@pytest.mark.slow
def test_killed_from_outside_at_any_time(world: World) -> None:
    """kill -9 at many moments, most of them while a command runs."""
    old, back, new, forth = large(world)
    begin(world, (old, back, new, forth))
    here, there = (old, back), (new, forth)
    reverted = 0
    for moment in many(0, 75):
        child = os.fork()
        if child == 0:
            os._exit(0 if world.install_asked(*there).result == "ok" else 1)
        time.sleep((moment % 75) / 1000)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        outcome = recover(world.place())
        reverted += outcome is not None and outcome.result == "reverted"
        if settled(world, here[0], there[0]) == there[0]:
            here, there = there, here
    assert reverted > len(many(0, 75)) // 10


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_cannot_be_taken_back_is_owed_wherever_it_dies(world: World, when: str) -> None:
    """What runs is what stands, or it is noted; and the next installation pays, with no file changed."""
    app = world.daemon("app", CONFIG)
    old, new = package({CONFIG: "one\n"}, app), package({CONFIG: "sick\n"}, app, commit="b")
    begin(world, (old, Actions(), new, Actions()))
    owed = deaths = 0
    for number in range(len(when) % 5, MOST, 5):
        world.stuck("app", "one")
        code = killed_at(number, when, partial(world.install_asked, new, Actions(("app",))))
        outcome = recover(world.place()) or read_last_report(world.place())
        assert outcome is not None
        assert settled(world, old, new) == old
        noted = read_debts(world.place())
        assert world.runs_with("app") == "one\n" or noted
        assert (outcome.result == "failed") == bool(noted)
        world.stuck("app")
        world.log("app")
        again = killed_at(number % 37, when, partial(world.install_asked, old, Actions()))
        recover(world.place())
        paid = install(world.place(), old, Actions(), POLICY)
        assert paid.result in (("ok", "unchanged") if noted else ("unchanged",))
        assert (world.runs_with("app"), read_debts(world.place())) == ("one\n", ())
        assert len(world.log("app")) <= (1 if again == 0 else 2) * bool(noted)
        owed, deaths = owed + bool(noted), deaths + (code == KILLED)
        if code == 0:
            break
    assert owed > 5
    assert deaths > 15


def test_each_step_is_begun_once_whenever_it_dies(world: World) -> None:
    old, _, new, forth = small(world)
    begin(world, (old, forth, new, forth))
    for number in range(0, MOST, 4):
        world.log("app")
        code = killed_at(number, "after", lambda disk: world.install_asked(new, forth, disk))
        outcome = recover(world.place())
        if outcome is None or outcome.result == "ok":
            assert world.log("app") in ([], ["reload"])
        else:
            # Once forth, if it came so far, and once back for what was begun.
            assert world.log("app") in ([], ["reload"], ["reload", "reload"])
            assert outcome.reloaded in ((), ("app",))
        install(world.place(), old, Actions(reload=("app",)), POLICY)
        if code == 0:
            return
    raise AssertionError("it always died")


def test_dying_while_a_command_runs(world: World) -> None:
    mark = world.daemons / "mark"
    app = world.daemon("app", CONFIG)
    begin(world, (package({CONFIG: "one\n"}, app), Actions(), package({}), Actions()))
    slow = Subsystem("slow", restart=("/bin/sh", "-c", f"kill -9 $PPID; sleep 0.3; echo late > {mark}"))
    new = package({CONFIG: "two\n"}, app, slow, commit="b")
    code = killed_at(-1, "after", lambda disk: world.install_asked(new, Actions(("slow",), ("app",)), disk))
    assert code == -9
    outcome = recover(world.place())
    assert outcome is not None
    assert (outcome.result, outcome.step) == ("reverted", "restart slow")
    settled(world, package({CONFIG: "one\n"}, app), new)
    time.sleep(0.5)
    assert not mark.exists()


@pytest.mark.parametrize("where", ["validate", "check"])
def test_dying_while_something_is_asked(world: World, where: str) -> None:
    """What hangs in it does not outlive the next run."""
    mark, pid = world.daemons / "mark", world.daemons / "hanging"
    app = world.daemon("app", CONFIG)
    begin(world, (package({CONFIG: "one\n"}, app), Actions(), package({}), Actions()))
    hangs = ("/bin/sh", "-c", f"echo $$ > {pid}; kill -9 $PPID; sleep 100; echo late > {mark}")
    asked = {"validate": hangs} if where == "validate" else {"check": Check(hangs), "reload": ("/bin/true",)}
    new = package({CONFIG: "two\n"}, app, Subsystem("ask", **asked), commit="b")
    code = killed_at(-1, "after", lambda disk: world.install_asked(new, Actions(reload=("app", "ask")), disk))
    assert code == -9
    outcome = recover(world.place())
    assert outcome is not None
    assert outcome.result == "reverted"
    settled(world, package({CONFIG: "one\n"}, app), new)
    until = time.monotonic() + 10
    while _runs(int(pid.read_text())):
        assert time.monotonic() < until, "it runs on"
    assert not mark.exists()


def _runs(pid: int) -> bool:
    """One that was killed, and that nobody has waited for yet, does not."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in ("Z", "X")
    except OSError:
        return False


@pytest.mark.parametrize("half", [1, 9, 40])
def test_a_half_written_last_line_is_dropped(world: World, half: int) -> None:
    old, back, new, forth = small(world)
    begin(world, (old, back, new, forth))
    number = next(n for n in range(40, MOST) if _dies_with_plan(world, n, new, forth))
    assert number
    journal = world.state("journal")
    journal.write_bytes(journal.read_bytes() + b'00000000 {"step": 7, "more": "and more and more"}'[:half])
    outcome = recover(world.place())
    assert outcome is not None
    assert settled(world, old, new) == old


def _dies_with_plan(world: World, number: int, new: Package, forth: Actions) -> bool:
    killed_at(number, "after", lambda disk: world.install_asked(new, forth, disk))
    if b'"plan"' in world.state("journal").read_bytes():
        return True
    recover(world.place())
    return False


def test_another_versions_journal_and_a_damaged_one_are_refused(world: World) -> None:
    old, back, new, forth = small(world)
    begin(world, (old, back, new, forth))
    assert next(number for number in range(40, MOST) if _dies_with_plan(world, number, new, forth))
    journal = world.state("journal")
    raw = journal.read_bytes()
    before = standing(world.root)
    lines = raw.split(b"\n")
    journal.write_bytes(b"\n".join([lines[0], b"x" + lines[1], *lines[2:], *lines[:1], b""]))
    outcome = install(world.place(), new, forth, POLICY)
    assert outcome.result == "refused"
    assert "damaged in line 2" in outcome.output
    other = b'{"begin": "x", "schema": "gitcfg.journal/9"}'
    journal.write_bytes(b"%08x %s\n" % (zlib.crc32(other), other))
    outcome = repair(world.place(), POLICY)
    assert outcome.result == "refused"
    assert "gitcfg.journal/9" in outcome.output
    assert standing(world.root) == before
    journal.write_bytes(raw)
    assert recover(world.place()) is not None
    assert settled(world, old, new) == old


def _error(number: int) -> Callable[[], None]:
    def fate() -> None:
        raise OSError(number, "No space left on device" if number == 28 else "Input/output error")

    return fate


@pytest.mark.parametrize("error", [28, 5])
def test_an_error_at_any_change(world: World, error: int) -> None:
    old, back, new, forth = small(world)
    begin(world, (old, back, new, forth))
    results: set[str] = set()
    for number in range(error % 3, MOST, 3):
        disk = Dying(number, "before", _error(error))
        outcome: Outcome = world.install_asked(new, forth, disk)
        results.add(outcome.result)
        recover(world.place())
        stands = settled(world, old, new)
        if outcome.result == "failed":
            # The error met the way back: the next run went it to its end.
            assert stands == old
        else:
            assert (outcome.result == "ok") == (stands == new)
        if stands == new:
            assert install(world.place(), old, back, POLICY).result == "ok"
        if disk.count <= number:
            break
    assert {"ok", "reverted"} <= results


class FullFrom(Disk):
    """A disk that is full for good from its change `at` on, and on which removing and renaming still work."""

    def __init__(self, at: int) -> None:
        self.left = at

    def write(self, file: int, content: bytes) -> None:
        self.left -= 1
        if self.left < 0:
            super().write(file, content[: len(content) // 2])
            raise OSError(28, "No space left on device")
        super().write(file, content)


def test_a_disk_that_stays_full(world: World) -> None:
    old, back, new, forth = small(world)
    begin(world, (old, back, new, forth))
    for number in range(MOST):
        outcome = world.install_asked(new, forth, FullFrom(number))
        if "Cannot clean up" in outcome.output:
            recover(world.place())
        stands = settled(world, old, new)
        assert outcome.result in ("refused", "reverted", "ok")
        assert (outcome.result == "ok") == (stands == new), outcome
        if stands == new:
            return
    raise AssertionError("it never came through")
