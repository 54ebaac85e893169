"""What is shown of work that takes long, and that nothing of it is left."""

import io
import sys
from pathlib import Path

import pytest

from gitcfg import progress
from gitcfg.cli.progress import Progress, ProgressLine, ProgressLines, clear, describe, shown, stop
from gitcfg.progress import Step
from tests.cli.terminals import Terminal, plain
from tests.gate.server import ENVIRONMENT, Server, commit, git


class Clock:
    """A clock that is set by hand."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("step", "text"),
    [
        (Step("compiling the node", "n1", 2999, 10000), "Compiling the node n1 (2,999 of 10,000)"),
        (Step("reading", "nodes/n1.yaml", 1234, 0), "Reading nodes/n1.yaml (1,234)"),
        (Step("listing", "groups/", 2, 0), "Listing groups/"),
        (Step("verifying signatures", "", 1, 0), "Verifying signatures"),
        (Step("reading", "a\x1b[2Jb", 1, 1), "Reading a\\x1b[2Jb"),
    ],
)
def test_a_step_in_words(step: Step, text: str) -> None:
    assert "".join(describe(step)) == text


def test_a_line_is_drawn_after_a_second_ten_times_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "40")
    stream, clock = io.StringIO(), Clock()
    line = ProgressLine(stream, clock)
    for now in (0.5, 0.99, 1.0, 1.05, 1.1):
        clock.now = now
        line(Step("checking nodes like", "exec0001.example.com", round(now * 100), 1000))
    assert stream.getvalue() == (
        "\r\x1b[KChecking nodes like e... (100 of 1,000)\r\x1b[KChecking nodes like e... (110 of 1,000)"
    )
    line.clear()
    line.clear()
    assert stream.getvalue().endswith("1,000)\r\x1b[K")
    clock.now = 2.05  # less than a second after what was printed instead
    line(Step("checking nodes like", "exec0001.example.com", 200, 1000))
    assert stream.getvalue().endswith("1,000)\r\x1b[K")
    clock.now = 2.1
    line(Step("checking nodes like", "exec0001.example.com", 210, 1000))
    assert stream.getvalue().endswith("(210 of 1,000)")


def test_what_blocks_is_shown_at_once() -> None:
    stream = io.StringIO()
    line = ProgressLine(stream, Clock())
    line(Step("reading", "a", 1, 0))
    line(Step("placing features by", "one-credd", 1, 0, blocks=True))
    assert stream.getvalue() == "\r\x1b[KPlacing features by one-credd"


def test_lines_that_stay_become_rarer() -> None:
    stream, clock = io.StringIO(), Clock()
    lines = ProgressLines(stream, clock)
    for second in range(60):
        clock.now = second
        lines(Step("reading", "", second, 100))
    numbers = [int(line.partition("(")[2].partition(" ")[0]) for line in stream.getvalue().splitlines()]
    assert numbers == [2, 4, 8, 16, 26, 36, 46, 56]


def test_a_terminal_that_is_gone_ends_nothing() -> None:
    stream, clock = io.StringIO(), Clock()
    stream.close()
    line = ProgressLine(stream, clock)
    clock.now = 2.0
    line(Step("reading", "", 1, 0))
    line.clear()


@pytest.mark.parametrize(
    ("when", "terminal", "heard"),
    [
        (Progress.AUTO, True, True),
        (Progress.AUTO, False, False),
        (Progress.ALWAYS, False, True),
        (Progress.NEVER, True, False),
    ],
)
def test_who_is_shown_progress(
    when: Progress, terminal: bool, heard: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    stream = io.StringIO()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setattr("gitcfg.cli.progress._AFTER", 0.0)
    with shown(when, terminal):
        progress.note("reading", "a")
        clear()
        assert ("Reading a" in stream.getvalue()) is heard
        stop()
        progress.note("writing", "a")
    progress.note("writing", "a")
    assert "Writing" not in stream.getvalue()


_NOW = "import gitcfg.cli.progress as p; p._AFTER = p._EVERY = 0.0; from gitcfg.cli.main import main; main()"


def pool(folder: Path) -> Path:
    """A repository of 200 nodes."""
    (folder / "nodesets").mkdir(parents=True)
    (folder / "gitcfg.yaml").write_text("format: 1\n")
    (folder / "nodesets/n.yaml").write_text("nodes: n[001-200]\n")
    return folder


def test_a_terminal_shows_it_and_is_clean_before_the_result(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _NOW, "-C", str(pool(tmp_path / "pool")), "check"]
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": "/usr/bin:/bin", "TERM": "xterm"}
    with Terminal(command, environment | {"GITCFG_PROGRESS": "auto"}, tmp_path) as terminal:
        assert terminal.end() == 0
    assert "\r\x1b[KCompiling the node n001 (1 of 200)\r\x1b[K" in terminal.seen
    drawn, _, result = terminal.seen.rpartition("\r\x1b[K")
    assert drawn.startswith("\r\x1b[K")
    assert plain(result).startswith("Nothing is wrong: 200 nodes")


MANY = 900_000


def test_a_push_that_takes_long_says_what_it_is_doing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    server = Server(tmp_path / "server")
    desk = server.desk("desk", {"gitcfg.yaml": "format: 1\n"})
    slow = {
        "features/L.yaml": "params: {'Q_${as}': x}\n",
        "groups/default.yaml": f"features: [{{feature: L, as: 'x[1-10000]', with: {{t: {'y' * MANY}}}}}]\n",
    }
    commit(desk, slow, "Take long")
    monkeypatch.setitem(ENVIRONMENT, "GITCFG_PROGRESS", "auto")
    git(server.folder, "config", "gitcfg.timeLimit", "5s")
    push = server.push(desk, "main:topic")
    assert not push.taken
    first = next(line for line in push.said if line)
    assert first.startswith("Composing the feature L"), push.text
