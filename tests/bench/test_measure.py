"""Measuring: what a process used, how it ended, limits, and turns."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from bench.measure import Command, Limits, Row, Turns, run, take_turns

MIB = 1 << 20
ROOT = Path(__file__).parents[2]


@pytest.fixture
def command(tmp_path: Path) -> Callable[[str], Command]:
    return lambda code: Command(argv=(sys.executable, "-c", code), folder=tmp_path, out=tmp_path / "out")


def test_what_a_process_used(command: Callable[[str], Command]) -> None:
    asked = command(
        "import time; end = time.process_time() + .2\nwhile time.process_time() < end: pass\nprint(3)"
    )
    used = run(asked, Limits())
    assert (used.exit, used.late) == (0, False)
    assert 0.2 <= used.cpu <= used.wall + 0.1
    assert asked.printed.read_text() == "3\n"


def test_children_count(command: Callable[[str], Command]) -> None:
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', 'x = bytearray(200 << 20)'])"
    assert run(command(code), Limits()).rss > 200


def test_memory_of_what_measures_does_not_count(command: Callable[[str], Command]) -> None:
    held = bytearray(150 * MIB)
    assert run(command("pass"), Limits()).rss < 60
    assert len(held) == 150 * MIB


def test_past_its_time_a_process_is_ended_with_its_children(
    command: Callable[[str], Command], tmp_path: Path
) -> None:
    code = (
        "import subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)'])\n"
        f"open({str(tmp_path / 'child')!r}, 'w').write(str(child.pid))\n"
        "time.sleep(600)"
    )
    used = run(command(code), Limits(seconds=1))
    assert used.late
    assert used.exit < 0
    assert gone(int((tmp_path / "child").read_text()))


def gone(pid: int) -> bool:
    """Whether a process ends soon; a zombie that nobody has reaped yet has ended."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.05)
    return False


def test_memory_has_a_limit(command: Callable[[str], Command]) -> None:
    asked = command("x = bytearray(1 << 30)")
    assert run(asked, Limits(bytes=512 * MIB)).exit == 1
    assert asked.complaint == "MemoryError"


def test_only_the_given_environment(command: Callable[[str], Command]) -> None:
    asked = command("import os; print(sorted(os.environ))")
    os.environ["GITCFG_FROM_OUTSIDE"] = "1"
    try:
        run(asked, Limits())
    finally:
        del os.environ["GITCFG_FROM_OUTSIDE"]
    assert asked.printed.read_text() == "['LC_ALL', 'PATH']\n"


def test_what_cannot_be_started(tmp_path: Path) -> None:
    asked = Command(argv=("/nonexistent",), folder=tmp_path, out=tmp_path / "out")
    assert run(asked, Limits()).exit == 127
    assert "No such file" in asked.complaint


def test_rows_take_turns(command: Callable[[str], Command]) -> None:
    ran: list[str] = []
    rows = [row(name, command("pass"), partial(ran.append, name)) for name in "ab"]
    records = take_turns(rows, Turns(runs=2), lambda _: None)
    assert ran == ["a", "b", "a", "b"]
    assert [len(one.cpu) for one in records] == [2, 2]


def test_slow_rows_run_once(command: Callable[[str], Command]) -> None:
    records = take_turns([row("a", command("pass"))], Turns(runs=3, slow=0), lambda _: None)
    assert len(records[0].cpu) == 1


@pytest.mark.parametrize(
    ("code", "note"),
    [
        ("raise SystemExit(3)", "exit 3: "),
        ("import sys; sys.exit('error: no such thing\\nhint: none')", "exit 1: error: no such thing"),
        ("import time; time.sleep(600)", "not done within 1 s"),
    ],
)
def test_what_fails_is_a_row_that_says_so(command: Callable[[str], Command], code: str, note: str) -> None:
    (record,) = take_turns([row("a", command(code))], Turns(limits=Limits(seconds=1)), lambda _: None)
    assert (record.cpu, record.note) == ((), note)


def test_a_wrong_answer_counts_for_nothing(command: Callable[[str], Command]) -> None:
    def judge(_: Path) -> str:
        raise ValueError("3 of 200 nodes differ")

    asked = Row(fleet="small", tool="a", work="all nodes", command=command("pass"), judge=judge)
    (record,) = take_turns([asked], Turns(), lambda _: None)
    assert (record.cpu, record.note) == ((), "wrong: 3 of 200 nodes differ")


def row(name: str, command: Command, before: Callable[[], None] = lambda: None) -> Row:
    return Row(fleet="small", tool=name, work="all nodes", command=command, before=before)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGKILL])
def test_nothing_runs_on_when_measuring_is_ended(tmp_path: Path, number: int) -> None:
    code = (
        "import sys; from pathlib import Path; from bench.measure import Command, Limits, run\n"
        "said = 'import os, time; print(os.getpid(), flush=True); time.sleep(600)'\n"
        f"folder = Path({str(tmp_path)!r})\n"
        "run(Command(argv=(sys.executable, '-c', said), folder=folder, out=folder), Limits())"
    )
    measuring = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, stderr=subprocess.DEVNULL)
    while not (tmp_path / "stdout").exists() or not (tmp_path / "stdout").read_text().endswith("\n"):
        assert measuring.poll() is None
        time.sleep(0.05)
    measuring.send_signal(number)
    measuring.wait()
    assert gone(int((tmp_path / "stdout").read_text()))
