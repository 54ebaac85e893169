"""The line is cut, or nobody reads at its end: what began comes to its end, and the next one hears of it."""

import os
import signal
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

from gitcfg.deploy.messages import Hello, Order
from gitcfg.deploy.outcomes import FarError, LineLost
from gitcfg.deploy.program import command
from gitcfg.deploy.turn import talk
from gitcfg.install.package import Check, Subsystem
from tests.deploy.forked import forked
from tests.deploy.process import Process, deploy, greeted, line_to, ordered, restarting, unheard
from tests.install.world import STATE, Dying, World, package, standing

CONFIG = "/etc/app/app.conf"
SIGNALS = [signal.SIGHUP, signal.SIGTERM, signal.SIGINT]


def slow(world: World, code: int = 0) -> Subsystem:
    """Its restart waits until there is a file `go`, and says that it is there by `here`."""
    wait = f"touch {world.daemons}/here; while ! [ -e {world.daemons}/go ]; do sleep 0.02; done; exit {code}"
    return Subsystem("app", restart=("/bin/sh", "-c", wait), check=Check(("/bin/true",)))


def until(what: Path) -> None:
    """Wait for a file."""
    for _ in range(3000):
        if what.exists():
            return
        time.sleep(0.01)
    raise AssertionError(f"{what} does not come")


def cut_in_the_middle(world: World, code: int, number: int) -> None:
    new = package({CONFIG: "two\n"}, slow(world, code), commit="b")
    line = Process(line_words(world))

    def told(step: str, state: str) -> None:
        if (step, state) == ("restart app", "begun"):
            until(world.daemons / "here")
            line.cut(number)

    with pytest.raises((LineLost, ValueError)):
        talk(line, lambda hello: ordered(new, actions=restarting("app"), who="alice@desk"), told)


def line_words(world: World) -> str:
    return command((), str(world.root), STATE)


@pytest.mark.parametrize("number", SIGNALS)
def test_what_began_comes_to_its_end(world: World, number: int) -> None:
    deploy(world, package({CONFIG: "one\n"}, slow(world)))
    cut_in_the_middle(world, 0, number)
    assert "alice@desk" in greeted(world).busy
    with line_to(world) as line, pytest.raises(FarError) as found:
        talk(line, lambda hello: ordered(package({}), wait=0.0), unheard)
    assert found.value.kind == "busy"
    (world.daemons / "go").touch()
    heard = ended(world)
    assert (heard.commit, heard.report and heard.report.result) == ("b" * 40, "ok")
    assert heard.report is not None
    assert heard.report.restarted == ("app",)
    assert world.read(CONFIG) == "two\n"


def test_what_fails_then_goes_back(world: World) -> None:
    deploy(world, package({CONFIG: "one\n"}))
    cut_in_the_middle(world, 3, signal.SIGHUP)
    (world.daemons / "go").touch()
    heard = ended(world)
    assert (heard.commit, heard.report and heard.report.result) == ("a" * 40, "reverted")
    assert world.read(CONFIG) == "one\n"


def test_who_comes_next_waits(world: World) -> None:
    """What it is to do began from what stood before: it says so, and is thought out anew."""
    deploy(world, package({CONFIG: "one\n"}))
    cut_in_the_middle(world, 0, signal.SIGHUP)

    def order(hello: Hello) -> Order:
        (world.daemons / "go").touch()  # what began goes on only now that the node has said what stands
        return ordered(package({CONFIG: "three\n"}, commit="c"), wait=60.0)

    with line_to(world) as line, pytest.raises(FarError) as found:
        talk(line, order, unheard)
    assert (found.value.kind, "in the meantime" in found.value.message) == ("busy", True)
    assert world.read(CONFIG) == "two\n"
    assert deploy(world, package({CONFIG: "two\n"}, commit="b")).outcome.result in ("ok", "unchanged")
    assert deploy(world, package({CONFIG: "three\n"}, commit="c"), wait=60.0).outcome.result == "ok"
    assert world.read(CONFIG) == "three\n"


def test_daemons_get_their_signals(world: World) -> None:
    """What gitcfg itself does not heed must not be ignored by what it starts."""
    tell = f"grep -E 'SigIgn|SigBlk' /proc/self/status > {world.daemons}/signals"
    app = Subsystem("app", restart=("/bin/sh", "-c", tell))
    deploy(world, package({CONFIG: "one\n"}, app), actions=restarting("app"))
    masks = [int(line.split()[1], 16) for line in (world.daemons / "signals").read_text().splitlines()]
    for number in (signal.SIGHUP, signal.SIGINT, signal.SIGTERM, signal.SIGPIPE):
        assert not any(mask >> number - 1 & 1 for mask in masks)


def test_nothing_stays_open_after_a_deploy(world: World) -> None:
    """A daemon that was started must not hold the line."""
    app = world.daemon("app", CONFIG)
    with line_to(world) as line:
        order = ordered(package({CONFIG: "one\n"}, app), actions=restarting("app"))
        assert talk(line, lambda hello: order, unheard) is not None
        assert line.receive(1) == b""
        assert line.ended() == 0
    assert world.runs_with("app") == "one\n"


@pytest.mark.parametrize("number", range(1, 9))
def test_a_near_end_that_dies_leaves_all_or_nothing(world: World, number: int) -> None:
    """At each of the things that it does with the line."""
    deploy(world, package({CONFIG: "one\n", "/etc/app/b": "one\n"}))
    old = standing(world.root)
    new = package({CONFIG: "two\n", "/etc/app/b": "two\n"}, commit="b")

    def die(count: int) -> None:
        if count == number:
            raise ConnectionResetError(104, "Connection reset by peer")

    with line_to(world, near=die) as line:
        try:
            talk(line, lambda hello: ordered(new), unheard)
        except LineLost:
            line.cut()
    heard = ended(world)
    assert (world.read(CONFIG), world.read("/etc/app/b")) in (("one\n", "one\n"), ("two\n", "two\n"))
    assert (standing(world.root) == old) == (heard.commit == "a" * 40)
    assert deploy(world, new).outcome.result in ("ok", "unchanged")
    assert world.read(CONFIG) == "two\n"


def test_one_that_does_not_read_holds_nothing_up(world: World) -> None:
    """More steps than the pipe takes; the near end reads nothing after its order."""
    many = [Subsystem(f"s{number:04}{'x' * 200}", restart=("/bin/true",)) for number in range(150)]
    new = package({CONFIG: "one\n"}, *many)
    names = tuple(one.name for one in many)
    with line_to(world) as line:
        read = threading.Event()

        def told(step: str, state: str) -> None:
            until(world.state("report.json"))
            read.set()

        done = talk(line, lambda hello: ordered(new, actions=restarting(*names)), told)
    assert done is not None
    assert read.is_set()
    assert done.outcome.restarted == names


def ended(world: World) -> Hello:
    """What the node tells once nobody is at work there."""
    for _ in range(600):
        heard = greeted(world)
        if not heard.busy:
            return heard
        time.sleep(0.05)
    raise AssertionError("the installation does not end")


def killed_far_end(world: World) -> LineLost:
    """How a deploy of commit b over commit a ends when the far end is killed as it restarts the daemon."""
    deploy(world, package({CONFIG: "one\n"}))
    new = package({CONFIG: "two\n"}, slow(world), commit="b")
    with line_to(world) as line:

        def told(step: str, state: str) -> None:
            if step == "restart app":
                until(world.daemons / "here")
                for process in far_ends(world):
                    os.kill(process, signal.SIGKILL)

        with pytest.raises(LineLost) as found:
            talk(line, lambda hello: ordered(new, actions=restarting("app")), told)
    return found.value


def test_a_far_end_that_is_killed_is_a_lost_line(world: World) -> None:
    assert killed_far_end(world).after == "restart app"
    assert greeted(world).interrupted
    before = standing(world.root)
    dry = deploy(world, package({CONFIG: "one\n"}), dry=True).outcome
    assert (dry.result, "interrupted" in dry.output) == ("ok", True)
    assert standing(world.root) == before
    done = deploy(world, package({CONFIG: "one\n"}))
    what = f"An installation of {'b' * 10} was interrupted here and rolled back"
    real = done.outcome
    assert (real.result, real.changed, real.restarted) == ("ok", (CONFIG,), ("app",))
    assert (dry.changed, dry.restarted) == (real.changed, real.restarted)
    assert done.outcome.output.startswith(f"{what}: The installation was interrupted in `restart app`.")
    again = deploy(world, package({CONFIG: "one\n"})).outcome
    assert (again.result, again.output) == ("unchanged", "")
    assert world.read(CONFIG) == "one\n"
    heard = greeted(world)
    assert (heard.interrupted, heard.commit) == (False, "a" * 40)


@pytest.mark.slow
def test_one_that_died_when_all_was_done(world: World) -> None:
    """What it came to is in its journal; the next one puts it there."""
    deploy(world, package({CONFIG: "one\n"}))
    new = package({CONFIG: "two\n"}, commit="b")

    def died(at: int) -> bool:
        disk = Dying(at, "before", lambda: os.kill(os.getpid(), signal.SIGKILL))
        with suppress(LineLost):
            forked(world.place(disk), ordered(new))
            return False
        return True

    said, finished = set(), 0
    for at in range(200):
        if not died(at):
            break
        hello = greeted(world)
        done = deploy(world, package({CONFIG: "one\n"}))
        said.add(done.outcome.output)
        # Who comes next hears of what will be in force, and what it is to do begins from that.
        decided = hello.interrupted and hello.commit == "b" * 40
        assert decided == ("after its last step" in done.outcome.output)
        finished += decided
    assert finished, "none died between its decision and its record"
    what = f"An installation of {'b' * 10} was interrupted here"
    assert said == {
        "",  # before there was anything to take back, or after everything
        f"{what} and rolled back: The installation was interrupted.",
        f"{what} after its last step.",
    }


def test_one_that_cannot_be_taken_back_is_in_the_way(world: World) -> None:
    """It is told as what the node came to, and whose it was; no later commit is tried."""
    killed_far_end(world)
    (world.root / "etc/app").rename(world.root / "etc/elsewhere")
    (world.root / "etc/app").write_text("somebody's")
    done = deploy(world, package({CONFIG: "three\n"}, commit="c"))
    assert (done.outcome.result, done.outcome.commit) == ("failed", "c" * 40)
    what = f"An installation of {'b' * 10} was interrupted here: "
    assert done.outcome.output.startswith(what)
    assert "The rollback failed: /etc/app is not a folder." in done.outcome.output
    (world.root / "etc/app").unlink()
    (world.root / "etc/elsewhere").rename(world.root / "etc/app")
    done = deploy(world, package({CONFIG: "three\n"}, commit="c"))
    assert (done.outcome.result, world.read(CONFIG)) == ("ok", "three\n")


def far_ends(world: World) -> list[int]:
    """The processes of far ends for a world."""
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            words = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if b"-IS" in words and str(world.root).encode() in words:
            found.append(int(process.name))
    return found
