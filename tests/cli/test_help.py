"""What help lists, and what a command line without a known command hints at."""

import subprocess
import sys

import pytest

from gitcfg.cli import commands
from gitcfg.cli.commands import COMMANDS, EXITS, GROUPS
from gitcfg.cli.completion import grammar
from gitcfg.cli.main import run

PROGRAM = grammar.read().program


def test_each_command_is_in_one_group() -> None:
    assert sum(map(len, GROUPS.values())) == len(COMMANDS)
    assert list(PROGRAM.commands) == list(COMMANDS)


def test_the_help_of_the_program_lists_groups_and_all_exit_codes(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    shown = capfd.readouterr().out
    for heading, names in GROUPS.items():
        section = shown.partition(f"\n{heading}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines() if line[2] != " "] == list(names)
    section = shown.partition("\nExit codes:\n")[2].partition("\n\n")[0]
    assert [int(line[:6]) for line in section.splitlines() if line[2] != " "] == list(EXITS)


@pytest.mark.parametrize("words", [["--help"], ["plan"], ["chekc"]])
def test_what_needs_no_command_imports_none(words: list[str]) -> None:
    code = "import sys; from gitcfg.cli.main import run; run(sys.argv[1:]); print(*sys.modules, sep='\\n')"
    call = [sys.executable, "-c", code, *words]
    found = subprocess.run(call, check=True, capture_output=True, text=True).stdout.splitlines()
    assert "gitcfg.cli.app" in found
    assert set(COMMANDS.values()).isdisjoint(found)
    assert {"rich", "pygit2", "gitcfg.library"}.isdisjoint(found)


def test_each_synonym_leads_to_commands_and_is_none_itself() -> None:
    for words, lines in commands._SYNONYMS.items():
        *above, word = words.split()
        assert word not in known(" ".join(above)).commands
        for line in lines:
            assert known(line) is not PROGRAM or line == "--version"


def known(line: str) -> grammar.Command:
    """Return the command that words name, with its options. KeyError: there is none."""
    command = PROGRAM
    for word in line.split():
        if word.startswith("--"):
            assert command.option(word)
        else:
            command = command.commands[word]
    return command


@pytest.mark.parametrize(
    ("words", "hints"),
    [
        (["plan"], ["Use `gitcfg diff` to show "]),
        (["-C", "x", "PLAN"], ["Use `gitcfg diff` to show "]),
        (["status"], ["Use `gitcfg inventory` to ", "Use `gitcfg check` to "]),
        (["blame"], ["Use `gitcfg explain --blame` to "]),
        (["rotate"], ["Use `gitcfg secret rotate` to "]),
        (["version"], ["Use `gitcfg --version`."]),
        (["release", "rollback"], ["Use `gitcfg release abort` to "]),
        (["chekc"], ["Did you mean `gitcfg check`?"]),
        (["hold", "lits"], ["Did you mean `gitcfg hold list`"]),
        (["serve", "token", "revok"], ["Did you mean `gitcfg serve token revoke`?"]),
        (["xyzzy"], ["Run `gitcfg --help` for a list of commands."]),
        (["hold", "xyzzy"], ["Run `gitcfg hold --help` for a list of commands."]),
        (["help", "plan"], ["Use `gitcfg diff` to show ", "Run `gitcfg help codes` for a list of codes."]),
        (["help", "hold", "lits"], ["Did you mean `gitcfg hold list`"]),
    ],
    ids=" ".join,
)
def test_a_word_that_is_no_command_leads_to_one(
    words: list[str], hints: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    error, *lines = capfd.readouterr().err.splitlines()
    assert error.startswith("error: ")
    assert len(lines) == len(hints)
    for line, hint in zip(lines, hints, strict=True):
        assert line.startswith(f"hint: {hint}")


@pytest.mark.parametrize("words", [["diff"], ["hold"], ["hold", "add"], ["serve", "token", "list"], ["help"]])
def test_help_shows_what_the_option_shows(words: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    assert run([*words, "--help"]) == 0
    expected = capfd.readouterr().out
    assert run(["help", *words]) == 0
    assert capfd.readouterr().out == expected
    assert expected.startswith(f"Usage: gitcfg {' '.join(words)} ")


def test_help_runs_no_command(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["help", "--", "undo", "--", "HEAD"]) == 2
    assert "undo -- HEAD is not a command" in capfd.readouterr().err
