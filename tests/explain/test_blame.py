"""`--blame`: the commit, author and date of each step, list entry and file entry that is shown."""

import json
import subprocess
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.published import judge
from tests.explain.pool import POOL

COMMITS: tuple[tuple[str, str, str, dict[str, str]], ...] = (
    ("Ada", "2026-01-02T03:04:05+01:00", "Open the pool", {}),
    (
        "Ben",
        "2026-02-03T04:05:06+00:00",
        "Give exec2 cores",
        {"nodes/exec2.yaml": "params: {NUM_CPUS: 16}\n"},
    ),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The pool in two commits, and a change that is not committed."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    for author, date, subject, changed in COMMITS:
        _write(tmp_path, changed or POOL)
        who = ["-c", f"user.name={author}", "-c", f"user.email={author}@example.org"]
        subprocess.run(["git", "add", "--all"], cwd=tmp_path, check=True)
        commit = ["git", *who, "commit", "--quiet", f"--date={date}", "-m", subject]
        subprocess.run(commit, cwd=tmp_path, check=True)
    _write(tmp_path, {"groups/exec.yaml": "features: [Execute]\nparams: {NUM_CPUS: 5}\n"})
    return tmp_path


def _write(folder: Path, files: dict[str, str]) -> None:
    for path, text in files.items():
        place = folder / path
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)


def asked(folder: Path, capfd: pytest.CaptureFixture[str], *words: str) -> str:
    assert run(["-C", str(folder), "--today", "2026-01-01", "explain", *words]) == 0
    return capfd.readouterr().out


def test_each_step_says_who_made_it_so(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = asked(folder, capfd, "exec2", "NUM_CPUS", "--all", "--blame")
    lines = [line.split() for line in text.splitlines() if line.strip().startswith(("by ", "not "))]
    hashes = subprocess.run(
        ["git", "log", "--format=%h", "--abbrev=10"], cwd=folder, check=True, capture_output=True, text=True
    ).stdout.split()
    assert lines == [
        ["not", "committed", "yet"],
        ["by", hashes[0], "2026-02-03", "Ben", "Give", "exec2", "cores"],
    ]


def test_an_overview_says_it_in_columns(
    folder: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    header, *rows = asked(folder, capfd, "exec2", "--blame").splitlines()[3:]
    assert header.split()[-3:] == ["commit", "date", "author"]
    found = {row.split()[0]: row.split()[-2:] for row in rows}
    assert found["NUM_CPUS"] == ["2026-02-03", "Ben"]
    assert found["CONDOR_HOST"] == ["2026-01-02", "Ada"]


def test_records_hold_the_whole_commit(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    text = asked(folder, capfd, "exec2", "NUM_CPUS", "--blame", "-o", "json", "--at", "HEAD")
    judge(text, "json")
    (step,) = json.loads(text)["params"]["NUM_CPUS"]["steps"]
    assert step["blame"]["commit"] == json.loads(text)["commit"]
    del step["blame"]["commit"]
    assert step["blame"] == {
        "author": "Ben",
        "email": "Ben@example.org",
        "date": "2026-02-03T04:05:06+00:00",
        "subject": "Give exec2 cores",
    }


def test_lists_and_files_are_blamed_too(folder: Path, capfd: pytest.CaptureFixture[str]) -> None:
    words = ("--feature", "Execute", "--file", "/etc/motd", "--group", "exec", "--blame", "-o", "json")
    text = asked(folder, capfd, "exec3", *words)
    judge(text, "json")
    feature, file, group = json.loads(text)["answers"]
    found = [*feature["taken"][0]["layers"], *feature["taken"][0]["without"], *file["entries"], group["by"]]
    assert [one["blame"]["author"] for one in found] == ["Ada"] * 4
