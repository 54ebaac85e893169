"""Installing, from the happy path to every way back."""

import os
from pathlib import Path

import pytest

from gitcfg.install.drift import recover
from gitcfg.install.installation import install, repair
from gitcfg.install.outcome import StepFailed
from gitcfg.install.package import Actions, Subsystem
from gitcfg.install.plan import RELOAD
from gitcfg.install.policy import Policy
from gitcfg.install.record import read_installed, read_last_report
from tests.install.world import POLICY, Told, World, in_child, made_file, package, standing

CONFIG = "/etc/app/app.conf"


def first(world: World, text: str = "one\n", **more: object) -> None:
    """A node that runs its first package."""
    app = world.daemon("app", CONFIG, **more)
    outcome = world.install(package({CONFIG: text}, app), restart=("app",))
    assert (outcome.result, outcome.output) == ("ok", "")
    assert world.runs_with("app") == text
    world.log("app")


def test_a_first_installation_writes_files_and_starts_what_runs(world: World) -> None:
    app = world.daemon("app", CONFIG)
    files = {CONFIG: made_file(CONFIG, "one\n", "0600"), "/etc/app/more/deep.conf": "deep\n"}
    outcome = world.install(package(files, app), restart=("app",))
    assert outcome.result == "ok"
    assert outcome.changed == (CONFIG, "/etc/app/more/deep.conf")
    assert outcome.restarted == ("app",)
    assert world.runs_with("app") == "one\n"
    assert standing(world.root)[CONFIG] == ("file", 0o600, 0, 0, b"one\n")
    assert standing(world.root)["/etc/app/more"] == ("folder", 0o755, 0, 0)
    assert sorted(os.listdir(world.state("."))) == ["installed.json", "lock", "report.json"]
    assert read_last_report(world.place()) == outcome


def test_the_same_again_runs_nothing(world: World) -> None:
    first(world)
    same = package({CONFIG: "one\n"}, world.daemon("app", CONFIG))
    assert world.install(same, restart=("app",)).result == "unchanged"
    moved = package({CONFIG: "one\n"}, world.daemon("app", CONFIG), commit="b")
    assert world.install(moved).result == "unchanged"
    assert world.log("app") == []
    assert read_installed(world.place()) == moved


def test_a_change_reloads_once(world: World) -> None:
    first(world)
    new = package({CONFIG: "two\n"}, world.daemon("app", CONFIG), commit="b")
    outcome = world.install(new, reload=("app",))
    assert (outcome.result, outcome.reloaded, outcome.restarted) == ("ok", ("app",), ())
    assert (world.log("app"), world.runs_with("app")) == (["reload"], "two\n")


@pytest.mark.parametrize(
    ("text", "step", "steps"),
    [
        ("refused\n", "validate app", []),
        ("bad\n", "reload app", ["reload", "reload"]),
        ("deadly\n", "reload app", ["reload", "reload", "restart"]),
        ("sick\n", "check app", ["reload", "reload"]),
    ],
)
def test_what_the_application_does_not_take_is_taken_back(
    world: World, text: str, step: str, steps: list[str]
) -> None:
    first(world)
    before = standing(world.root)
    new = package({CONFIG: text, "/etc/app/new.d/x": "x"}, world.daemon("app", CONFIG), commit="b")
    outcome = world.install(new, reload=("app",))
    assert (outcome.result, outcome.step) == ("reverted", step)
    assert outcome.command
    assert outcome.exit
    assert outcome.output
    assert world.log("app") == steps
    assert standing(world.root) == before
    assert world.runs_with("app") == "one\n"
    assert not world.state("journal").exists()
    assert read_last_report(world.place()) == outcome
    good = package({CONFIG: "three\n"}, world.daemon("app", CONFIG), commit="c")
    assert world.install(good, reload=("app",)).result == "ok"


def test_what_cannot_be_taken_back_is_said(world: World) -> None:
    app = world.daemon("app", CONFIG)
    assert world.install(package({CONFIG: "one\n"}, app), restart=("app",)).result == "ok"
    stuck = world.daemon("app", CONFIG, reload=("/bin/false",), restart=("/bin/false",))
    assert world.install(package({CONFIG: "one\n"}, stuck, commit="b")).result == "unchanged"
    outcome = world.install(package({CONFIG: "two\n"}, stuck, commit="c"), reload=("app",))
    assert (outcome.result, outcome.step) == ("failed", "reload app")
    assert "All files are restored" in outcome.output
    assert world.read(CONFIG) == "one\n"


def test_old_subsystems_act_while_the_old_files_stand(world: World) -> None:
    seen = str(world.daemons / "seen")
    config = str(world.root) + CONFIG
    old = Subsystem("old", reload=("/bin/sh", "-c", f"cat {config} >> {seen}"), using="old")
    new = Subsystem("new", reload=("/bin/sh", "-c", f"cat {config} >> {seen}"))
    assert world.install(package({CONFIG: "one\n"}, old, new)).result == "ok"
    outcome = world.install(package({CONFIG: "two\n"}, old, new, commit="b"), reload=("new", "old"))
    assert outcome.reloaded == ("old", "new")
    assert Path(seen).read_text() == "one\ntwo\n"


def test_what_a_restart_covers_is_checked_and_not_restarted_again(world: World) -> None:
    master = world.daemon("master", CONFIG, covers=("app",))
    app = world.daemon("app", CONFIG, restart=("/bin/false",), check=world.daemon("master", CONFIG).check)
    outcome = world.install(
        package({CONFIG: "one\n"}, app, master), restart=("app", "master"), reload=("app",)
    )
    assert (outcome.result, outcome.restarted, outcome.reloaded) == ("ok", ("master",), ())
    assert world.log("app") == []


def test_a_subsystem_that_leaves_is_stopped_and_comes_back_if_that_fails(world: World) -> None:
    first(world)
    failing = Subsystem("other", reload=("/bin/false",))
    outcome = world.install(package({}, failing, commit="b"), stop=("app",), reload=("other",))
    assert (outcome.result, outcome.stopped, outcome.step) == ("reverted", ("app",), "reload other")
    assert world.runs_with("app") == "one\n"
    outcome = world.install(package({}, commit="c"), stop=("app",))
    assert (outcome.result, outcome.stopped, outcome.removed) == ("ok", ("app",), (CONFIG,))
    assert world.runs_with("app") is None
    assert not (world.root / "etc").exists()


def test_a_retired_node_stops_everything_and_keeps_what_others_wrote(world: World) -> None:
    foreign = world.write("/etc/app/theirs", "theirs")
    first(world)
    outcome = world.install(package({CONFIG: "x"}, state="retired", commit="b"))
    assert (outcome.result, outcome.stopped, outcome.removed) == ("ok", ("app",), (CONFIG,))
    assert world.runs_with("app") is None
    assert foreign.read_text() == "theirs"
    assert not (world.root / CONFIG[1:]).exists()
    assert world.install(package({}, state="retired", commit="b")).result == "unchanged"


def test_what_somebody_wrote_is_kept_when_it_is_replaced_or_removed(world: World) -> None:
    world.write(CONFIG, "from the distribution")
    app = world.daemon("app", CONFIG)
    outcome = world.install(package({CONFIG: "one\n", "/etc/b": "b"}, app), restart=("app",))
    assert [world.read(path) for path in outcome.kept] == ["from the distribution"]
    world.write("/etc/b", "by hand")
    outcome = world.install(package({CONFIG: "two\n"}, app, commit="b"), reload=("app",))
    assert outcome.removed == ("/etc/b",)
    assert [world.read(path) for path in outcome.kept] == ["by hand"]


def test_drifted_files_are_put_right_with_a_change_and_what_they_concern_acts(world: World) -> None:
    app = world.daemon("app", CONFIG)
    files = {CONFIG: made_file(CONFIG, "one\n", app=RELOAD), "/etc/b": "b"}
    assert world.install(package(files, app), restart=("app",)).result == "ok"
    world.write(CONFIG, "by hand\n")
    outcome = world.install(package({**files, "/etc/b": "c"}, app, commit="b"))
    assert (outcome.result, outcome.reloaded) == ("ok", ("app",))
    assert outcome.changed == (CONFIG, "/etc/b")


def test_what_the_policy_does_not_allow_is_named_and_nothing_is_done(world: World) -> None:
    first(world)
    before = standing(world.root)
    bad = Subsystem("bad", restart=("/usr/bin/wget", "x"))
    files = {CONFIG: "two\n", "/etc/gitcfg/agent.toml": "x", "/home/ann/.ssh/authorized_keys": "x"}
    app = world.daemon("app", CONFIG)
    outcome = world.install(package(files, app, bad, commit="b"), reload=("app",))
    assert outcome.result == "refused"
    for word in ("/etc/gitcfg/agent.toml", "/home/ann/.ssh/authorized_keys", "/usr/bin/wget"):
        assert word in outcome.output
    assert standing(world.root) == before
    assert world.log("app") == []


def test_the_policy_names_where_a_program_is(world: World) -> None:
    told = str(world.daemons / "told")
    policy = Policy(("/etc/**",), (("/bin/sh", "-c", "*"),))
    app = Subsystem("app", restart=("sh", "-c", f"echo $0 > {told}"))
    assert world.install(package({CONFIG: "x"}, app), policy, restart=("app",)).result == "ok"
    assert Path(told).read_text() == "/bin/sh\n"


def test_a_new_subsystem_that_fails_is_stopped_again(world: World) -> None:
    first(world)
    other = world.daemon("other", "/etc/other")
    app = world.daemon("app", CONFIG)
    new = package({CONFIG: "sick\n", "/etc/other": "x\n"}, app, other, commit="b")
    outcome = world.install(new, restart=("other",), reload=("app",))
    assert (outcome.result, outcome.step) == ("reverted", "check app")
    assert world.log("other") == ["restart", "stop"]
    assert world.runs_with("other") is None


def test_a_command_that_does_not_end_is_killed(world: World) -> None:
    first(world)
    slow = Subsystem("slow", reload=("/bin/sh", "-c", "echo begun; sleep 100 & sleep 100"))
    new = package({CONFIG: "two\n"}, world.daemon("app", CONFIG), slow, commit="b")
    place = world.place(activate=0.3)
    outcome = install(place, new, Actions(reload=("slow",)), POLICY)
    assert (outcome.result, outcome.step, outcome.exit) == ("reverted", "reload slow", None)
    assert "timed out" in outcome.output
    assert "begun" in outcome.output


def test_only_the_end_of_the_output_is_kept(world: World) -> None:
    loud = Subsystem("loud", reload=("/bin/sh", "-c", "seq 1 200000; echo the end; exit 7"))
    outcome = world.install(package({CONFIG: "x"}, loud), reload=("loud",))
    assert (outcome.result, outcome.exit) == ("reverted", 7)
    assert "200000\nthe end\nPending until" in outcome.output
    assert len(outcome.output) < 6000


def test_repair_mends_only_what_drifted(world: World) -> None:
    app = world.daemon("app", CONFIG)
    files = {CONFIG: made_file(CONFIG, "one\n", app=RELOAD), "/etc/b": "b"}
    assert world.install(package(files, app), restart=("app",)).result == "ok"
    world.log("app")
    assert repair(world.place(), POLICY).result == "unchanged"
    world.write(CONFIG, "by hand\n")
    outcome = repair(world.place(), POLICY)
    assert (outcome.result, outcome.changed, outcome.reloaded) == ("ok", (CONFIG,), ("app",))
    assert world.log("app") == ["reload"]
    (world.root / "etc/b").chmod(0o666)
    outcome = repair(world.place(), POLICY)
    assert (outcome.changed, outcome.reloaded, outcome.kept) == (("/etc/b",), (), ())


def test_without_a_journal_there_is_nothing_to_recover(world: World) -> None:
    assert recover(world.place()) is None
    assert repair(world.place(), POLICY).result == "unchanged"
    assert read_installed(world.place()) is None


def test_the_listener_is_told_each_step_in_order(world: World) -> None:
    first(world)
    told = Told()
    place = world.place()._replace(listener=told)
    new = package({CONFIG: "two\n"}, world.daemon("app", CONFIG), commit="b")
    assert install(place, new, Actions(reload=("app",)), POLICY).result == "ok"
    steps = ["validate app", "swap files", "reload app", "check app"]
    assert told.steps == [(step, state) for step in steps for state in ("begun", "done")]
    told.steps.clear()
    bad = package({CONFIG: "bad\n"}, world.daemon("app", CONFIG), commit="c")
    assert install(place, bad, Actions(reload=("app",)), POLICY).result == "reverted"
    failed = [("reload app", "failed"), ("put back", "begun"), ("put back", "done")]
    assert told.steps[-5:-2] == failed
    assert told.steps[-2:] == [("reload app again", "begun"), ("reload app again", "done")]


def test_only_so_many_replaced_files_are_kept(world: World) -> None:
    assert world.install(package({"/etc/b": "b"})).result == "ok"
    for number in range(5):
        world.write("/etc/b", f"by hand {number}")
        assert repair(world.place(kept=3), POLICY).changed == ("/etc/b",)
    names = sorted(path.name for path in world.state("kept").iterdir())
    assert names == ["00000003-b", "00000004-b", "00000005-b"]
    assert (world.state("kept") / names[-1]).read_text() == "by hand 4"


def test_an_ordinary_user_installs_what_is_its_own(world: World) -> None:
    theirs = made_file("/etc/x", "one", owner="65534")
    for folder in (world.root.parent, world.root):
        os.chown(folder, 65534, 65534)

    def work() -> None:
        os.setgid(65534)
        os.setuid(65534)
        assert world.install(package({"/etc/x": theirs})).result == "ok"
        outcome = world.install(package({"/etc/x": "of root"}, commit="b"))
        assert (outcome.result, outcome.step) == ("reverted", "write files")
        assert "not permitted" in outcome.output

    assert in_child(work) == 0
    assert standing(world.root)["/etc/x"] == ("file", 0o644, 65534, 65534, b"one")


def test_an_owner_that_is_not_there_is_refused(world: World) -> None:
    outcome = world.install(package({"/etc/x": made_file("/etc/x", "x", owner="nobody-of-that-name")}))
    assert outcome.result == "refused"
    assert "nobody-of-that-name" in outcome.output


def test_who_installs_has_the_last_word(world: World) -> None:
    first(world)

    def unhappy() -> None:
        raise StepFailed("confirm", "The server cannot be reached any more.")

    new = package({CONFIG: "two\n"}, world.daemon("app", CONFIG), commit="b")
    outcome = install(world.place(), new, Actions(reload=("app",)), POLICY, unhappy)
    assert (outcome.result, outcome.step, world.runs_with("app")) == ("reverted", "confirm", "one\n")
    assert install(world.place(), new, Actions(reload=("app",)), POLICY, lambda: None).result == "ok"


def test_commands_get_whole_paths_also_of_a_root_that_is_none(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They run at /, and would find no file to judge."""
    monkeypatch.chdir(world.root.parent)
    place = world.place()._replace(root=world.root.name)
    app = world.daemon("app", "/etc/app/app.conf")
    refused = package({"/etc/app/app.conf": "refused\n"}, app)
    outcome = install(place, refused, Actions(restart=("app",)), POLICY)
    assert (outcome.result, outcome.step) == ("reverted", "validate app")
    assert f"{world.root}/" in outcome.output
