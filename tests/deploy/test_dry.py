"""A dry run tells what an installation would do, against what really stands, and leaves nothing behind."""

import json
import random
from typing import Any

import pytest

from gitcfg.install.package import Actions, File, Subsystem, file_digest
from tests.deploy.process import deploy, restarting
from tests.install.world import World, made_file, package, standing

CONFIG = "/etc/app/app.conf"
TRUE = ("/bin/true",)


def everything(world: World) -> dict[str, Any]:
    return {str(path): path.read_bytes() if path.is_file() else b"" for path in world.root.rglob("*")}


def test_nothing_is_left_on_a_node_that_had_nothing(world: World) -> None:
    done = deploy(world, package({CONFIG: "one\n"}), dry=True)
    assert done.outcome.result == "ok"
    assert done.outcome.changed == (CONFIG,)
    assert done.differences == {CONFIG: f"--- /dev/null\n+++ {CONFIG} (new)\n@@ -0,0 +1 @@\n+one\n"}
    assert everything(world) == {}


def test_nothing_is_touched_on_one_that_had(world: World) -> None:
    app = Subsystem("app", restart=TRUE, reload=TRUE, validate=("/bin/false",))
    deploy(world, package({CONFIG: "one\n", "/etc/app/gone": "x\n"}, app._replace(validate=())))
    before = everything(world)
    new = package({CONFIG: "two\n", "/etc/app/new": "y\n"}, app, commit="b")
    done = deploy(world, new, dry=True, actions=Actions(reload=("app",)))
    assert everything(world) == before
    assert (done.outcome.changed, done.outcome.removed) == ((CONFIG, "/etc/app/new"), ("/etc/app/gone",))
    assert (done.outcome.restarted, done.outcome.reloaded) == ((), ("app",))
    assert "-one\n+two\n" in done.differences[CONFIG]
    assert f"--- {CONFIG} (on disk)\n" in done.differences[CONFIG]


def test_it_is_told_against_what_stands_and_not_what_was_meant(world: World) -> None:
    new = package({CONFIG: "one\n"})
    deploy(world, new)
    assert deploy(world, new, dry=True).outcome.result == "unchanged"
    world.write(CONFIG, "by hand\n")
    done = deploy(world, new, dry=True)
    assert done.outcome.result == "ok"
    assert "-by hand\n+one\n" in done.differences[CONFIG]


@pytest.mark.parametrize(("stands", "meant"), [(0o600, "0644"), (0o644, "0600"), (0o640, "0640")])
def test_what_not_everybody_may_read_is_never_shown(world: World, stands: int, meant: str) -> None:
    world.write(CONFIG, "alpha-secret\n").chmod(stands)
    done = deploy(world, package({CONFIG: made_file(CONFIG, "beta-secret\n", meant)}), dry=True)
    said = json.dumps([done.differences, done.outcome])
    assert done.outcome.changed == (CONFIG,)
    assert "the content differs (not shown" in said
    assert "alpha" not in said
    assert "beta" not in said


def test_modes_owners_links_and_binary_files_are_told(world: World) -> None:
    world.write("/etc/a", "same\n").chmod(0o600)
    world.write("/etc/b", "x").write_bytes(b"\0\1")
    (world.root / "etc/c").symlink_to("a")
    files = {"/etc/a": made_file("/etc/a", "same\n"), "/etc/b": "text\n", "/etc/c": "text\n"}
    found = deploy(world, package(files), dry=True).differences
    assert found["/etc/a"] == "mode 0600 -> 0644\n"
    assert found["/etc/b"] == "the content differs (from 2 to 5 bytes)\n"
    assert found["/etc/c"].startswith("a link to a\n")


def test_another_name_of_a_file_is_not_shown(world: World) -> None:
    """Who may write the folder could make it another name of anything."""
    path = world.write(CONFIG, "alpha\n")
    (world.root / "elsewhere").hardlink_to(path)
    found = deploy(world, package({CONFIG: "beta\n"}), dry=True).differences
    assert "not shown" in found[CONFIG]
    assert "alpha" not in found[CONFIG]


def test_what_would_be_refused_is_refused(world: World) -> None:
    (world.root / "etc/app/app.conf").mkdir(parents=True)
    done = deploy(world, package({CONFIG: "one\n"}), dry=True)
    assert (done.outcome.result, done.differences) == ("refused", {})


def test_large_differences_are_cut(world: World) -> None:
    text = "".join(f"line {number}\n" for number in range(20_000))
    found = deploy(world, package({CONFIG: text}), dry=True).differences
    assert len(found[CONFIG]) < 20_000
    assert found[CONFIG].endswith("... (the rest is not shown)\n")


def test_of_very_large_files_only_the_size_is_told(world: World) -> None:
    world.write(CONFIG, "x" * (2 << 20))
    found = deploy(world, package({CONFIG: "one\n"}), dry=True).differences
    assert found[CONFIG] == f"the content differs (from {2 << 20} to 4 bytes)\n"


def test_it_tells_of_an_installation_that_died(world: World) -> None:
    deploy(world, package({CONFIG: "one\n"}))
    world.state("journal").write_text("")
    assert "interrupted" in deploy(world, package({CONFIG: "one\n"}), dry=True).outcome.output


@pytest.mark.parametrize("seed", range(6))
def test_what_it_tells_is_what_then_happens(world: World, seed: int) -> None:
    """On random files, subsystems and changes by hand."""
    chance = random.Random(seed)
    deploy(world, some(chance, "a"))
    for path in chance.sample(PATHS, 2):
        world.write(path, f"by hand {chance.random()}\n")
    new = some(chance, "b")
    names = tuple(chance.sample(sorted(new.subsystems), chance.randint(0, len(new.subsystems))))
    before = standing(world.root)
    told = deploy(world, new, dry=True, actions=restarting(*names)).outcome
    assert standing(world.root) == before
    done = deploy(world, new, actions=restarting(*names)).outcome
    assert told._replace(kept=()) == done._replace(kept=())


PATHS = [f"/etc/app/{number}" for number in range(8)]


def some(chance: random.Random, commit: str) -> Any:
    apps = [Subsystem(f"s{number}", restart=TRUE, stop=TRUE) for number in range(4) if chance.random() < 0.7]
    files: dict[str, File] = {}
    for path in chance.sample(PATHS, 5):
        content = f"{chance.randint(0, 3)}\n"
        concerns = {one.name: "restart" for one in apps if chance.random() < 0.3}
        digest = file_digest("0644", "root", "root", content.encode())
        files[path] = File(path, content.encode(), "0644", "root", "root", digest, concerns)
    return package(files, *apps, commit=commit)
