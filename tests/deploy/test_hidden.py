"""Contents of files that hold secrets travel only where they are needed, and are written nowhere else."""

import json
from pathlib import Path

import pytest

from gitcfg.deploy.outcomes import FarError
from gitcfg.deploy.turn import talk
from gitcfg.install.package import Package
from tests.deploy.process import Process, deploy, greeted, line_to, ordered, unheard
from tests.install.world import World, made_file, package

PATH = "/etc/app/password"
SHOWN, TRUE = "password = <secret pool v3>\n", "password = canary-4711-canary\n"
CANARY = b"canary-4711"


def with_secret(commit: str = "a", shown: str = SHOWN) -> Package:
    return package({PATH: made_file(PATH, shown, "0600"), "/etc/app/plain": "x\n"}, commit=commit)


def everywhere(folder: Path) -> list[str]:
    return [str(path) for path in folder.rglob("*") if path.is_file() and CANARY in path.read_bytes()]


def test_they_stand_and_are_in_nothing_of_gitcfgs(world: World) -> None:
    done = deploy(world, with_secret(), hidden={PATH: TRUE})
    assert done.outcome.result == "ok"
    assert world.read(PATH) == TRUE
    assert everywhere(world.root) == [str(world.root) + PATH]
    assert CANARY.decode() not in json.dumps([done.outcome, greeted(world).report])


def test_what_stands_does_not_travel_again(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    deploy(world, with_secret(), hidden={PATH: TRUE})
    sent: list[bytes] = []
    send = Process.send

    def seen(line: Process, data: bytes) -> None:
        sent.append(data)
        send(line, data)

    monkeypatch.setattr(Process, "send", seen)
    assert deploy(world, with_secret(), hidden={PATH: TRUE}).outcome.result == "unchanged"
    assert len(sent) == 1  # the order alone
    world.write(PATH, "by hand\n")
    assert deploy(world, with_secret(), hidden={PATH: TRUE}).outcome.changed == (PATH,)
    assert world.read(PATH) == TRUE
    assert len(sent) == 3  # the order and what is missing


def test_a_new_value_under_the_same_version_is_told_by_its_sum(world: World) -> None:
    deploy(world, with_secret(), hidden={PATH: TRUE})
    done = deploy(world, with_secret("b"), hidden={PATH: TRUE.replace("4711", "4712")})
    assert done.outcome.changed == (PATH,)
    assert world.read(PATH) == TRUE.replace("4711", "4712")


def test_a_dry_run_knows_them_by_their_sums(world: World) -> None:
    new = with_secret()
    first = deploy(world, new, hidden={PATH: TRUE}, dry=True)
    assert first.differences[PATH].startswith("the content is new (not shown")
    deploy(world, new, hidden={PATH: TRUE})
    assert deploy(world, new, hidden={PATH: TRUE}, dry=True).outcome.result == "unchanged"
    second = deploy(world, with_secret("b"), hidden={PATH: "password = canary-4711-b\n"}, dry=True)
    assert second.outcome.changed == (PATH,)
    assert "not shown" in second.differences[PATH]
    assert CANARY.decode() not in json.dumps([second.differences, second.outcome])


def test_one_that_nobody_handed_along_is_refused(world: World) -> None:
    new = with_secret()
    order = ordered(new)
    order.package["files"][PATH]["sealed"] = None
    with line_to(world) as line:
        done = talk(line, lambda hello: order, unheard)
    assert done is not None
    assert done.outcome.result == "refused"
    assert "does not include its content" in done.outcome.output


def test_none_is_in_the_list_of_processes(world: World) -> None:
    """Nor in the environment; what a step of the installation sees is what anybody could."""
    seen: list[bytes] = []

    def look(step: str, state: str) -> None:
        for process in Path("/proc").glob("[0-9]*"):
            for name in ("cmdline", "environ"):
                try:
                    seen.append((process / name).read_bytes())
                except OSError:
                    continue

    with line_to(world) as line:
        assert talk(line, lambda hello: ordered(with_secret(), hidden={PATH: TRUE}), look)
    assert seen
    assert not any(CANARY in one for one in seen)


def test_a_node_cannot_ask_for_them_in_a_dry_run(world: World) -> None:
    """Whatever runs there: who only looks hands nothing out."""
    from tests.deploy.test_strangers import Scripted, frames, greeting

    line = Scripted([greeting(), frames(3, b"[]"), frames(3, b"[0,1,2]")])
    with pytest.raises(FarError, match="must not have"):
        talk(line, lambda hello: ordered(with_secret(), hidden={PATH: TRUE}, dry=True), unheard)
    assert CANARY not in line.unpacked()
