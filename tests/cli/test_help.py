"""What help lists."""

import subprocess
import sys

import pytest

from gitcfg.cli.commands import COMMANDS, GROUPS
from gitcfg.cli.completion import grammar
from gitcfg.cli.exits import EXITS
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


@pytest.mark.parametrize("words", [["--help"], ["chekc"]])
def test_what_needs_no_command_imports_none(words: list[str]) -> None:
    code = "import sys; from gitcfg.cli.main import run; run(sys.argv[1:]); print(*sys.modules, sep='\\n')"
    call = [sys.executable, "-c", code, *words]
    found = subprocess.run(call, check=True, capture_output=True, text=True).stdout.splitlines()
    assert "gitcfg.cli.app" in found
    assert set(COMMANDS.values()).isdisjoint(found)
    assert {"rich", "pygit2", "gitcfg.library"}.isdisjoint(found)
