"""Going back that fails: what daemons owe since then is kept, and the next installation has them do it."""

import json

import pytest

from gitcfg.install.drift import find_drift
from gitcfg.install.installation import install, repair
from gitcfg.install.outcome import Outcome
from gitcfg.install.package import Actions, Check, Package, Subsystem
from gitcfg.install.plan import Debt, Step, Undo, make_plan
from gitcfg.install.record import read_debts, read_last_report, set_damaged_aside
from gitcfg.install.recovery import remaining_debts
from tests.deploy.process import deploy, greeted
from tests.install.test_dying import FullFrom
from tests.install.test_plan import request, sub
from tests.install.world import POLICY, World, made_file, package

RESTARTED = Actions(restart=("app",))
CONFIG, OTHER = "/etc/app/app.conf", "/etc/other.conf"


def packages(world: World) -> tuple[Package, Package]:
    """One that is well, and one that its daemon takes and is sick of."""
    app = world.daemon("app", CONFIG)
    return package({CONFIG: "one\n"}, app), package({CONFIG: "sick\n"}, app, commit="b")


def left_behind(world: World, asked: Actions = RESTARTED) -> Package:
    """A node whose files went back and whose daemon did not; what is in force there."""
    old, new = packages(world)
    assert world.install(old, restart=("app",)).result == "ok"
    world.stuck("app", "one")
    outcome = world.install_asked(new, asked)
    assert outcome.result == "failed"
    assert (world.read(CONFIG), world.runs_with("app")) == ("one\n", "sick\n")
    world.log("app")
    return old


def test_the_package_in_force_is_no_longer_unchanged(world: World) -> None:
    old = left_behind(world)
    assert read_debts(world.place()) == (Debt("app", "restart"),)
    again = world.install(old)
    assert (again.result, again.step, world.log("app")) == ("failed", "restart app", ["restart"])
    assert "it is stuck" in again.output
    assert again.output.endswith("some subsystems did not activate them:\nrestart app is pending.")
    assert read_last_report(world.place()) == again
    assert read_debts(world.place()) == (Debt("app", "restart"),)
    world.stuck("app")
    paid = world.install(old)
    assert (paid.result, paid.restarted, paid.changed) == ("ok", ("app",), ())
    assert world.runs_with("app") == "one\n"
    assert (read_debts(world.place()), world.state("owed.json").exists()) == ((), False)
    assert world.install(old).result == "unchanged"
    assert world.log("app") == ["restart"]


def test_over_ssh_it_is_told_and_paid(world: World) -> None:
    old = left_behind(world)
    assert greeted(world).owed == ("restart app",)
    dry = deploy(world, old, dry=True).outcome
    assert (dry.result, dry.restarted, dry.changed) == ("ok", ("app",), ())
    assert "Pending since an installation could not be rolled back: restart app." in dry.output
    assert world.log("app") == []
    assert deploy(world, old).outcome.result == "failed"
    world.stuck("app")
    assert deploy(world, old).outcome.restarted == ("app",)
    assert world.runs_with("app") == "one\n"
    assert greeted(world).owed == ()
    assert deploy(world, old, dry=True).outcome.result == "unchanged"


def test_a_check_that_fails_leaves_it_owed(world: World) -> None:
    mark = world.daemons / "ill"
    app = world.daemon("app", CONFIG, check=Check(("/bin/sh", "-c", f"test ! -e {mark}"), 20.0, 0))
    old, new = package({CONFIG: "one\n"}, app), package({CONFIG: "two\n"}, app, commit="b")
    assert world.install(old, restart=("app",)).result == "ok"
    mark.touch()
    assert world.install(new, restart=("app",)).result == "failed"
    assert world.install(old).result == "failed"
    assert read_debts(world.place()) == (Debt("app", "restart"),)
    mark.unlink()
    assert world.install(old).result == "ok"
    assert read_debts(world.place()) == ()


@pytest.mark.parametrize("asked", [Actions(restart=("app",)), Actions(reload=("app",)), Actions()])
def test_the_next_commit_pays_once(world: World, asked: Actions) -> None:
    left_behind(world, Actions(reload=("app",)))
    new = package({CONFIG: "three\n"}, world.daemon("app", CONFIG), commit="c")
    assert world.install_asked(new, asked).restarted == ("app",)
    assert (world.log("app"), world.runs_with("app"), read_debts(world.place())) == (
        ["restart"],
        "three\n",
        (),
    )


def test_repair_pays_too(world: World) -> None:
    old = left_behind(world)
    world.stuck("app")
    assert find_drift(world.place()) == ()
    assert repair(world.place(), POLICY).restarted == ("app",)
    assert world.runs_with("app") == "one\n"
    assert world.install(old).result == "unchanged"


def test_one_that_has_paid_is_not_asked_again_because_of_another(world: World) -> None:
    app, other = world.daemon("app", CONFIG), world.daemon("other", OTHER)
    old = package({CONFIG: "one\n", OTHER: "one\n"}, app, other)
    assert world.install(old, restart=("app", "other")).result == "ok"
    world.stuck("app", "one")
    world.stuck("other", "one")
    new = package({CONFIG: "two\n", OTHER: "sick\n"}, app, other, commit="b")
    assert world.install(new, restart=("app", "other")).result == "failed"
    assert [one.name for one in read_debts(world.place())] == ["app", "other"]
    world.log("app")
    world.stuck("app")
    assert world.install(old).result == "failed"
    assert (world.log("app"), world.runs_with("app")) == (["restart"], "one\n")
    assert read_debts(world.place()) == (Debt("other", "restart"),)
    world.stuck("other")
    assert world.install(old).restarted == ("other",)
    assert world.log("app") == []


def test_a_first_installation_tells_what_is_owed(world: World) -> None:
    """Nothing was known to work before, so that it is no failure to go back to that."""
    app = world.daemon("app", CONFIG)
    world.stuck("app", "one")
    outcome = world.install(package({CONFIG: "sick\n"}, app), restart=("app",))
    assert outcome.result == "reverted"
    assert read_debts(world.place()) == (Debt("app", "restart"),)
    assert outcome.output.endswith("Pending until the next installation: restart app.")


def test_what_no_longer_runs_owes_nothing(world: World) -> None:
    left_behind(world)
    world.stuck("app")
    outcome = world.install(package({}, commit="c"), stop=("app",))
    assert (outcome.result, outcome.stopped, read_debts(world.place())) == ("ok", ("app",), ())
    assert world.runs_with("app") is None


def test_what_does_not_stop_keeps_nothing_from_being_in_force(world: World) -> None:
    app = world.daemon("app", CONFIG)
    assert world.install(package({OTHER: "x\n"})).result == "ok"
    world.stuck("app", "nothing")
    new = package({OTHER: "x\n", CONFIG: "sick\n"}, app, commit="b")
    assert world.install(new, restart=("app",)).result == "reverted"
    assert [(one.name, one.kind) for one in read_debts(world.place())] == [("app", "stop")]
    assert world.install(package({OTHER: "x\n"})).result == "unchanged"
    outcome = world.install(package({OTHER: "y\n"}, commit="c"))
    assert (outcome.result, outcome.stopped) == ("ok", ())
    assert "The pending stop app failed: exit code 5." in outcome.output
    assert read_debts(world.place())
    world.stuck("app")
    assert world.install(package({OTHER: "z\n"}, commit="d")).stopped == ("app",)
    assert (world.runs_with("app"), read_debts(world.place())) == (None, ())


def test_a_note_that_the_disk_does_not_take_keeps_the_journal(world: World) -> None:
    old, new = packages(world)
    assert world.install(old, restart=("app",)).result == "ok"
    seen = set()
    for number in range(60):
        world.stuck("app", "one")
        outcome: Outcome = world.install_asked(new, Actions(("app",)), FullFrom(number))
        if world.runs_with("app") == "sick\n":
            kept = "Cannot record pending actions on the disk" in outcome.output
            assert outcome.result == "failed"
            assert world.state("journal").exists() or read_debts(world.place())
            seen.add(kept)
        world.stuck("app")
        world.install(old)
        assert world.install(old).result == "unchanged"
        assert (world.runs_with("app"), read_debts(world.place())) == ("one\n", ())
    assert seen == {True, False}


@pytest.mark.parametrize(
    "raw", ["", "[]", '{"schema": "gitcfg.owed/1", "owed": [1]}', '{"schema": "x", "owed": []}']
)
def test_a_damaged_note_has_everything_installed_anew(world: World, raw: str) -> None:
    old = left_behind(world)
    world.state("owed.json").write_text(raw)
    refused = install(world.place(), old, Actions(), POLICY)
    assert (refused.result, "owed.json in the state folder is damaged" in refused.output) == ("refused", True)
    assert "damaged" in greeted(world).problem
    world.stuck("app")
    said = set_damaged_aside(world.place(), "now")
    assert "renamed to owed.json.damaged-now" in said
    assert greeted(world).commit is None
    assert world.install(old, restart=("app",)).restarted == ("app",)
    assert world.runs_with("app") == "one\n"


def test_an_older_gitcfg_passes_over_it(world: World) -> None:
    """It knows nothing of this file: it only must not be in its way."""
    left_behind(world)
    said = json.loads(world.state("owed.json").read_text())
    assert said == {
        "schema": "gitcfg.owed/1",
        "owed": [{"name": "app", "kind": "restart", "command": []}],
    }


def step(name: str, *owes: Debt, commands: tuple[tuple[str, ...], ...] = (("r",),)) -> Step:
    return Step("restart", name, ("r",), False, Undo(commands, owes=owes))


RESTART, RELOAD, STOP = Debt("a", "restart"), Debt("a", "reload"), Debt("a", "stop", ("s",))
BESIDE = Debt("b", "restart")


@pytest.mark.parametrize(
    ("before", "told", "after"),
    [
        ((), (step("a", RESTART), True), ()),
        ((), (step("a", RESTART), False), (RESTART,)),
        ((RESTART,), (step("a", RELOAD), False), (RESTART,)),
        ((RELOAD,), (step("a", RESTART), False), (RESTART,)),
        ((RESTART, BESIDE), (step("a", RESTART), True), (BESIDE,)),
        ((), (step("a", RESTART, BESIDE), False), (RESTART, BESIDE)),
        ((RESTART, BESIDE), (step("a", RESTART, BESIDE), True), ()),
        ((), (step("a", STOP, BESIDE), True), (BESIDE,)),
        ((), (step("a", STOP), False), (STOP,)),
        ((), (step("a", RESTART, commands=()), True), (RESTART,)),
    ],
)
def test_what_a_way_back_leaves(
    before: tuple[Debt, ...], told: tuple[Step, bool], after: tuple[Debt, ...]
) -> None:
    assert remaining_debts(before, [told]) == after


def test_a_plan_has_what_is_owed_each_at_most_once() -> None:
    same = package({}, sub("a", ("b",)), sub("b"), sub("c"))

    def made(*owed: Debt, **asked: tuple[str, ...]) -> list[str]:
        wanted = request(same, same._replace(commit="c"), {}, **asked)
        return [one.title for one in make_plan(wanted._replace(owed=owed)).steps]

    assert made(Debt("a", "restart"), Debt("b", "restart")) == ["restart a"]
    assert made(Debt("a", "restart"), reload=("a", "b")) == ["restart a"]
    assert made(Debt("c", "reload"), restart=("c",)) == ["restart c"]
    assert made(Debt("c", "reload")) == ["reload c"]
    assert made(Debt("gone", "restart"), Debt("other", "stop", ("s",))) == []
    assert made(Debt("c", "stop", ("s",))) == ["restart c"]


def test_a_subsystem_that_changed_its_commands_is_paid_by_the_new_ones(world: World) -> None:
    left_behind(world)
    world.stuck("app")
    app = world.daemon("app", CONFIG, reload=(), using="old")
    new = package({CONFIG: made_file(CONFIG, "four\n")}, app, Subsystem("idle"), commit="d")
    assert world.install(new).restarted == ("app",)
