"""Either end dies anywhere: the node is of one package and never of two, and the next run brings it there."""

import os
import random
import signal
import threading
from collections.abc import Iterable

import pytest

from gitcfg.deploy.messages import Done, Order
from gitcfg.deploy.outcomes import FarError, LineLost
from gitcfg.install.drift import recover
from gitcfg.install.package import Package, package_from_json
from tests.deploy.forked import forked
from tests.deploy.process import deploy, ordered, restarting
from tests.install.test_dying import MOST, settled, small
from tests.install.world import Dying, World, package, secret_file
from tests.seeds import TIMES

CONFIG, SECRET = "/etc/app/app.conf", "/etc/app/secret"
Two = tuple[Order, Order]


def of(order: Order) -> Package:
    return package_from_json(order.package)


def begun(world: World) -> Two:
    """What is in force, and what is to be."""
    old, back, new, forth = small(world)
    here, there = ordered(old, actions=back), ordered(new, actions=forth)
    assert forked(world.place(), ordered(old, actions=restarting("app"))).outcome.result == "ok"
    assert forked(world.place(), there).outcome.result == "ok"
    assert forked(world.place(), here).outcome.result == "ok"
    return here, there


def killed(world: World, orders: Two, points: Iterable[int], when: str) -> int:
    """The far end dies at each of some changes of the disk, one way and the other in turn; how often."""
    here, there = orders
    deaths = 0
    for number in points:
        disk = Dying(number, when, lambda: os.kill(os.getpid(), signal.SIGKILL))
        try:
            forked(world.place(disk), there)
            break
        except LineLost:
            deaths += 1
        recover(world.place())
        settled(world, of(here), of(there))
        assert forked(world.place(), there).outcome.result in ("ok", "unchanged")
        assert settled(world, of(here), of(there)) == of(there)
        here, there = there, here
    return deaths


def test_the_far_end_dies_at_some_changes(world: World) -> None:
    assert killed(world, begun(world), range(2, MOST, 23), "after") > 2


@pytest.mark.slow
@pytest.mark.parametrize("when", ["before", "after"])
def test_the_far_end_dies_at_any_change(world: World, when: str) -> None:
    assert killed(world, begun(world), range(MOST), when) > 40


def cut_at(world: World, orders: Two, points: Iterable[int]) -> None:
    """The near end dies when it has sent so many bytes."""
    here, there = orders
    for most in points:
        began = False
        try:
            done = forked(world.place(), there, most)
            began = done.outcome.result == "ok"
        except LineLost as error:
            began = bool(error.after)
        stands = settled(world, of(here), of(there))
        assert began or stands == of(here)
        assert forked(world.place(), there).outcome.result == ("unchanged" if stands == of(there) else "ok")
        assert settled(world, of(here), of(there)) == of(there)
        here, there = there, here


def bytes_of(world: World, orders: Two) -> int:
    """About how many an order takes."""
    here, there = orders
    sent = forked(world.place(), there).sent
    assert forked(world.place(), here).outcome.result == "ok"
    return sent


def test_the_near_end_dies_at_some_bytes(world: World) -> None:
    orders = begun(world)
    most = bytes_of(world, orders)
    cut_at(world, orders, range(1, most + 1, most // 6))


@pytest.mark.slow
def test_the_near_end_dies_at_any_byte(world: World) -> None:
    orders = begun(world)
    most = bytes_of(world, orders)
    cut_at(world, orders, random.Random(1).sample(range(most + 50), min(150 * TIMES, most)))


@pytest.mark.parametrize("rounds", [3, pytest.param(20 * TIMES, marks=pytest.mark.slow)])
def test_two_at_once_never_mix(world: World, rounds: int) -> None:
    """One waits for the other, or is told who is at work."""
    packages = [
        package({f"/etc/app/{file}": f"{commit}\n" for file in range(20)}, commit=commit) for commit in "abc"
    ]
    said: list[str] = []

    def one(new: Package, wait: float) -> None:
        try:
            said.append(deploy(world, new, wait=wait).outcome.result)
        except FarError as error:
            said.append(error.kind)

    for number in range(rounds):
        begin = [threading.Thread(target=one, args=(new, 20.0 * (number % 2))) for new in packages]
        for thread in begin:
            thread.start()
        for thread in begin:
            thread.join()
        assert len({world.read(f"/etc/app/{file}") for file in range(20)}) == 1
        settled(world, *[new for new in packages if world.read("/etc/app/0") == f"{new.commit[0]}\n"] * 2)
    assert set(said) <= {"ok", "unchanged", "busy"}
    assert said.count("ok") >= rounds


def test_a_secret_of_a_killed_installation_is_in_no_backup(world: World) -> None:
    """What the next run takes back leaves nothing of it."""
    plain = secret_file(SECRET, "canary-one\n")
    old = package({SECRET: plain, CONFIG: "one\n"})
    new = package({SECRET: secret_file(SECRET, "canary-two\n", 2), CONFIG: "two\n"}, commit="b")
    forked(world.place(), ordered(old, hidden={SECRET: "canary-one\n"}))
    there = ordered(new, hidden={SECRET: "canary-two\n"})
    for number in range(5, 60, 9):
        disk = Dying(number, "after", lambda: os.kill(os.getpid(), signal.SIGKILL))
        with pytest.raises(LineLost):
            forked(world.place(disk), there)
        done: Done = forked(world.place(), ordered(old, hidden={SECRET: "canary-one\n"}))
        assert done.outcome.result in ("ok", "unchanged")
        kept = [one for one in world.state(".").rglob("*") if one.is_file() and b"canary" in one.read_bytes()]
        assert kept == []
        assert world.read(SECRET) == "canary-one\n"
