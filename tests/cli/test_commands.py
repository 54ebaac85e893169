"""Commands on repositories, word for word: cases/commands and cases/podim hold what is typed and printed.

A case's sections: `=== PATH` a file of the repository (`(gone)` takes it away); `=== run ARGUMENTS` a
command (`commit SUBJECT` commits everything, a day after the last one; `push WHO` pushes it as somebody to
a server that judges pushes) with its exit code at the end (`-> 1`); then what it prints, stdout first, lines
of stderr behind `! `, and of a push what the server says. `{}` stands for the repository's folder, `{commit}`
for the last commit. UPDATE_CASES=1 writes down what is printed now: read it before you
commit it.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.published import judge
from tests.gate.server import Answer, Server

CASES = Path(__file__).parent.parent / "cases"
UPDATE = bool(os.environ.get("UPDATE_CASES"))
# Not everybody has HTCondor's parser: what is said then is a test of its own (tests/parsers/test_cli.py).
NOT_INSTALLED = re.compile(rb"^note: HTCondor's own parser .*\nhint: .*\n", re.MULTILINE)


def sections(text: str) -> Iterator[tuple[str, str]]:
    for part in re.split(r"^=== ", text, flags=re.MULTILINE)[1:]:
        heading, _, body = part.partition("\n")
        yield heading, body


def git(folder: Path, *words: str, day: int = 1) -> str:
    who = ["-c", "user.name=n", "-c", "user.email=e@example.org", "-c", "init.defaultBranch=main"]
    date = f"2026-01-{day:02}T12:00:00+0000"  # so that the same commits have the same ids
    return subprocess.run(
        ["git", *who, *words],
        cwd=folder,
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date},
    ).stdout


def said(folder: Path, stdout: bytes, stderr: bytes) -> str:
    told = NOT_INSTALLED.sub(b"", stderr).decode()
    lines = stdout.decode() + "".join(f"! {line}" for line in told.splitlines(keepends=True))
    commit = git(folder, "rev-parse", "HEAD").strip() if (folder / ".git/refs/heads/main").exists() else ""
    lines = lines.replace(commit, "{commit}") if commit else lines
    return lines.replace(str(folder), "{}")


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository without files, the folder that commands are run in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITCFG_TODAY", "2026-01-01")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.setenv("GITCFG_IDENTITY", str(tmp_path / "nobody's"))  # not that of whoever runs this
    for name in ("NO_COLOR", "FORCE_COLOR", "GITCFG_REPO", "GITCFG_COLOR"):
        monkeypatch.delenv(name, raising=False)
    git(tmp_path, "init", "--quiet")
    return tmp_path


@pytest.mark.parametrize("path", sorted(CASES.glob("commands/*.txt")), ids=lambda path: path.stem)
def test_commands_print_what_the_case_says(
    path: Path, empty: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    follow(path, empty, capfdbinary)


@pytest.mark.parametrize("path", sorted(CASES.glob("podim/*.txt")), ids=lambda path: path.stem)
def test_rules_mean_what_the_case_says(
    path: Path, empty: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """What the listings of PoDIM (Delaet and Joosen, LISA 2007) say, each in rules of gitcfg's."""
    follow(path, empty, capfdbinary)


def pushed(folder: Path, who: str) -> Answer:
    """What a server of the repository's own says, which is there from the first push on."""
    server = Server(folder / ".git/server")
    git(folder, "config", "remote.origin.url", server.folder.as_uri())
    return server.push(folder, "HEAD:main", who=who)


def follow(path: Path, folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    """Run the commands of a case. AssertionError: something else is printed."""
    text = path.read_text()
    preface = text.partition("=== ")[0]
    told, days = [preface], count(1)
    for heading, body in sections(text):
        if not heading.startswith("run "):
            place = folder / heading
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(body.rstrip("\n") + "\n")
            if body == "(gone)\n":
                place.unlink()
            told.append(f"=== {heading}\n{body}")
            continue
        command = heading.removeprefix("run ").rpartition(" -> ")[0] or heading.removeprefix("run ")
        if command.partition(" ")[0] == "commit":
            git(folder, "add", "--all")
            git(folder, "commit", "--quiet", "-m", command.partition(" ")[2] or "commit", day=next(days))
            told.append(f"=== {heading}\n")
            continue
        if command.startswith("push "):
            answer = pushed(folder, command.removeprefix("push "))
            lines = "".join(f"{line}\n" for line in answer.said)
            told.append(f"=== run {command} -> {int(not answer.taken)}\n{said(folder, lines.encode(), b'')}")
            continue
        code = run(shlex.split(command))
        out = capfdbinary.readouterr()
        told.append(f"=== run {command} -> {code}\n{said(folder, out.out, out.err)}")
        form = re.search(r"-o (json|jsonl|yaml)\b", command)
        if form and out.out:
            judge(out.out.decode(), form[1])
    if UPDATE:
        path.write_text("".join(told))
    assert "".join(told) == text
