"""Colour: `--color` beats NO_COLOR beats FORCE_COLOR beats "is it a terminal", in every command."""

import itertools
import re
import subprocess
import sys
from pathlib import Path

import pytest

from gitcfg.cli.console import Color, color_of, uses_color
from gitcfg.cli.main import run
from tests.cli.terminals import Terminal

_COLOR = re.compile(r"\x1b\[[0-9;]*[1-9][0-9;]*m")
VARIABLES = ("NO_COLOR", "FORCE_COLOR", "GITCFG_COLOR", "PAGER", "GITCFG_PAGER", "GITCFG_REPO")


@pytest.fixture
def pool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A repository with a mistake, of two commits."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)
    for path, text in {
        "gitcfg.yaml": "format: 1\n",
        "parameters/p.yaml": "parameters: {START: {description: When to start., type: string}}\n",
        "nodes/n1.yaml": "features: [F]\n",
        "features/F.yaml": "params: {START: a}\nfiles: {/etc/x: {format: env, params: ['*']}}\n",
        "groups/default.yaml": "features: [Missing]\n",
    }.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    git = ["git", "-c", "user.name=n", "-c", "user.email=e@example.org"]
    for words in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "-m", "start"]):
        subprocess.run([*git, *words], cwd=tmp_path, check=True)
    (tmp_path / "features/F.yaml").write_text("params: {START: b}\nfiles: {}\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("color", "no", "force", "terminal"),
    list(itertools.product(Color, (None, "", "1"), (None, "", "1"), (False, True))),
)
def test_what_beats_what(color: Color, no: str | None, force: str | None, terminal: bool) -> None:
    environ = {name: said for name, said in (("NO_COLOR", no), ("FORCE_COLOR", force)) if said is not None}
    expected = {
        Color.ALWAYS: True,
        Color.NEVER: False,
        Color.AUTO: False if no else True if force else terminal,
    }
    assert uses_color(color, environ | {"TERM": "xterm"}, terminal) is expected[color]


def test_a_terminal_that_knows_no_colour_gets_none_unasked() -> None:
    assert not uses_color(Color.AUTO, {"TERM": "dumb"}, terminal=True)
    assert uses_color(Color.AUTO, {"TERM": "dumb", "FORCE_COLOR": "1"}, terminal=True)
    assert uses_color(Color.ALWAYS, {"TERM": "dumb"}, terminal=True)


@pytest.mark.parametrize(
    ("arguments", "variable", "color"),
    [
        (["--color", "always", "x"], "never", Color.ALWAYS),
        (["--color=never"], "always", Color.NEVER),
        (["--color", "never", "--color=always"], "", Color.ALWAYS),
        (["x"], "always", Color.ALWAYS),
        (["--color", "pink"], "never", Color.NEVER),
        (["--color"], "", Color.AUTO),
    ],
)
def test_a_wrong_command_line_still_says_what_colour_is_wanted(
    arguments: list[str], variable: str, color: Color
) -> None:
    assert color_of(arguments, {"GITCFG_COLOR": variable}) is color


TABLE = [
    # words, variables: on a terminal, elsewhere
    ([], {}, True, False),
    ([], {"NO_COLOR": "1"}, False, False),
    ([], {"NO_COLOR": ""}, True, False),
    ([], {"FORCE_COLOR": "1"}, True, True),
    ([], {"FORCE_COLOR": ""}, True, False),
    ([], {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False, False),
    (["--color", "always"], {"NO_COLOR": "1"}, True, True),
    ([], {"NO_COLOR": "1", "GITCFG_COLOR": "always"}, True, True),
    (["--color", "never"], {"FORCE_COLOR": "1", "GITCFG_COLOR": "always"}, False, False),
    ([], {"TERM": "dumb"}, False, False),
]


@pytest.mark.slow
@pytest.mark.parametrize(("words", "variables", "on_terminal", "elsewhere"), TABLE)
def test_results_messages_and_usage_errors_obey(
    words: list[str],
    variables: dict[str, str],
    on_terminal: bool,
    elsewhere: bool,
    pool: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    environment = {"PYTHONPATH": ":".join(filter(None, sys.path)), "PATH": "/usr/bin:/bin", "TERM": "xterm"}
    lines = [[*words, *line] for line in (["check"], ["help", "GC204"], ["check", "--no-such-option"])]
    code = "from gitcfg.cli.main import run\n"
    code += f"for line in {lines}: run(line), print('=====', flush=True)"
    with Terminal([sys.executable, "-c", code], environment | {"PAGER": "cat"} | variables, pool) as terminal:
        assert terminal.end() == 0
    shown = terminal.seen.split("=====\n")[:-1]
    assert [_COLOR.search(text) is not None for text in shown] == [on_terminal] * 3
    for name, said in variables.items():
        monkeypatch.setenv(name, said)
    for line in lines:
        run(line)
        for output in filter(None, capfd.readouterr()):
            assert (_COLOR.search(output) is not None) is elsewhere, line


EVERY = [
    ["check"],
    ["check", "--at", "HEAD"],
    ["render", "n1"],
    ["explain", "n1"],
    ["explain", "n1", "START"],
    ["values", "START"],
    ["show", "features"],
    ["show", "feature", "F"],
    ["search", "start"],
    ["diff"],
    ["help"],
    ["help", "GC204"],
    ["no-such-command"],
]


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_every_command_obeys(
    words: list[str], pool: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    uncoloured = (["help"],)
    for no, force, option, colors in (
        ("", "1", [], True),
        ("1", "1", [], False),
        ("1", "", ["--color", "always"], True),
        ("", "1", ["--color", "never"], False),
    ):
        monkeypatch.setenv("NO_COLOR", no)
        monkeypatch.setenv("FORCE_COLOR", force)
        assert run([*option, *words]) != 70
        shown = "".join(capfd.readouterr())
        assert (_COLOR.search(shown) is not None) is (colors and words not in uncoloured)
