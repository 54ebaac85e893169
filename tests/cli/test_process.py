"""Exit codes that only a process of its own shows: pipes, signals, full disks, faults."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.cli.commands import COMMANDS
from gitcfg.cli.main import run
from gitcfg.cli.reference import read

GITCFG = [sys.executable, "-m", "gitcfg"]


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A repository that prints more than a pipe holds."""
    (tmp_path / "gitcfg.yaml").write_text("format: 1\n")
    (tmp_path / "nodesets").mkdir()
    (tmp_path / "nodesets/s.yaml").write_text("nodes: n[1-500]\n")
    (tmp_path / "groups").mkdir()
    (tmp_path / "groups/default.yaml").write_text("files: {/etc/x: {text: " + "x" * 1000 + "}}\n")
    (tmp_path / "features").mkdir()
    for number in range(500):
        (tmp_path / f"features/F{number}.yaml").write_text(f"depends: [Missing{number}]\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["check"],
        ["check", "-o", "json"],
        ["render", "--all"],
        ["render", "--all", "-o", "json"],
        ["--version"],
    ],
)
def test_a_closed_pipe_is_141(pool: Path, words: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([*GITCFG, *words], cwd=pool, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


def test_an_interrupt_is_130(pool: Path) -> None:
    code = "import signal, os, sys; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
    code += "from gitcfg.cli import session; from gitcfg.cli.main import run\n"
    code += "session.Session.open = lambda self: os.kill(os.getpid(), signal.SIGINT)\n"
    code += "sys.exit(run(['check']))"
    done = subprocess.run([sys.executable, "-c", code], cwd=pool, capture_output=True, check=False)
    assert done.returncode == 128 + signal.SIGINT
    assert done.stderr == b""


def test_who_is_ended_leaves_no_folders(pool: Path, tmp_path: Path) -> None:
    code = "import os, signal; from gitcfg.cli import main, session; from gitcfg.sandbox import Guard\n"
    code += "guard = Guard('gitcfg.cel.child')\n"
    code += "def begun(self):\n guard.begin()\n print(os.listdir(os.environ['TMPDIR']))\n"
    code += " os.kill(os.getpid(), signal.SIGTERM)\n"
    code += "session.Session.open = begun\nmain.main()"
    folder = tmp_path / "temporary"
    folder.mkdir()
    done = subprocess.run(
        [sys.executable, "-c", code, "check"],
        cwd=pool,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "TMPDIR": str(folder)},
    )
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert "gitcfg-guard-" in done.stdout
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    "words", [["--version"], ["-V"], ["--help"], ["check", "--help"], ["render", "--all"]]
)
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_is_told(pool: Path, unbuffered: str, words: list[str]) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*GITCFG, *words],
            cwd=pool,
            stdout=full,
            stderr=subprocess.PIPE,
            check=False,
            env={**os.environ, "PYTHONUNBUFFERED": unbuffered},
        )
    assert done.returncode == 2
    assert done.stderr == b"error: Cannot write the output: No space left on device.\n"


@pytest.mark.parametrize("words", [["render", "--all"], ["--version"]])
def test_without_stdout_nothing_is_begun(pool: Path, words: list[str]) -> None:
    line = ["/bin/sh", "-c", '"$@" >&-', "sh", *GITCFG, *words]
    done = subprocess.run(line, cwd=pool, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: Stdout is closed.\n")


def test_a_fault_of_gitcfgs_own_leaves_a_report(pool: Path, tmp_path: Path) -> None:
    code = "import sys; from gitcfg.cli import session; from gitcfg.cli.main import run\n"
    code += "session.Session.open = lambda self: 1 // 0\n"
    code += "sys.exit(run(['check']))"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=pool,
        capture_output=True,
        text=True,
        check=False,
        env={"TMPDIR": str(tmp_path), "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.returncode == 70
    report = next(tmp_path.glob("gitcfg-fault-*.txt"))
    assert str(report) in done.stderr
    assert "ZeroDivisionError" in report.read_text()


def test_what_is_rendered_is_replaced_whole_and_through_no_link(pool: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    words = [*GITCFG, "-C", str(pool), "render", "n[1-3]", "--out", str(out)]
    assert subprocess.run(words, check=False).returncode == 0
    place = out / "n1/etc/x"
    assert place.read_text() == "x" * 1000
    assert oct(place.stat().st_mode)[-3:] == "644"
    before = place.stat().st_mtime_ns
    assert subprocess.run(words, check=False).returncode == 0
    assert place.stat().st_mtime_ns == before
    outside = tmp_path / "outside"
    outside.mkdir()
    place.unlink()
    place.parent.rmdir()
    place.parent.symlink_to(outside)
    done = subprocess.run(words, capture_output=True, check=False)
    assert done.returncode == 4
    assert b"symbolic link" in done.stderr
    assert list(outside.iterdir()) == []


@pytest.mark.parametrize(("words", "server"), [((b"explain", b"n\xff"), b""), ((b"check",), b"http://\xff")])
def test_an_argument_that_is_no_text_is_wrong_usage(
    pool: Path, words: tuple[bytes, ...], server: bytes
) -> None:
    environment = {**os.environb, b"GITCFG_SERVER": server}
    done = subprocess.run([*GITCFG, *words], cwd=pool, capture_output=True, env=environment)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.startswith(b"error: ")
    assert b"is not UTF-8: " in done.stderr
    assert done.stderr.endswith(b"\\xff\n")


def test_no_command_takes_one(capfd: pytest.CaptureFixture[str]) -> None:
    every = [command.words[1:] for command in read(COMMANDS).all() if not command.commands]
    assert len(every) > 50
    for words in every:
        assert run([*words, "\udcff"]) == 2
        assert "is not UTF-8: \\xff\n" in capfd.readouterr().err
