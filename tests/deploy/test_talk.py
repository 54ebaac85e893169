"""A deploy to one node over a real process: what comes of it, and how much travels for it."""

import hashlib
import os
import random
from pathlib import Path

import pytest

from gitcfg.deploy.messages import Hello
from gitcfg.deploy.program import program
from gitcfg.deploy.turn import talk
from gitcfg.install.package import Actions, Check, Subsystem
from gitcfg.install.record import read_installed
from tests.deploy.process import PYTHONS, deploy, greeted, line_to, ordered, restarting
from tests.install.world import World, made_file, package, standing

CONFIG = "/etc/app/app.conf"


@pytest.mark.parametrize("folder", PYTHONS)
def test_a_package_is_put_in_force_and_then_stands(world: World, folder: str) -> None:
    app = world.daemon("app", CONFIG)
    new = package({CONFIG: "one\n", "/etc/app/d/more": "more\n"}, app)
    steps: list[tuple[str, str]] = []
    with line_to(world, folder) as line:
        order = ordered(new, actions=restarting("app"))
        done = talk(line, lambda hello: order, lambda step, state: steps.append((step, state)))
    assert done is not None
    assert (done.outcome.result, done.outcome.restarted) == ("ok", ("app",))
    assert done.outcome.changed == (CONFIG, "/etc/app/d/more")
    assert ("restart app", "begun") in steps
    assert ("check app", "done") in steps
    assert world.runs_with("app") == "one\n"
    assert read_installed(world.place()) == new
    assert deploy(world, new, folder, actions=restarting("app")).outcome.result == "unchanged"


def test_the_node_tells_what_stands(world: World) -> None:
    before = greeted(world)
    assert (before.commit, before.digest, before.report, before.agent) == (None, None, None, "")
    assert standing(world.root) == {}
    assert not any(world.root.iterdir())
    deploy(world, package({CONFIG: "one\n"}))
    found = greeted(world)
    assert (found.commit, found.digest) == ("a" * 40, "a" * 64)
    assert found.report is not None
    assert found.report.result == "ok"
    assert found.host == os.uname().nodename


def test_only_what_changed_travels(world: World) -> None:
    """Per file that stays 8 bytes, and once the program."""
    chance = random.Random(1)
    files = {f"/etc/app/{number}": chance.randbytes(500).hex() for number in range(200)}
    params = {"Setting": chance.randbytes(5000).hex()}
    first = deploy(world, package(files, params=params))
    assert first.sent > 100_000 + len(program().squeezed)
    again = deploy(world, package(files, params=params))
    assert again.sent < 200 * 11 + 400
    changed = {**files, "/etc/app/7": chance.randbytes(500).hex()}
    second = deploy(world, package(changed, params=params, commit="b"))
    assert second.outcome.changed == ("/etc/app/7",)
    assert again.sent + 500 < second.sent < again.sent + 1000
    assert max(again.received, second.received) < 1000


def test_contents_that_stand_do_not_travel(world: World) -> None:
    text = random.Random(2).randbytes(50_000).hex()
    world.write("/etc/app/big", text)
    done = deploy(world, package({"/etc/app/big": text, "/etc/app/new": "x"}))
    assert done.outcome.changed == ("/etc/app/new",)
    assert done.sent < len(program().squeezed) + 1000
    moved = deploy(world, package({"/etc/app/elsewhere": text}, commit="b"))
    assert moved.sent < 1000
    assert world.read("/etc/app/elsewhere") == text


def test_binary_files_travel_too(world: World) -> None:
    content = bytes(range(256)) * 5
    assert deploy(world, package({"/etc/b": made_file("/etc/b", content)})).outcome.result == "ok"
    assert (world.root / "etc/b").read_bytes() == content


def test_empty_files_and_packages_too(world: World) -> None:
    assert deploy(world, package({"/etc/a": "", "/etc/b": ""})).outcome.changed == ("/etc/a", "/etc/b")
    assert deploy(world, package({"/etc/a": "", "/etc/b": ""})).outcome.result == "unchanged"
    assert deploy(world, package({}, commit="b")).outcome.removed == ("/etc/a", "/etc/b")


def test_who_orders_nothing_touches_nothing(world: World) -> None:
    world.write("/etc/app/x", "x")
    before = standing(world.root)
    greeted(world)
    assert standing(world.root) == before
    assert not world.state("").exists()


def test_a_failed_check_takes_it_back(world: World) -> None:
    good = Subsystem("app", restart=("/bin/true",), check=Check(("/bin/true",)))
    deploy(world, package({CONFIG: "one\n"}, good))
    bad = good._replace(check=Check(("/bin/sh", "-c", "echo it is sick; exit 7")))
    done = deploy(world, package({CONFIG: "two\n"}, bad, commit="b"), actions=restarting("app"))
    assert (done.outcome.result, done.outcome.step, done.outcome.exit) == ("reverted", "check app", 7)
    assert "it is sick" in done.outcome.output
    assert world.read(CONFIG) == "one\n"
    found = greeted(world)
    assert found.commit == "a" * 40
    assert found.report is not None
    assert found.report.result == "reverted"


def test_what_the_node_cannot_take_is_refused(world: World) -> None:
    (world.root / "etc/app").mkdir(parents=True)
    (world.root / "etc/app/app.conf").mkdir()
    done = deploy(world, package({CONFIG: "one\n"}))
    assert done.outcome.result == "refused"
    assert "folder is at" in done.outcome.output
    never = deploy(world, package({"/etc/gitcfg/agent.toml": "x"}))
    assert (never.outcome.result, "policy" in never.outcome.output) == ("refused", True)


def test_decide_hears_what_is_in_force(world: World) -> None:
    deploy(world, package({CONFIG: "one\n"}))
    heard: list[Hello] = []
    with line_to(world) as line:
        talk(line, lambda hello: heard.append(hello), lambda step, state: None)
    assert [one.commit for one in heard] == ["a" * 40]


def test_a_damaged_record_is_kept_aside_and_all_is_installed_anew(world: World) -> None:
    deploy(world, package({CONFIG: "one\n"}))
    world.state("installed.json").write_text("{")
    assert "damaged" in greeted(world).problem
    done = deploy(world, package({CONFIG: "two\n"}, commit="b"))
    assert done.outcome.result == "ok"
    assert "is renamed to installed.json.damaged-" in done.outcome.output
    assert greeted(world).commit == "b" * 40


def test_a_damaged_journal_is_kept_aside_too(world: World) -> None:
    deploy(world, package({CONFIG: "one\n"}))
    world.state("journal").write_text("nothing\nthat a journal says\n")
    assert greeted(world).interrupted
    done = deploy(world, package({CONFIG: "two\n"}, commit="b"))
    assert done.outcome.result == "ok"
    assert "is renamed to journal.damaged-" in done.outcome.output
    assert world.read(CONFIG) == "two\n"


def test_the_program_is_the_same_bytes_everywhere() -> None:
    found = program()
    assert hashlib.sha256(found.text).hexdigest() == found.key
    program.cache_clear()
    assert program() == found
    assert str(Path(__file__).parent.parent).encode() not in found.text


def test_steps_that_nobody_asked_for_do_not_run(world: World) -> None:
    app = Subsystem("app", restart=("/bin/false",), reload=("/bin/false",))
    assert deploy(world, package({CONFIG: "one\n"}, app), actions=Actions()).outcome.result == "ok"
