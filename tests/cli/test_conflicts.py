"""Conflicts of `gitcfg undo`, settled parameter by parameter: by options, and at a terminal."""

import os
import sys
from pathlib import Path

import pytest

from gitcfg.cli.main import run
from tests.cli.terminals import Terminal, plain
from tests.edit.test_undo import BEGIN, WORKERS, cloned, git, state, taken
from tests.history.histories import Version

NOW = """\
# The workers.
params:
  START: "three"   # why
  # It was less.
  MAX: 'm3'
  OTHER: {$append: y}
"""
SHEET = "parameters/p.yaml"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """START and MAX are changed twice, the first time one commit before the last; OTHER once, since."""
    second = taken("params:\n  START: two\n  OTHER: {$append: x}\n  MAX: m2\n")
    return cloned(tmp_path, [Version([], BEGIN), Version([0], second), Version([1], taken(NOW))])


def undo(folder: Path, *words: str) -> int:
    return run(["-C", str(folder), "undo", "HEAD~1", "--yes", *words])


def theirs(*names: str) -> str:
    """The group with values as they were."""
    found = NOW
    for name, now, then in (("START", '"three"', "one"), ("MAX", "'m3'", "m1")):
        found = found.replace(now, then) if name in names else found
    return found


@pytest.mark.parametrize(
    ("words", "gone"),
    [
        ("--ours group/Workers:START --theirs group/Workers:MAX", ["MAX"]),
        ("--theirs group/Workers:START --ours group/Workers:MAX", ["START"]),
        ("--theirs group/Workers --ours group/Workers:START", ["MAX"]),
        ("--ours group/Workers --theirs group/Workers:params:START", ["START"]),
        ("--ours group/Workers:START --ours group/Workers:MAX", []),
        ("--theirs group/Workers", ["START", "MAX"]),
        ("--ours group/Workers", []),
    ],
)
def test_single_parameters_are_settled(folder: Path, words: str, gone: list[str]) -> None:
    """The rest of the file stays: comments, order, quotes, and what was changed in it since."""
    head = git(folder, "rev-parse", "HEAD")
    assert undo(folder, *words.split()) == 0
    assert (folder / WORKERS).read_text() == theirs(*gone)
    assert (git(folder, "rev-parse", "HEAD") != head) is bool(gone)


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        ([], 1, "hint: Use --ours group/Workers:START or --theirs group/Workers:START for only this."),
        (["--ours", "group/Workers:START"], 1, "MAX was changed again since"),
        (["--ours", "group/Workers:OTHER"], 2, "group/Workers:OTHER is not in a conflict."),
        (
            ["--ours", "group/Workers:gone"],
            2,
            "The conflicts are: group/Workers, group/Workers:MAX, group/Workers:START.",
        ),
        (["--ours", "group/Workers:MAX", "--theirs", "group/Workers:MAX"], 2, "cannot be both"),
    ],
)
def test_what_is_not_settled_is_told(
    folder: Path, words: list[str], code: int, told: str, capfd: pytest.CaptureFixture[str]
) -> None:
    was = state(folder)
    assert undo(folder, *words) == code
    said = capfd.readouterr().err
    assert told in said
    assert ("START was changed again since" in said) is not bool(words)
    assert state(folder) == was


def test_a_parameter_may_be_called_as_a_key_is(tmp_path: Path) -> None:
    """`features` means the group's features, and `params:features` the parameter."""
    texts = (f"features: [F{n}]\nparams: {{features: p{n}}}\n" for n in (1, 2, 3))
    folder = cloned(tmp_path, [Version([n - 1] if n else [], taken(text)) for n, text in enumerate(texts)])
    assert undo(folder, "--force", "--ours", "group/Workers:features", "--theirs", "group/Workers") == 0
    assert (folder / WORKERS).read_text() == "features: [F3]\nparams: {features: p1}\n"
    git(folder, "reset", "--quiet", "--hard", "HEAD~1")
    both = ["--ours", "group/Workers:features", "--theirs", "group/Workers:params:features"]
    assert undo(folder, "--force", *both) == 0
    assert (folder / WORKERS).read_text() == "features: [F3]\nparams: {features: p1}\n"


def test_a_repository_may_be_a_folder_in_git(tmp_path: Path) -> None:
    second = taken("params:\n  START: two\n  OTHER: {$append: x}\n  MAX: m2\n")
    history = [Version([], BEGIN), Version([0], second), Version([1], taken(NOW))]
    inside = cloned(tmp_path, history, "pools/one/") / "pools/one"
    assert undo(inside, "--theirs", "group/Workers", "--ours", "group/Workers:START") == 0
    assert (inside / WORKERS).read_text() == theirs("MAX")


def test_names_may_hold_odd_characters(tmp_path: Path) -> None:
    texts = ("params: {START: 1}\nfiles: {'/etc/a:b c': {text: 1}}\n".replace("1", n) for n in "123")
    name = "groups/a - b @1+.yaml"
    folder = cloned(
        tmp_path,
        [Version([n - 1] if n else [], {**BEGIN, name: text}) for n, text in enumerate(texts)],
    )
    words = ["--theirs", "group/a - b @1+", "--ours", "group/a - b @1+:files:/etc/a:b c"]
    assert undo(folder, "--force", *words) == 0
    assert (folder / name).read_text() == "params: {START: 1}\nfiles: {'/etc/a:b c': {text: 3}}\n"


def test_entries_of_one_sheet_are_settled_apart(tmp_path: Path) -> None:
    """Each parameter's declaration by itself, although their lines stand together."""
    texts = [
        f"parameters:\n  START: {{type: string, description: a{n}}}\n"
        f"  MAX: {{type: string, description: b{n}}}\n  OTHER: {{type: list}}\n"
        for n in (1, 2, 3)
    ]
    history = [Version([n - 1] if n else [], {**BEGIN, SHEET: text}) for n, text in enumerate(texts)]
    folder = cloned(tmp_path, history)
    assert undo(folder, "--ours", "parameter/START", "--theirs", "parameter/MAX") == 0
    assert (folder / SHEET).read_text() == texts[2].replace("b3", "b1")


def test_what_only_stands_together_goes_back_by_itself(tmp_path: Path) -> None:
    """In brackets on one line lines tell nothing apart; the editor does."""
    texts = ["params: {START: one, MAX: m1}  # all\n"]
    texts.append(texts[0].replace("one", "two"))
    texts.append(texts[1].replace("m1", "m2"))
    folder = cloned(tmp_path, [Version([n - 1] if n else [], taken(text)) for n, text in enumerate(texts)])
    assert undo(folder) == 0
    assert (folder / WORKERS).read_text() == texts[2].replace("two", "one")


def test_lists_without_an_entry_clash_as_a_path(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Only comments differ, and no entity is in the file: it is told by its path, and settled so."""
    more = "subsystems/none.yaml"
    texts = [f"subsystems: {{}}  # {n}\n" for n in (1, 2, 3)]
    history = [Version([n - 1] if n else [], {**BEGIN, more: text}) for n, text in enumerate(texts)]
    folder = cloned(tmp_path, history)
    assert undo(folder) == 1
    assert f"--ours path/{more} to keep" in capfd.readouterr().err
    assert undo(folder, "--theirs", f"path/{more}") == 0
    assert (folder / more).read_text() == texts[0]


@pytest.mark.parametrize(
    ("keys", "gone"),
    [("ot", ["MAX"]), ("to", ["START"]), ("T", ["START", "MAX"]), (["?", "t", "theirs"], ["START", "MAX"])],
)
def test_each_parameter_is_asked_about(
    folder: Path, tmp_path: Path, keys: list[str], gone: list[str]
) -> None:
    with _terminal(folder, tmp_path) as terminal:
        first = plain(terminal.until(r"\[o/t/O/T/Q\] "))
        assert "group Workers: START was changed again since" in first
        assert "keep the current state (ours: three), restore the earlier one (theirs: one)" in first
        for number, key in enumerate(keys):
            terminal.type(f"{key}\n")
            if number + 1 < len(keys):
                terminal.until(r"\[o/t/(O/T/)?Q\] ")
        terminal.until(r"Undo\? \[y/N\] ")
        terminal.type("y\n")
        assert terminal.end() == 0
    assert (folder / WORKERS).read_text() == theirs(*gone)


def test_with_all_of_it_left_nothing_is_to_do(folder: Path, tmp_path: Path) -> None:
    was = state(folder)
    with _terminal(folder, tmp_path) as terminal:
        terminal.until(r"\[o/t/O/T/Q\] ")
        terminal.type("O\n")
        terminal.until(r"HEAD~1 is undone already")
        assert terminal.end() == 0
    assert state(folder) == was


def _terminal(folder: Path, home: Path) -> Terminal:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": ":".join(filter(None, sys.path))}
    words = [sys.executable, "-m", "gitcfg", "undo", "HEAD~1"]
    return Terminal(words, {**environment, "TERM": "xterm", "HOME": str(home)}, folder)
