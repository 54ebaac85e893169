"""kill -9 at any moment: the next run ends in one of two configurations, whole, and tells what came of it."""

import json
import random
import subprocess

import pytest

from tests.agent.site import CONFIG, Site, awaited
from tests.seeds import many


@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.slow) for seed in many(1, 2))])
def test_killed_at_random_moments(site: Site, seed: int) -> None:
    chance = random.Random(seed)
    site.configure('interval = "1s"\nreach = "0s"')
    site.offer("0\n", "a")
    site.accept()
    assert site.once().returncode == 0
    texts = ["0\n"]
    for number in range(1, 21):
        texts.append(f"{number} {'bad' if chance.random() < 0.3 else 'good'}\n")
        _offer(site, number, texts[-1])
        _killed(site, chance.uniform(0.1, 0.9))
        assert site.world.read(CONFIG) in texts
    _settled(site)


def _offer(site: Site, number: int, text: str) -> str:
    made = site.package(text, "a")._replace(commit=f"{number:040x}", digest=f"{number:064x}")
    site.book.offer(made, reload=["app"])
    return made.commit


def _killed(site: Site, after: float) -> None:
    started = site.start("run", "--once")
    try:
        started.wait(after)
    except subprocess.TimeoutExpired:
        started.kill()
    started.communicate()


def _settled(site: Site) -> None:
    """The record, the file and the daemon agree, and the server has heard of it."""
    last = _offer(site, 100, "last\n")
    awaited(lambda: site.once().returncode == 0)
    record = json.loads(site.world.state("installed.json").read_text())
    (file,) = record["package"]["files"].values()
    assert file["content"] == site.world.read(CONFIG) == site.world.runs_with("app") == "last\n"
    assert site.book.checkins[-1]["running"]["commit"] == last
    told = [said["result"] for said in site.book.checkins if said["result"]]
    assert (told[-1]["commit"], told[-1]["outcome"]) == (last, "ok")
    assert {outcome for _, outcome in site.book.results} <= {"ok", "reverted", "unchanged"}
    assert not site.world.state("journal").exists()
    names = {path.name for path in site.world.state(".").iterdir()}
    assert names <= {"installed.json", "report.json", "lock", "agent.json", "agent.lock", "node.key", "kept"}


def test_a_result_whose_telling_died_is_told_by_the_next_run(site: Site) -> None:
    site.configure('reach = "0s"')
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    site.offer("two\n", "b")
    daemon = site.start()
    awaited(lambda: site.world.runs_with("app") == "two\n")
    daemon.kill()
    daemon.communicate()
    awaited(lambda: site.once().returncode in (0, 3))
    assert site.book.results[-1][0] == "b"
    assert site.book.results[-1][1] in ("ok", "reverted")
