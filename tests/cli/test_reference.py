"""The reference of commands is made from the program, and what it says of them holds."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from gitcfg.cli.app import first_sentence, program
from gitcfg.cli.commands import COMMANDS
from gitcfg.cli.completion import grammar
from gitcfg.cli.declaration import METAVARS
from gitcfg.cli.main import _TAKES_VALUE, run
from gitcfg.cli.reference import Command, Parameter, grammar_of, manual, read

ROOT = Path(__file__).parent.parent.parent
PROGRAM = read(COMMANDS)
ALL = list(PROGRAM.all())
LEAVES = [command for command in ALL if command.runs]
_CALL = re.compile(r"(?<![\w/.~-])gitcfg((?: (?:'[^']*'|\"[^\"]*\"|[^|&;()<>\"'\s])+)*)")

each_command = pytest.mark.parametrize("command", ALL, ids=lambda command: " ".join(command.words))
each_leaf = pytest.mark.parametrize("command", LEAVES, ids=lambda command: " ".join(command.words))


def test_the_page_is_current() -> None:
    assert (ROOT / "docs/commands.md").read_text() == manual(PROGRAM), "`make reference` writes it anew"


def test_the_grammar_is_current() -> None:
    assert Path(grammar.FILE).read_text() == grammar.to_json(grammar_of(PROGRAM)), (
        "`make reference` writes it anew"
    )
    assert grammar.read() == grammar_of(PROGRAM)


@each_command
def test_a_command_says_what_it_is_for(command: Command) -> None:
    assert re.fullmatch(r"[A-Z][^\n]{10,160}\.", command.purpose)


@each_leaf
def test_a_command_has_three_examples(command: Command) -> None:
    assert len(command.examples) == 3
    assert any(" ".join(command.words) in example.line for example in command.examples)


def parameters(command: Command) -> Iterator[Parameter]:
    yield from command.arguments
    yield from command.options


@each_command
def test_every_option_and_argument_has_help(command: Command) -> None:
    for parameter in parameters(command):
        assert re.fullmatch(r"[^\n]{5,120}\.", parameter.help), parameter


@each_command
def test_it_is_known_what_may_stand_in_every_place(command: Command) -> None:
    for parameter in parameters(command):
        if parameter.metavar and not parameter.choices:
            words = re.findall(r"YYYY-MM-DD|[A-Z]+", parameter.metavar)
            assert words, parameter
            assert set(words) <= set(METAVARS), f"{parameter}: say in METAVARS which names may stand there"


@pytest.mark.slow
@each_leaf
def test_examples_are_commands_that_there_are(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for example in command.examples:
        calls = [shlex.split(call) for call in _CALL.findall(example.line)]
        assert calls, example
        for words in calls:
            for file in (word for word in words if word.endswith(".yaml")):
                (tmp_path / file).parent.mkdir(exist_ok=True)
                (tmp_path / file).touch()
            parsed(words)


def parsed(words: list[str]) -> None:
    """typer's usage error: the words are no command line."""
    command = program(COMMANDS)
    context = command.make_context("gitcfg", list(words))
    while hasattr(command, "commands"):
        if (
            context.parent is not None
            and command.invoke_without_command
            and not {*words} & {*command.commands}
        ):
            return  # a group that is a command, too
        at = len(words) - len(context.args)
        command, words = command.commands[words[at - 1]], words[at:]
        context = command.make_context(command.name, list(words), parent=context)


def test_wrong_examples_would_be_found() -> None:
    parsed(["-C", "x", "check", "--at", "main"])
    for words in (["check", "--att", "main"], ["explain"], ["import", "wallaby"], ["check", "-o", "xml"]):
        with pytest.raises(Exception, match=r"No such option|Missing|Invalid value|is not one of"):
            parsed(words)
    with pytest.raises(KeyError):
        parsed(["no-such-command"])
    assert _CALL.findall('eval "$(gitcfg completion bash)" > a/gitcfg.b') == [" completion bash"]


def test_there_is_a_variable_for_every_global_option() -> None:
    valued = [option for option in PROGRAM.options if option.metavar]
    assert {name for option in valued for name in option.names} == _TAKES_VALUE
    for option in valued:
        assert option.environment == f"GITCFG_{option.names[-1].removeprefix('--').upper()}"
    flags = {option.names[-1] for option in PROGRAM.options} - {option.names[-1] for option in valued}
    assert flags == {"--no-pager", "--version", "--help"}  # GITCFG_PAGER=cat is the first's


@pytest.mark.parametrize("name", ["GITCFG_COLOR", "GITCFG_TODAY"])
def test_what_a_variable_says_is_judged_like_the_option(
    name: str, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(name, "neither")
    assert run(["help"]) == 2
    assert "neither" in capfd.readouterr().err


@each_command
def test_help_shows_every_option_and_example_whole(
    command: Command, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert run([*command.words[1:], "--help"]) == 0
    shown = capfd.readouterr().out
    for option in command.options:
        assert all(name in shown for name in option.names)
    for example in command.examples:
        assert f"\n    {example.line}" in shown
    for inner in command.commands:
        assert f"{inner.words[-1]} {first_sentence(inner.purpose)}" in " ".join(shown.split())
