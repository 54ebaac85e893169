"""What `gitcfg-agent status` tells, to programs and to people."""

import json
import os
import re
import subprocess
import sys
from typing import Any

import pytest

from tests.agent.site import CONFIG, PROGRAM, ROOT, Site, awaited


def told(site: Site) -> dict[str, Any]:
    """As a program reads it."""
    done = site.agent("status", "-o", "json")
    assert (done.returncode, done.stderr) == (0, "")
    said: dict[str, Any] = json.loads(done.stdout)
    return said


def text(site: Site) -> str:
    """As people read it."""
    return site.agent("status").stdout


def test_a_node_that_was_never_run(site: Site) -> None:
    said = told(site)
    assert (said["schema"], said["node"], said["servers"]) == ("gitcfg.status/1", "n1", [site.url])
    empty = ("server", "contact", "problem", "next", "running", "last", "failure", "under_way")
    assert {said[key] for key in empty} == {None}
    assert (said["pending"], said["unheard"], said["drift"], said["clock_offset"]) == (False, 0, [], 0.0)
    assert "contact   never\n" in text(site)


def test_a_pending_node(site: Site) -> None:
    assert site.once().returncode == 4
    said = told(site)
    assert (said["pending"], said["problem"]["kind"], said["server"]) == (True, "pending", site.url)
    assert said["fingerprint"] in site.agent("key").stderr
    assert abs(said["contact"] - said["problem"]["at"]) < 5
    assert "gitcfg node accept n1" in text(site)
    site.offer("one\n", "a")
    site.accept()
    again = site.once()
    assert "This node's key is accepted now." in again.stderr
    assert "answers correctly again" not in again.stderr
    assert (told(site)["pending"], told(site)["problem"]) == (False, None)


def test_what_runs_and_what_came_of_it(site: Site) -> None:
    made = site.offer("one\n", "a")
    site.accept()
    site.once()
    said = told(site)
    assert said["running"]["since"] > 0
    assert {**said["running"], "since": 0} == {
        "commit": made.commit,
        "digest": made.digest,
        "since": 0,
        "state": "active",
    }
    assert (said["last"]["commit"], said["last"]["outcome"]) == (made.commit, "ok")
    bad = site.offer("bad\n", "b")
    site.once()
    said = told(site)
    assert said["running"]["commit"] == made.commit
    assert (said["last"]["outcome"], said["last"]["step"]) == ("reverted", "reload app")
    assert said["failure"] == {
        "commit": bad.commit,
        "digest": bad.digest,
        "at": said["failure"]["at"],
        "tries": 1,
    }
    assert re.search(r"last      b{10} reverted reload app, 20\d\d-", text(site))
    assert "failed    bbbbbbbbbb, once" in text(site)


def test_a_server_that_is_away_and_results_that_nobody_has_heard(site: Site) -> None:
    site.offer("one\n", "a")
    site.accept()
    site.once()
    site.world.write(CONFIG, "by hand\n")
    site.configure(server="http://127.0.0.1:9")
    assert site.once().returncode == 5
    said = told(site)
    assert (said["problem"]["kind"], said["pending"]) == ("unreachable", False)
    assert said["drift"] == [{"path": CONFIG, "kind": "changed"}]
    assert said["server"] == site.url
    assert f"drift     changed {CONFIG}\n" in text(site)
    assert "problem   http://127.0.0.1:9 did not answer" in text(site)
    site.configure('drift = "repair"', server="http://127.0.0.1:9")
    site.once()
    assert told(site)["drift"] == []


def test_an_answer_that_is_not_believed(site: Site) -> None:
    site.accept()
    site.offer("one\n", "a")
    site.book.fault = lambda handler, reply: (200, {}, b"{}")
    assert site.once().returncode == 4
    assert (told(site)["problem"]["kind"], told(site)["contact"]) == ("untrusted", None)


def test_when_the_daemon_asks_next(site: Site) -> None:
    site.configure('interval = "1h"')
    site.offer("one\n", "a")
    site.accept()
    site.start()
    awaited(lambda: ("a", "ok") in site.book.results)
    awaited(lambda: told(site)["next"])
    said = told(site)
    assert 3000 < said["next"] - said["contact"] < 4200
    assert "next      20" in text(site)


def test_a_clock_that_is_off(site: Site) -> None:
    site.book.offset = -3600.0
    site.offer("one\n", "a")
    site.accept()
    site.once()
    assert told(site)["clock_offset"] == pytest.approx(-3600, abs=3)
    assert "ahead of the server's" in text(site)


def test_the_documentation_has_every_key(site: Site) -> None:
    site.offer("bad\n", "b")
    site.accept()
    site.once()
    page = (ROOT / "docs/agent.md").read_text()
    table = page.partition("## The output of `status`")[2].partition("\n## ")[0]
    assert set(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE)) == set(told(site))


@pytest.mark.parametrize("words", [("-o", "yaml"), ("-o",)])
def test_another_output_is_wrong_usage(site: Site, words: tuple[str, ...]) -> None:
    assert site.agent("status", *words).returncode == 2


@pytest.mark.parametrize("content", ["x", '{"schema": "gitcfg.installed/9"}'])
def test_all_the_rest_is_told_beside_a_record_that_cannot_be_read(site: Site, content: str) -> None:
    site.offer("one\n", "a")
    site.accept()
    site.once()
    site.world.state("installed.json").write_text(content)
    said = told(site)
    assert (said["running"], said["last"]["outcome"], said["server"]) == (None, "ok", site.url)
    assert len(said["unreadable"]) == 1
    assert f"problem   {said['unreadable'][0]}\n" in text(site)
    assert "runs      unknown\n" in text(site)
    assert "Move it away" not in text(site)
    assert ("damaged" in text(site)) == (content == "x")
    assert site.world.state("installed.json").read_text() == content


def test_all_the_rest_is_told_beside_a_damaged_memory(site: Site) -> None:
    made = site.offer("one\n", "a")
    site.accept()
    site.once()
    site.world.state("agent.json").write_text("x")
    said = told(site)
    assert (said["running"]["commit"], said["last"]) == (made.commit, None)
    assert "problem   agent.json in the state folder is damaged" in text(site)
    assert site.world.state("agent.json").read_text() == "x"


@pytest.mark.parametrize("words", [("status", "-o", "json"), ("key",), ("--version",), ("status", "--help")])
def test_nobody_reads_on(site: Site, words: tuple[str, ...]) -> None:
    """As with `| true`: nothing is said of it."""
    site.agent("key")
    reads, writes = os.pipe()
    os.close(reads)
    root = [] if words[-1].startswith("--") else ["--root", str(site.world.root)]
    buffered = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    line = [sys.executable, "-c", PROGRAM, *words, *root]
    done = subprocess.run(line, stdout=writes, stderr=subprocess.PIPE, cwd=ROOT, env=buffered)
    os.close(writes)
    assert (done.returncode, done.stderr) == (141, b"")
