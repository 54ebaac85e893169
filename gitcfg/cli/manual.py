"""docs/commands.md, and the grammar of completion: `make reference` writes both, from the program itself."""

import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from gitcfg.cli.complete import grammar
from gitcfg.cli.exits import EXITS
from gitcfg.cli.main import COMMANDS
from gitcfg.cli.reference import Command, Parameter, read
from gitcfg.cli.syntax import grammar_of

_EXIT = re.compile(r" *Exits? (\d+) (if [^.]+)\.")
_PREFACE = """\
# Commands

<!-- Made from the program by `make reference`; do not edit. -->

`gitcfg --help` and `gitcfg COMMAND --help` say in a terminal what stands here. Results go to stdout,
everything else to stderr. On a terminal, results for eyes go through a pager: what `--pager` or
`GITCFG_PAGER` says, else `PAGER`, else `less` with the settings `FRX` unless `LESS` has others; `cat` or
nothing is none. What is for programs (`-o json` and the like) is never paged. Whoever leaves the pager
before the end stops the command, which then exits with 141 and says nothing.

Colour: `--color always` and `never` are obeyed; with `auto` a `NO_COLOR` that is not empty switches colour
off, else a `FORCE_COLOR` that is not empty switches it on, else there is colour on terminals.

[Completion](#gitcfg-completion) for bash, zsh and fish knows commands, options and the repository's names.

"""


def manual(program: Command) -> str:
    """The page about a program's commands."""
    commands = [command for command in program.all() if not command.commands]
    return "".join(
        (
            _PREFACE,
            _table(
                ("command", "what it is for"), ((_link(command), _purpose(command)) for command in commands)
            ),
            "\n## Options of all commands\n\nThey stand before the command: `gitcfg -C pool check`.\n\n",
            _parameters("option", program.options),
            "\n## Exit codes\n\n",
            _table(("code", "what it says"), ((str(code), what) for code, what in EXITS.items())),
            *(_section(command) for command in commands),
        )
    )


def _section(command: Command) -> str:
    options = [option for option in command.options if "--help" not in option.names]
    parts = (
        f"## {' '.join(command.words)}",
        _purpose(command),
        f"```\n{_usage(command)}\n```",
        _parameters("argument", command.arguments),
        _parameters("option", options),
        *command.notes,
        f"```\n{_examples(command)}```",
        _exits(command),
    )
    return "".join(f"\n{part.rstrip()}\n" for part in parts if part)


def _purpose(command: Command) -> str:
    return _EXIT.sub("", command.purpose)


def _usage(command: Command) -> str:
    """How a command is written, as manuals have it: `gitcfg explain [OPTION]... NODE [PARAM]...`."""
    places = [_place(argument) for argument in command.arguments]
    return " ".join((*command.words, "[OPTION]...", *places))


def _place(argument: Parameter) -> str:
    if argument.metavar.startswith("["):
        return argument.metavar
    name = argument.metavar if argument.required else f"[{argument.metavar}]"
    return f"{name}..." if argument.many else name


def _exits(command: Command) -> str:
    said = "; ".join(f"{code} {when}" for code, when in _EXIT.findall(_texts(command)))
    return f"Exit codes: {f'{said}; the others ' if said else ''}as for [all commands](#exit-codes)."


def _texts(command: Command) -> str:
    """Where a command may say when it exits with what."""
    return " ".join((command.purpose, *(option.help for option in command.options)))


def _examples(command: Command) -> str:
    """Example lines with their remarks as comments."""
    width = max((len(example.line) for example in command.examples), default=0)
    return "".join(
        f"{example.line.ljust(width)}  # {example.remark}\n" if example.remark else f"{example.line}\n"
        for example in command.examples
    )


def _parameters(noun: str, parameters: Iterable[Parameter]) -> str:
    rows = [(_name(parameter), " ".join(_said(parameter))) for parameter in parameters]
    return _table((noun, "what it says"), rows) if rows else ""


def _name(parameter: Parameter) -> str:
    value = (f"`{parameter.metavar}`",) if parameter.metavar else ()
    return " ".join((", ".join(f"`{name}`" for name in parameter.names), *value)).strip()


def _said(parameter: Parameter) -> Iterator[str]:
    yield parameter.help
    if parameter.choices:
        yield f"One of {', '.join(f'`{choice}`' for choice in parameter.choices)}."
    if parameter.many and parameter.names:
        yield "May be repeated."
    if parameter.default:
        yield f"Default: `{parameter.default}`."
    if parameter.environment:
        yield f"Environment: `{parameter.environment}`."


def _table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    """A table of two columns; what would end a cell is escaped."""
    lines = [head, ("---", "---"), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


def _link(command: Command) -> str:
    return f"[{' '.join(command.words)}](#{'-'.join(command.words)})"


def main(folder: Path) -> None:
    """Write the page into a folder, and the grammar where completion reads it."""
    program = read(COMMANDS)
    (folder / "commands.md").write_text(manual(program), encoding="utf-8")
    Path(grammar.FILE).write_text(grammar.written(grammar_of(program)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
