"""What is seen of a deploy: the table while it runs, lines elsewhere, the summary, and the way signals go."""

import io
import os
import signal
import subprocess
import sys
from collections.abc import Iterable

import pytest
from rich.console import Console

from gitcfg.cli.deploy.live import LineProgress, LiveProgress
from gitcfg.cli.deploy.options import Limits
from gitcfg.cli.deploy.output import DeployEnd, DeployHead, StopNotes, format_summary, print_results
from gitcfg.cli.deploy.run import exit_code, handle_signals
from gitcfg.deploy.batches import INTERRUPTED
from gitcfg.deploy.outcomes import EndReason, Outcome, Result
from gitcfg.deploy.run import Finished
from gitcfg.model import Share

COMMIT = "c" * 40


def console(text: io.StringIO, terminal: bool = False) -> Console:
    return Console(
        file=text, width=100, soft_wrap=True, highlight=False, markup=False, force_terminal=terminal
    )


def told(results: Iterable[Result], dry: bool = False) -> str:
    text = io.StringIO()
    print_results(console(text), {one.node: one for one in results}, dry)
    return text.getvalue()


def test_each_node_is_named_once_with_those_of_which_the_same_is_said() -> None:
    results = [
        Result("n1", Outcome.OK, changed=("/etc/f",), restarted=("x",)),
        Result("n3", Outcome.OK, changed=("/etc/g",), restarted=("x",)),
        Result("n2", Outcome.OK),
        Result("n4", Outcome.REVERTED, message="`check x` failed.", output="one\n\x1b[31mtwo", hint="Look."),
        Result("n5", Outcome.UNREACHABLE, message="It does not answer."),
        Result("n6", Outcome.UNREACHABLE, message="It does not answer."),
    ]
    assert told(results) == (
        "ok 2 nodes: n[1,3]\n"
        "  1 file written; restarted x\n"
        "ok 1 node: n2\n"
        "reverted 1 node: n4\n"
        "  `check x` failed.\n"
        "    one\n"
        "    \\x1b[31mtwo\n"
        "  hint: Look.\n"
        "unreachable 2 nodes: n[5-6]\n"
        "  It does not answer.\n"
    )


def test_what_is_left_out_of_a_long_output_is_said() -> None:
    lines = told([Result("n1", Outcome.FAILED, output="\n".join(map(str, range(30))))]).splitlines()
    assert lines[1] == "    ... 20 lines earlier"
    assert lines[-1] == "    29"
    assert len(lines) == 12


def test_a_dry_run_says_what_would_be() -> None:
    one = Result("n1", Outcome.DIFFERS, changed=("/f",), reloaded=("x",), differences={"/f": "-a\n+b"})
    assert told([one], dry=True).splitlines()[1:] == [
        "  would be: 1 file written; reloaded x",
        "  /f",
        "  -a",
        "  +b",
    ]


def test_the_summary_says_how_it_went() -> None:
    about = DeployHead("run", COMMIT, "", False, 0.0)
    results = {"n1": Result("n1", Outcome.OK), "n2": Result("n2", Outcome.LOST)}
    assert format_summary(about, DeployEnd(EndReason.DONE, "", 1.26), results) == (
        f"2 nodes: 1 ok, 1 lost. Commit {COMMIT[:10]}, 1.3 s."
    )
    ending = DeployEnd(EndReason.INTERRUPTED, INTERRUPTED, 1.0)
    assert INTERRUPTED in format_summary(about, ending, results)
    assert format_summary(about, DeployEnd(EndReason.DONE, "", 0.0), {}).startswith("0 nodes: nothing to do.")


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("", 0),
        ("ok unchanged", 0),
        ("unchanged differs", 1),
        ("differs failed", 3),
        ("ok refused", 4),
        ("ok timeout", 5),
        ("refused timeout", 3),
        ("ok skipped", 3),
        ("unreachable", 3),
    ],
)
def test_the_exit_code(words: str, expected: int) -> None:
    results = {str(number): Result(str(number), Outcome(word)) for number, word in enumerate(words.split())}
    assert exit_code(Finished(results, EndReason.DONE, "")) == expected
    assert exit_code(Finished(results, EndReason.INTERRUPTED, INTERRUPTED)) == 130


def test_where_programs_read_only_that_nobody_else_is_begun_is_said() -> None:
    heard: list[str] = []
    stops = StopNotes(heard.append)
    stops.began("n1", 1)
    stops.ended(Result("n1", Outcome.LOST, message="It was cut."))
    assert heard == []
    stops.stopping(INTERRUPTED)
    wait = "No other node starts; running ones finish. Ctrl-C again abandons them."
    assert heard == [f"{INTERRUPTED} {wait}"]


def test_lines_where_nobody_looks() -> None:
    text = io.StringIO()
    lines = LineProgress(console(text))
    lines.began("n1", 1)
    lines.ended(Result("n1", Outcome.OK, changed=("/f",)))
    lines.ended(Result("n2", Outcome.LOST, message="It was cut."))
    lines.ended(Result("n3", Outcome.SKIPPED, message="It was not started."))
    lines.ended(Result("n4", Outcome.DIFFERS, changed=("/f",)))
    lines.stopping("2 nodes failed, the limit is 1.")
    assert text.getvalue() == (
        "n1 ok: 1 file written\n"
        "n2 lost: It was cut.\n"
        "n4 differs: would be 1 file written\n"
        "2 nodes failed, the limit is 1. No other node starts; running ones finish.\n"
    )


def test_the_table_shows_who_is_at_work_and_is_gone_in_the_end() -> None:
    text, now = io.StringIO(), [0.0]
    with LiveProgress(console(text, terminal=True), 30, 2, lambda: now[0]) as looking:
        for number in range(15):
            looking.began(f"n{number}", 1)
        now[0] = 5.0
        looking.step("n3", "restart x", "begins")
        looking.ended(Result("n14", Outcome.OK))
        looking.began("n20", 2)
        looking.stopping(INTERRUPTED)
    shown = text.getvalue()
    for piece in ("1 of 30 nodes", "batch 2 of 2", "restart x", "5 s", "and 3 more nodes", "1 ok"):
        assert piece in shown
    assert f"{INTERRUPTED} No other node starts; running ones finish. Ctrl-C again abandons them." in shown
    assert shown.endswith("\x1b[2K")


def test_two_signals_interrupt_and_a_third_ends_the_program() -> None:
    heard: list[int] = []
    with handle_signals(lambda: heard.append(1)):
        os.kill(os.getpid(), signal.SIGINT)
        os.kill(os.getpid(), signal.SIGTERM)
        assert len(heard) == 2
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_who_is_started_by_nohup_stays() -> None:
    program = (
        "import os, signal\n"
        "from gitcfg.cli.deploy.run import handle_signals\n"
        "with handle_signals(lambda: print('interrupted')):\n"
        "    os.kill(os.getpid(), signal.SIGHUP)\n"
    )
    line = ["nohup", sys.executable, "-c", program]
    done = subprocess.run(line, capture_output=True, text=True, check=True)
    assert done.stdout == ""


def test_limits_are_read() -> None:
    found = Limits.read("1, 10%,50%", 5, "0", "2.5%")
    assert found.batches == (Share(1), Share(10, percent=True), Share(50, percent=True))
    assert (found.failures, found.unreached) == (Share(0), Share(2.5, percent=True))
