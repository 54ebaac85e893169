"""A record or a journal that cannot be read: the server hears of it, and the node becomes whole again."""

import json
import zlib
from pathlib import Path

import pytest

from gitcfg.agent.rounds import start_agent
from gitcfg.install.outcome import Damaged, InstallError
from gitcfg.install.record import UNKNOWN, read_installed, set_damaged_aside
from gitcfg.install.store import Place
from tests.agent.site import CONFIG, Site
from tests.install.world import World, package


def ready(site: Site) -> None:
    """A node that runs its first configuration."""
    site.offer("one\n", "a")
    site.accept()
    assert site.once().returncode == 0
    site.book.checkins.clear()
    site.world.log("app")


def aside(site: Site, name: str) -> list[Path]:
    """What is kept of a damaged file."""
    return sorted(site.world.state(".").glob(f"{name}.damaged-*"))


@pytest.mark.parametrize(
    "content", [b"", b"\xff\x00", b"[" * 100_000, b"[]", b'{"schema": "gitcfg.installed/1"}']
)
def test_a_damaged_record_is_told_and_everything_installed_anew(site: Site, content: bytes) -> None:
    ready(site)
    site.world.state("installed.json").write_bytes(content)
    site.book.asked["a" * 40] = {"restart": ["app"]}
    done = site.once()
    assert done.returncode == 0, done.stderr
    assert site.book.results == [("0", "failed"), ("a", "ok")]
    first, last = site.book.checkins[0], site.book.checkins[-1]
    assert first["running"] == {"commit": None, "digest": None, "since": None}
    assert first["result"]["step"] == "recover"
    assert "installed.json in the state folder" in first["result"]["output"]
    assert last["running"]["commit"] == "a" * 40
    assert site.world.log("app") == ["restart"]
    assert [one.read_bytes() for one in aside(site, "installed.json")] == [content]
    assert done.stderr.count("installed.json in the state folder") == 1
    assert site.once().returncode == 0
    assert len(site.book.results) == 2


def test_a_record_that_is_a_folder(site: Site) -> None:
    ready(site)
    record = site.world.state("installed.json")
    record.unlink()
    record.mkdir()
    assert site.once().returncode == 0
    assert site.book.results == [("0", "failed"), ("a", "ok")]


def test_a_record_of_a_later_version_is_left_and_told_once(site: Site) -> None:
    ready(site)
    site.world.state("installed.json").write_text('{"schema": "gitcfg.installed/9"}')
    site.offer("two\n", "b")
    assert [site.once().returncode for _ in range(3)] == [4, 4, 4]
    assert site.book.results == [("0", "failed"), ("b", "refused")]
    assert site.book.checkins[-1]["running"]["commit"] is None
    assert site.world.runs_with("app") == "one\n"
    assert aside(site, "installed.json") == []
    said = site.book.checkins[0]["result"]["output"]
    assert "is gitcfg.installed/9, written by a later gitcfg" in said
    assert "Move it away" not in said


def test_a_damaged_journal_of_a_commit_that_is_in_force(site: Site) -> None:
    """Its files may stand half exchanged, so that what the record says is not what is in force."""
    ready(site)
    site.world.state("journal").write_bytes(b"00000000 {}\n00000000 {}\n")
    site.world.state("backup").mkdir()
    site.world.write(CONFIG, "half\n")
    site.book.asked["a" * 40] = {"restart": ["app"]}
    done = site.once()
    assert done.returncode == 0, done.stderr
    assert site.book.results == [("0", "failed"), ("a", "ok")]
    assert site.book.checkins[0]["running"]["commit"] is None
    said = site.book.checkins[0]["result"]["output"]
    assert "damaged in line 1" in said
    assert "the backup to backup.damaged-" in said
    assert "may be left" not in said
    assert (site.world.log("app"), site.world.runs_with("app")) == (["restart"], "one\n")
    assert len(aside(site, "journal")) == len(aside(site, "backup")) == 1


def test_what_cannot_be_kept_aside_is_told_all_the_same(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    from gitcfg.agent.rounds import run_once

    ready(site)
    site.world.state("installed.json").write_bytes(b"x")

    def refused(*said: object) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("gitcfg.agent.update.set_damaged_aside", refused)
    place = Place(str(site.world.root))
    agent = start_agent(place.root, "", place, lambda line: None, "0")
    assert run_once(agent) == 4
    agent.client.close()
    assert [outcome for _, outcome in site.book.results] == ["failed", "refused"]
    assert "Read-only file system" in site.book.checkins[0]["result"]["output"]


def test_files_of_the_record_are_still_known_after_a_damaged_journal(world: World) -> None:
    """They go when nothing means them any more; those that only the half of an installation had are named."""
    old, new = (
        package({CONFIG: "x", "/etc/app/old": "x"}),
        package({CONFIG: "y", "/etc/app/new": "x"}, commit="b"),
    )
    assert world.install(old).result == "ok"
    record = json.loads(world.state("installed.json").read_text())
    assert world.install(new).result == "ok"
    world.state("installed.json").rename(world.state("next.json"))
    world.state("installed.json").write_text(json.dumps(record))
    world.state("journal").write_bytes(b"x\n" * 2)
    assert "/etc/app/new." in set_damaged_aside(world.place(), "T")
    assert read_installed(world.place()) is None
    assert json.loads(world.state("installed.json").read_text())["package"]["commit"] == UNKNOWN
    world.write("/etc/app/old", "x")
    assert world.install(package({CONFIG: "z"}, commit="c")).result == "ok"
    assert not (world.root / "etc/app/old").exists()
    assert set_damaged_aside(world.place(), "T") == ""


def test_what_is_whole_is_left(world: World) -> None:
    assert set_damaged_aside(world.place(), "T") == ""
    assert world.install(package({CONFIG: "x"})).result == "ok"
    before = world.state("installed.json").read_bytes()
    other = b'{"begin": "x", "schema": "gitcfg.journal/9"}'
    world.state("journal").write_bytes(b"%08x %s\n" % (zlib.crc32(other), other))
    assert set_damaged_aside(world.place(), "T") == ""
    assert world.state("installed.json").read_bytes() == before
    assert world.state("journal").exists()


def test_a_later_record_is_not_a_damaged_one(world: World) -> None:
    assert world.install(package({CONFIG: "x"})).result == "ok"
    world.state("installed.json").write_text('{"schema": "gitcfg.installed/2"}')
    with pytest.raises(InstallError) as raised:
        read_installed(world.place())
    assert not isinstance(raised.value, Damaged)


def test_an_installation_that_died_is_told_beside_a_damaged_record(site: Site) -> None:
    ready(site)
    line = json.dumps({"begin": "x", "commit": "b" * 40, "digest": "b" * 64, "schema": "gitcfg.journal/1"})
    site.world.state("journal").write_bytes(b"%08x %s\n" % (zlib.crc32(line.encode()), line.encode()))
    site.world.state("installed.json").write_bytes(b"x")
    assert site.once().returncode == 0
    assert site.book.results == [("b", "reverted"), ("0", "failed"), ("a", "ok")]


def test_no_folder_is_named_that_is_not_there(world: World) -> None:
    assert world.install(package({CONFIG: "x"})).result == "ok"
    world.state("journal").write_bytes(b"x\n" * 2)
    said = set_damaged_aside(world.place(), "T")
    assert "journal.damaged-T, and everything is installed again." in said
    assert "backup" not in said
    assert "may be left" not in said


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"[" * 100_000, b'{"schema": "gitcfg.memory/1", "running": 5}']
)
def test_a_damaged_memory_is_kept_and_told(site: Site, content: bytes) -> None:
    ready(site)
    site.world.state("agent.json").write_bytes(content)
    done = site.once()
    assert done.returncode == 0, done.stderr
    assert [one.read_bytes() for one in aside(site, "agent.json")] == [content]
    assert done.stderr.count("agent.json in the state folder is damaged") == 1
    assert site.book.results == [("a", "ok")]
    result = site.book.checkins[0]["result"]
    assert result["step"] == "recover"
    assert "results that were not reported" in result["output"]
    assert "agent.json" not in site.once().stderr


def test_a_memory_that_is_a_folder(site: Site) -> None:
    ready(site)
    site.world.state("agent.json").unlink()
    site.world.state("agent.json").mkdir()
    assert site.once().returncode == 0
    assert len(aside(site, "agent.json")) == 1
    assert site.world.state("agent.json").is_file()


@pytest.mark.parametrize("content", [b"", b"[]"])
def test_a_damaged_report_is_kept_and_told(site: Site, content: bytes) -> None:
    ready(site)
    site.world.state("report.json").write_bytes(content)
    done = site.once()
    assert done.returncode == 0, done.stderr
    assert [one.read_bytes() for one in aside(site, "report.json")] == [content]
    assert "report.json in the state folder is damaged" in done.stderr
    assert "report.json" in site.book.checkins[0]["result"]["output"]
    assert "report.json" not in site.once().stderr
