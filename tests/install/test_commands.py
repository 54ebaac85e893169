"""Commands: what is passed to them, how long they may take, and what is kept of what they say."""

import os
import resource
import time
from pathlib import Path

import pytest

from gitcfg.install import commands as cores
from gitcfg.install.commands import ENVIRONMENT, NOT_RUN, OUTPUT, kill_orphan, run_command, start_time
from tests.install.world import QuickClock, in_child

CLOCK = QuickClock()


def shell(text: str) -> tuple[str, ...]:
    return ("/bin/sh", "-c", text)


def note(pid: int) -> None:
    assert start_time(pid)


@pytest.mark.parametrize("started", [None, note])
def test_output_and_exit(started: None) -> None:
    ran = run_command(shell("echo out; echo err >&2; exit 3"), 10, CLOCK, started)
    assert (ran.code, ran.output, ran.ok) == (3, "out\nerr\n", False)
    assert run_command(shell("exit 0"), 10, CLOCK, started).ok
    assert run_command(shell("kill -9 $$"), 10, CLOCK, started).code == -9


@pytest.mark.parametrize("started", [None, note])
def test_arguments_arrive_as_they_are_and_little_else(started: None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET", "x")
    words = ("a b", "", "$HOME", "*", "-e", "`id`")
    ran = run_command(("/usr/bin/printf", "<%s>", *words), 10, CLOCK, started)
    assert ran.output == "".join(f"<{word}>" for word in words)
    told = run_command(("/usr/bin/env",), 10, CLOCK, started).output.split()
    assert {line.partition("=")[0] for line in told} <= {*ENVIRONMENT, "PWD", "OLDPWD", "_"}
    assert run_command(("/bin/pwd",), 10, CLOCK, started).output == "/\n"
    assert run_command(("/bin/cat",), 10, CLOCK, started).output == ""


@pytest.mark.parametrize("program", ["/nothing/there", "/etc", "no-such-program"])
def test_a_program_that_cannot_be_run(program: str) -> None:
    ran = run_command((program,), 10, CLOCK)
    assert ran.code == NOT_RUN
    assert program in ran.output
    assert run_command((program,), 10, CLOCK, note).code in (126, NOT_RUN)


def test_the_time_limit_ends_everything_in_the_group(tmp_path: Path) -> None:
    mark = tmp_path / "mark"
    ran = run_command(shell(f"(sleep 0.5; touch {mark}) & echo begun; exec sleep 100"), 0.2, CLOCK)
    assert (ran.code, ran.output) == (None, "begun\n")
    time.sleep(0.6)
    assert not mark.exists()


def test_a_daemon_that_keeps_the_output_open_does_not_hold_it_up(tmp_path: Path) -> None:
    ran = run_command(shell(f"sleep 5 & echo $! > {tmp_path}/pid; echo started"), 4, CLOCK)
    assert (ran.code, ran.output) == (0, "started\n")
    left = int((tmp_path / "pid").read_text())
    assert start_time(left)
    os.kill(left, 9)


def test_only_the_end_is_kept() -> None:
    ran = run_command(shell("seq 1 100000"), 20, CLOCK)
    assert ran.output.endswith("99999\n100000\n")
    assert len(ran.output) == OUTPUT


def test_a_command_that_nobody_noted_never_begins(tmp_path: Path) -> None:
    def full(pid: int) -> None:
        raise OSError(28, "No space left on device")

    with pytest.raises(OSError, match="No space"):
        run_command(("/usr/bin/touch", str(tmp_path / "mark")), 10, CLOCK, full)
    time.sleep(0.1)
    assert not (tmp_path / "mark").exists()


def test_only_the_very_process_is_ended_as_an_orphan() -> None:
    import subprocess

    with subprocess.Popen(["/bin/sleep", "100"], start_new_session=True) as process:
        kill_orphan((process.pid, start_time(process.pid) + 1))
        kill_orphan(None)
        assert process.poll() is None
        kill_orphan((process.pid, start_time(process.pid)))
        assert process.wait(10) == -9


def test_a_command_has_the_usual_mask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        assert run_command(shell(f"umask; > {tmp_path}/made"), 10, CLOCK).output == "0022\n"
    finally:
        os.umask(before)
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("started", [None, note])
def test_gigabytes_are_read_and_not_kept(started: None) -> None:
    """A fast writer would else stand still at a full pipe, or fill the memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    ran = run_command(shell("head -c 2000000000 /dev/zero; echo; echo end"), 60, CLOCK, started)
    assert ran.ok
    assert ran.output.endswith("\nend\n")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def test_endless_output_ends_with_the_time() -> None:
    began = time.monotonic()
    assert run_command(("/usr/bin/yes",), 0.5, CLOCK).code is None
    assert time.monotonic() - began < 5


def test_what_forks_itself_away_and_writes_on_is_not_waited_for() -> None:
    """A daemon in a session of its own, which keeps the output and writes to it for good."""
    began = time.monotonic()
    ran = run_command(
        shell("setsid sh -c 'trap \"\" PIPE; echo $$; while :; do echo x; done' & sleep 0.3"), 20, CLOCK
    )
    assert ran.ok
    assert time.monotonic() - began < 10
    endless = [int(one.name) for one in Path("/proc").glob("[0-9]*") if _is_endless(one)]
    for pid in endless:
        os.kill(pid, 9)
    assert endless


def _is_endless(process: Path) -> bool:
    try:
        return b"while :; do echo x; done" in (process / "cmdline").read_bytes().split(b"\0")[2]
    except (OSError, IndexError):
        return False


def test_what_does_not_even_die_when_it_is_killed_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a process does that waits for a file server that is gone."""
    seen: list[int] = []
    with monkeypatch.context() as deaf:
        deaf.setattr(os, "killpg", lambda pid, _: seen.append(pid))
        began = time.monotonic()
        ran = run_command(shell("exec sleep 100"), 0.1, CLOCK)
        assert ran.code is None
        assert time.monotonic() - began < 10
    os.kill(seen[0], 9)
    os.waitpid(seen[0], 0)


def test_no_core_of_this_program_and_such_of_others_as_before() -> None:
    _, hard = resource.getrlimit(resource.RLIMIT_CORE)
    if 0 <= hard < 4096:
        pytest.skip("no cores can be dumped here")

    def work() -> None:
        resource.setrlimit(resource.RLIMIT_CORE, (4096, hard))
        before = run_command(shell("grep core /proc/self/limits"), 10, CLOCK, note).output
        cores.forbid_core_dumps()
        cores.forbid_core_dumps()
        assert resource.getrlimit(resource.RLIMIT_CORE) == (0, hard)
        assert run_command(shell("grep core /proc/self/limits"), 10, CLOCK, note).output == before
        assert " 4096 " in before

    assert in_child(work) == 0
