"""The pager in real terminals, with pagers that record what they are given, and with less itself."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.cli.console import pager_command
from tests.cli.terminals import Terminal, plain

GITCFG = [sys.executable, "-m", "gitcfg"]
WITH_LESS = pytest.mark.skipif(shutil.which("less") is None, reason="less is not installed")


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A repository with a mistake, and with more to render than a screen or a pipe holds."""
    folder = tmp_path / "pool"
    for path, text in {
        "gitcfg.yaml": "format: 1\n",
        "nodesets/s.yaml": "nodes: n[1-200]\n",
        "nodes/other.yaml": "groups: [small]\n",
        "groups/small.yaml": "files: {/etc/y: {text: few}}\nfeatures: [Missing]\n",
        "groups/default.yaml": "files: {/etc/x: {text: " + "x" * 1000 + "}}\n",
    }.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """A terminal's environment, with a program `recorder` that keeps what it is given."""
    program = tmp_path / "bin" / "recorder"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ncat > {tmp_path}/given\nsleep 0.2\necho '[read]'\n")
    program.chmod(0o755)
    return {
        "PATH": f"{program.parent}:{os.environ['PATH']}",
        "PYTHONPATH": ":".join(filter(None, sys.path)),
        "TERM": "xterm",
        "HOME": str(tmp_path),
        "GITCFG_TODAY": "2026-01-01",
    }


def shown(words: list[str], environment: dict[str, str], folder: Path) -> tuple[int, str]:
    """What a command leaves on its terminal, and its exit code."""
    with Terminal([*GITCFG, *words], environment, folder) as terminal:
        return terminal.end(), terminal.seen


def given(tmp_path: Path) -> str | None:
    """What the recorder was given; None: it was never started."""
    file = tmp_path / "given"
    return file.read_text() if file.exists() else None


@pytest.mark.parametrize(
    ("asked", "environ", "chosen"),
    [
        ("a -x", {"GITCFG_PAGER": "b", "PAGER": "c"}, "a -x"),
        (None, {"GITCFG_PAGER": "b", "PAGER": "c"}, "b"),
        (None, {"PAGER": "c", "TERM": "dumb"}, "c"),
        ("", {"GITCFG_PAGER": "b", "PAGER": "c"}, ""),
        (None, {"GITCFG_PAGER": "", "PAGER": "c"}, ""),
        (None, {"GITCFG_PAGER": "cat", "PAGER": "c"}, ""),
        (None, {"PAGER": " "}, ""),
        (None, {"PAGER": "cat"}, ""),
        (None, {"TERM": "dumb"}, ""),
        pytest.param(None, {"TERM": "xterm"}, "less", marks=WITH_LESS),
    ],
)
def test_who_says_what_the_pager_is(asked: str | None, environ: dict[str, str], chosen: str) -> None:
    assert pager_command(asked, environ) == chosen


def test_results_are_paged_and_the_rest_is_told_afterwards(
    pool: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    code, seen = shown(["--pager", "recorder", "check"], environment, pool)
    paged = given(tmp_path) or ""
    assert code == 1
    assert "There is no feature Missing" in plain(paged)
    assert "\x1b[1;31merror[GC201]" in paged
    assert "1 error" not in plain(paged)
    read, _, after = plain(seen).partition("[read]\n")
    assert read == ""
    assert after.startswith("1 error, ")


def test_the_pager_is_a_command_line(pool: Path, environment: dict[str, str], tmp_path: Path) -> None:
    environment["GITCFG_PAGER"] = f"MARK=yes sed \"s/^/$MARK> /\" | tee '{tmp_path}/a file'"
    _, seen = shown(["render", "other", "--file", "/etc/y"], environment, pool)
    assert seen.startswith("> few")
    assert (tmp_path / "a file").read_text() == "> few"


@pytest.mark.parametrize(
    "words",
    [
        ["--no-pager", "check"],
        ["--no-pager", "--pager", "recorder", "render", "other"],
        ["check", "-o", "json"],
        ["check", "-o", "yaml"],
        ["render", "other", "--out", "build"],
        ["init", "new"],
        ["import", "wallaby", "no dump", "new"],
        ["completion", "bash"],
        ["--help"],
        ["--version"],
        ["help", "GC000"],
    ],
)
def test_what_is_never_paged(
    words: list[str], pool: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    environment["PAGER"] = "recorder"
    (pool / "no dump").write_text("")
    shown(words, environment, pool)
    assert given(tmp_path) is None


def test_where_nothing_is_wrong_no_pager_opens(
    pool: Path, environment: dict[str, str], tmp_path: Path
) -> None:
    (pool / "groups/small.yaml").unlink()
    (pool / "nodes/other.yaml").write_text("{}\n")
    code, seen = shown(["--pager", "recorder", "check"], environment, pool)
    assert (code, given(tmp_path)) == (0, None)
    assert "Nothing is wrong" in seen


def test_only_a_terminal_is_paged(pool: Path, environment: dict[str, str], tmp_path: Path) -> None:
    line = shlex.join([*GITCFG, "--pager", "recorder", "check"])
    with Terminal(["sh", "-c", f"{line} > out"], environment, pool) as terminal:
        assert terminal.end() == 1
    assert given(tmp_path) is None
    assert "\x1b" not in (pool / "out").read_text()


def test_stderr_in_a_file_is_not_kept_back(pool: Path, environment: dict[str, str], tmp_path: Path) -> None:
    line = shlex.join([*GITCFG, "--pager", "recorder", "check"])
    with Terminal(["sh", "-c", f"{line} 2> err"], environment, pool) as terminal:
        assert terminal.end() == 1
    assert (pool / "err").read_text().startswith("1 error, ")
    assert "There is no feature" in plain(given(tmp_path) or "")


@pytest.mark.parametrize("words", [["render", "--all"], ["check", "--all"]])
def test_who_leaves_early_is_not_told_of_it(
    words: list[str], pool: Path, environment: dict[str, str]
) -> None:
    for number in range(500):
        (pool / f"groups/g{number}.yaml").write_text(f"features: [Missing{number}]\n")
    code, seen = shown(["--pager", "head -n 1", *words], environment, pool)
    assert code == 141
    assert seen.count("\n") == 1
    assert "rror:" not in seen


def test_who_leaves_when_all_is_written_changes_nothing(pool: Path, environment: dict[str, str]) -> None:
    code, seen = shown(["--pager", "head -n 1", "check"], environment, pool)
    assert code == 1
    assert "1 error, " in seen


@pytest.mark.parametrize("program", ["no-such-program -x", "'never closed", "/etc"])
def test_a_pager_that_is_not_there_is_told_once(
    program: str, pool: Path, environment: dict[str, str]
) -> None:
    environment["PAGER"] = program
    code, seen = shown(["render", "n[1-2]"], environment, pool)
    assert code == 0
    assert seen.count("xxxx\n\n") == 2
    assert seen.count("hint: The pager ") == 1
    assert seen.endswith("or --pager.\n")


def test_an_error_comes_after_what_was_paged(pool: Path, environment: dict[str, str], tmp_path: Path) -> None:
    code, seen = shown(
        ["--pager", "recorder", "render", "n1", "other", "--file", "/etc/no"], environment, pool
    )
    assert (code, given(tmp_path)) == (2, None)
    (pool / "nodes/last.yaml").write_text("params: {}\nfiles: {/etc/x: null}\n")
    code, seen = shown(["--pager", "recorder", "render", "n1", "last", "--file", "/etc/x"], environment, pool)
    assert code == 2
    assert plain(seen).startswith("error: last has no file /etc/x.")


@WITH_LESS
def test_less_leaves_by_itself_what_fits_on_a_screen(pool: Path, environment: dict[str, str]) -> None:
    code, seen = shown(["check"], environment, pool)
    assert code == 1
    shown_text = plain(seen)
    assert shown_text.index("There is no feature Missing") < shown_text.index("1 error, ")
    assert "\x1b[1;31merror[GC201]" in seen


@WITH_LESS
def test_an_interrupt_ends_the_work_and_not_less(pool: Path, environment: dict[str, str]) -> None:
    with Terminal([*GITCFG, "render", "--all"], environment, pool) as terminal:
        terminal.until(r"n1:/etc/x")
        terminal.until(r":$")
        terminal.type("\x03")
        assert terminal.end("q") == 130
        assert "rror" not in terminal.seen
        assert "Traceback" not in terminal.seen


@WITH_LESS
def test_less_can_be_left(pool: Path, environment: dict[str, str]) -> None:
    with Terminal([*GITCFG, "render", "n1"], environment, pool, rows=4) as terminal:
        terminal.until(r":$")
        assert terminal.end("q") == 0
        assert "rror" not in terminal.seen


@WITH_LESS
def test_ones_own_settings_of_less_stay(pool: Path, environment: dict[str, str], tmp_path: Path) -> None:
    settings = tmp_path / "bin" / "settings"
    settings.write_text(f'#!/bin/sh\ncat > {tmp_path}/given\necho "LESS=$LESS"\n')
    settings.chmod(0o755)
    for said in ({}, {"LESS": "-i"}):
        _, seen = shown(["--pager", "settings", "render", "other"], environment | said, pool)
        assert seen.startswith(f"LESS={said.get('LESS', 'FRX')}\n")


def test_the_hook_opens_no_pager(pool: Path, environment: dict[str, str], tmp_path: Path) -> None:
    program = tmp_path / "bin" / "gitcfg"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m gitcfg "$@"\n')
    program.chmod(0o755)
    environment["PAGER"] = "recorder"
    for words in (["init", "--quiet"], ["add", "--all"]):
        subprocess.run(["git", *words], cwd=pool, check=True)
    hook = Path(__file__).parents[2] / "hooks" / "pre-commit"
    with Terminal(["sh", str(hook)], environment, pool) as terminal:
        assert terminal.end() == 1
    assert "There is no feature Missing" in plain(terminal.seen)
    assert given(tmp_path) is None


def test_what_is_for_a_pipe_is_not_paged(pool: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(
        [*GITCFG, "--pager", "recorder", "render", "other"],
        cwd=pool,
        env=environment,
        capture_output=True,
        check=False,
        text=True,
    )
    assert "/etc/x" in done.stdout
