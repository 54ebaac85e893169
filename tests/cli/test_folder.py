"""`render --out`: what is told of a folder, and with which exit code."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from gitcfg.cli.main import run

GITCFG = [sys.executable, "-m", "gitcfg"]


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """300 nodes that get one file each."""
    for folder in ("groups", "nodesets"):
        (tmp_path / "pool" / folder).mkdir(parents=True)
    (tmp_path / "pool/gitcfg.yaml").write_text("format: 1\n")
    (tmp_path / "pool/nodesets/s.yaml").write_text("nodes: n[001-300]\n")
    say(tmp_path / "pool", "one")
    subprocess.run(["git", "init", "--quiet", str(tmp_path / "pool")], check=True)
    monkeypatch.setenv("GITCFG_REPO", str(tmp_path / "pool"))
    return tmp_path / "pool"


def say(pool: Path, text: str) -> None:
    (pool / "groups/default.yaml").write_text(f"files: {{/etc/motd: {{text: {text}}}}}\n")


def test_what_is_in_the_way_is_told_once_for_all_nodes(
    pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["render", "--all", "--out", str(out)]) == 0
    for number in range(1, 251):
        place = out / f"n{number:03}/etc/motd"
        place.unlink()
        place.mkdir() if number <= 100 else place.symlink_to(pool)
    say(pool, "two")
    capfd.readouterr()
    assert run(["render", "--all", "--out", str(out)]) == 4
    told = capfd.readouterr()
    assert told.out == "300 nodes: 50 files written.\n"
    assert told.err.splitlines() == [
        "error: Cannot write 250 files; the others are up to date.",
        f"hint: {out}/n[001-100]/etc/motd is a folder, where a file is needed.",
        f"hint: {out}/n[101-250]/etc/motd is a symbolic link, where a file is needed.",
    ]


def test_what_was_changed_by_hand_and_is_no_longer_meant_is_told(
    pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["render", "--all", "--out", str(out)]) == 0
    for number in (7, 8):
        (out / f"n00{number}/etc/motd").write_text("mine")
    (pool / "groups/default.yaml").write_text("description: No files.\n")
    capfd.readouterr()
    assert run(["render", "--all", "--out", str(out)]) == 0
    told = capfd.readouterr()
    assert told.out == "300 nodes: 298 files removed.\n"
    assert f"note: {out}/n[007-008]/etc/motd is obsolete, but was changed" in told.err


def test_a_manifest_that_is_not_whole_is_told(
    pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    assert run(["render", "--all", "--out", str(out)]) == 0
    with (out / ".gitcfg/manifest").open("ab") as manifest:
        manifest.truncate(1000)
    capfd.readouterr()
    assert run(["render", "--all", "--out", str(out)]) == 0
    told = capfd.readouterr()
    assert told.out == "300 nodes: nothing to do, 300 files as before.\n"
    assert (
        told.err
        == f"note: {out}/.gitcfg/manifest is incomplete: gitcfg compared all files, and removed none.\n"
    )


def test_a_template_that_fails_on_some_nodes_takes_nothing_away(
    pool: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (pool / "templates").mkdir()
    (pool / "templates/t").write_text("whole")
    (pool / "groups/default.yaml").write_text("files: {/etc/t: {template: t}}\n")
    out = tmp_path / "out"
    assert run(["render", "n[001-003]", "--out", str(out)]) == 0
    (pool / "templates/t").write_text('{{ 1 // (node.name == "n001") }}')
    capfd.readouterr()
    assert run(["render", "n[001-003]", "--out", str(out)]) == 1
    told = capfd.readouterr()
    assert f"note: Cannot render {out}/n[002-003]/etc/t: its template fails" in told.err
    assert [(out / f"n00{number}/etc/t").read_text() for number in (1, 2, 3)] == ["1", "whole", "whole"]


def test_only_all_nodes_at_once_tell_who_is_gone(pool: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    assert run(["render", "--all", "--out", str(out)]) == 0
    (pool / "nodesets/s.yaml").write_text("nodes: n[001-002]\n")
    for words in (["n001"], ["@default"], ["--all", "--where", "true"]):
        assert run(["render", *words, "--out", str(out)]) == 0
        assert len(os.listdir(out)) == 301
    assert run(["render", "--all", "--out", str(out)]) == 0
    assert sorted(os.listdir(out)) == [".gitcfg", "n001", "n002"]


@pytest.mark.parametrize(("how", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9), (signal.SIGTERM, -15)])
def test_a_run_that_is_ended_leaves_no_process_and_the_next_one_is_right(
    pool: Path, tmp_path: Path, how: signal.Signals, code: int
) -> None:
    out = tmp_path / "out"
    slow = (
        "import sys, time\nfrom gitcfg.output import files as places\nput = places.write_file\n"
        "places.write_file = lambda *words: (time.sleep(0.01), put(*words))[1]\n"
        "from gitcfg.cli.main import run\nsys.exit(run(sys.argv[1:]))"
    )
    words = [sys.executable, "-c", slow, "render", "--all", "--out", str(out)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as process:
        while not (out / "n030").exists():
            assert process.poll() is None
            time.sleep(0.01)
        process.send_signal(how)
        process.communicate(timeout=30)  # the pipe ends with the last of its workers
        assert process.returncode == code
    assert len(os.listdir(out)) < 301
    assert subprocess.run([*GITCFG, "render", "--all", "--out", str(out)], check=False).returncode == 0
    assert {place.read_text() for place in out.glob("n*/etc/motd")} == {"one"}
    assert len(os.listdir(out)) == 301
    assert os.listdir(out / ".gitcfg/new") == []
