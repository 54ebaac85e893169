"""The reference of commands, docs/commands.md, and the grammar of completion, made from the program.

`make reference` writes them.
"""

import inspect
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_type_hints

import msgspec

from gitcfg.cli.app import first_sentence, program
from gitcfg.cli.commands import COMMANDS, EXITS, GROUPS
from gitcfg.cli.completion import grammar
from gitcfg.cli.declaration import METAVARS
from gitcfg.explain.show import KINDS
from gitcfg.model import names

_EXAMPLE = re.compile(r"(?P<line>\S+(?: \S+)*)(?: {2,}(?P<remark>\S.*))?")
_EXIT = re.compile(r" *Exits? (\d+) (if [^.]+)\.")
_PREFACE = """\
# Commands

<!-- Made from the program by `make reference`; do not edit. -->

This page lists all commands with their options. In a terminal, `gitcfg --help` lists the commands, and
`gitcfg COMMAND --help` or `gitcfg help COMMAND` shows the options of one.

**Output.** Results are written to stdout, everything else to stderr. On a terminal, results for people go
through a pager; output for programs (`-o json` and the like) never does. The pager is the first of:

1. `--pager` or `GITCFG_PAGER`,
2. `PAGER`,
3. `less`, with the settings `FRX` unless `LESS` has others.

`cat` or an empty value means no pager. If you quit the pager early, the command stops without a message
and exits with 141.

**Colour.** `--color always` and `--color never` have priority. With `auto`, a non-empty `NO_COLOR` disables
colour, and a non-empty `FORCE_COLOR` enables it. Without these, only output to a terminal has colour.

**Completion.** The shells bash, zsh and fish can [complete](#gitcfg-completion) commands, options, and the
names in the repository.

"""
_WORD = re.compile(r"YYYY-MM-DD|[A-Z]+")
_NAMED = (
    *("group", "feature", "override", "hold", "secret"),
    *("nodeset", "subsystem", "rule", "allocation"),
)
_PATTERNS = {
    "node": names.HOST.pattern,
    "parameter": names.PARAMETER.pattern,
    "members": "@" + names.NAME.pattern,
    **dict.fromkeys(_NAMED, names.NAME.pattern),
}


class Parameter(msgspec.Struct, frozen=True):
    """An option or an argument; `names` are an option's, and `metavar` is empty for a flag."""

    metavar: str
    help: str
    names: tuple[str, ...] = ()
    choices: tuple[str, ...] = ()
    default: str = ""
    environment: str = ""
    required: bool = False
    many: bool = False


class Example(msgspec.Struct, frozen=True):
    """A command line, and its meaning."""

    line: str
    remark: str


class Command(msgspec.Struct, frozen=True):
    """A command, or a group of commands; `words` begin with the program's name."""

    words: tuple[str, ...]
    purpose: str
    arguments: tuple[Parameter, ...]
    options: tuple[Parameter, ...]
    notes: tuple[str, ...]
    examples: tuple[Example, ...]
    commands: tuple["Command", ...]

    @property
    def runs(self) -> bool:
        """Whether it runs by itself: a group with examples does."""
        return not self.commands or bool(self.examples)

    def all(self) -> Iterator["Command"]:
        """Yield this command and all commands in it."""
        yield self
        for command in self.commands:
            yield from command.all()


def read(modules: Mapping[str, str]) -> Command:
    """Read the program with these commands from the application itself."""
    command = program(modules)
    return _command(command, command.make_context("gitcfg", [], resilient_parsing=True))


def _command(command: Any, context: Any) -> Command:
    hints = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}  # a group has none
    found = [param for param in command.get_params(context) if not getattr(param, "hidden", False)]
    notes, _, examples = command.epilog.replace("\b\n", "").partition("Examples:")
    return Command(
        tuple(context.command_path.split()),
        " ".join((command.help or "").split()),
        tuple(_parameter(param, hints) for param in found if param.param_type_name == "argument"),
        tuple(_parameter(param, hints) for param in found if param.param_type_name == "option"),
        tuple(filter(None, (part.strip() for part in notes.split("\n\n")))),
        tuple(_parse_example(line.strip()) for line in examples.splitlines() if line.strip()),
        tuple(
            _command(inner, inner.make_context(name, [], parent=context, resilient_parsing=True))
            for name, inner in getattr(command, "commands", {}).items()
            if not inner.hidden
        ),
    )


def _parameter(param: Any, hints: Mapping[str, Any]) -> Parameter:
    flag = bool(getattr(param, "is_flag", False))
    # The short name first, because those of `--help` have the order of a set.
    own_names = (*sorted(param.opts, key=lambda name: name.startswith("--")), *param.secondary_opts)
    return Parameter(
        "" if flag else param.metavar or param.name.rstrip("_").upper(),
        param.help or "",
        own_names if param.param_type_name == "option" else (),
        () if flag else _choices(hints.get(param.name)),
        _default(param),
        param.envvar or "",
        param.required,
        param.nargs != 1 or bool(getattr(param, "multiple", False)),
    )


def _choices(hint: Any) -> tuple[str, ...]:
    """Return the members of the enumeration inside a type."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return tuple(str(member.value) for member in hint)
    return next((found for part in get_args(hint) if (found := _choices(part))), ())


def _default(param: Any) -> str:
    """Return the default of an option; "" if there is none."""
    default = param.default.value if isinstance(param.default, Enum) else param.default
    if not getattr(param, "show_default", True) or default is None or default is False or callable(default):
        return ""
    if default is True and param.secondary_opts:
        return str(param.opts[0])
    return str(default)


def _parse_example(text: str) -> Example:
    found = _EXAMPLE.fullmatch(text)
    return Example(found["line"], found["remark"] or "") if found else Example(text, "")


# The page


def manual(program: Command) -> str:
    """Return the page about a program's commands."""
    commands = [command for command in program.all() if command.runs]
    return "".join(
        (
            _PREFACE,
            *(
                _overview(heading, [one for one in commands if one.words[1] in GROUPS[heading]])
                for heading in GROUPS
            ),
            "## Options of all commands\n\nWrite them before the command: `gitcfg -C pool check`.\n\n",
            _parameters("option", program.options),
            "\n## Exit codes\n\n",
            _table(("code", "meaning"), ((str(code), what) for code, what in EXITS.items())),
            *(_section(command) for command in commands),
        )
    )


def _overview(heading: str, commands: Iterable[Command]) -> str:
    """Return the list of a group's commands."""
    rows = (
        (f"[{' '.join(command.words)}](#{'-'.join(command.words)})", _purpose(command))
        for command in commands
    )
    return f"## {heading}\n\n{_table(('command', 'purpose'), rows)}\n"


def _section(command: Command) -> str:
    options = [option for option in command.options if "--help" not in option.names]
    # As in manuals: `gitcfg explain [OPTION]... NODE [PARAM]...`.
    usage = " ".join((*command.words, "[OPTION]...", *map(_format_argument, command.arguments)))
    width = max((len(example.line) for example in command.examples), default=0)
    examples = (
        f"{one.line.ljust(width)}  # {one.remark}" if one.remark else one.line for one in command.examples
    )
    texts = " ".join((command.purpose, *(option.help for option in command.options)))
    exits = "; ".join(f"{code} {when}" for code, when in _EXIT.findall(texts))
    parts = (
        f"## {' '.join(command.words)}",
        _purpose(command),
        f"```\n{usage}\n```",
        _parameters("argument", command.arguments),
        _parameters("option", options),
        *command.notes,
        "\n".join(("```", *examples, "```")),
        f"Exit codes: {f'{exits}; the others ' if exits else ''}as for [all commands](#exit-codes).",
    )
    return "".join(f"\n{part.rstrip()}\n" for part in parts if part)


def _purpose(command: Command) -> str:
    return _EXIT.sub("", command.purpose)


def _format_argument(argument: Parameter) -> str:
    if argument.metavar.startswith("["):
        return argument.metavar
    name = argument.metavar if argument.required else f"[{argument.metavar}]"
    return f"{name}..." if argument.many else name


def _parameters(noun: str, parameters: Iterable[Parameter]) -> str:
    rows = []
    for parameter in parameters:
        names = ", ".join(f"`{name}`" for name in parameter.names)
        value = f"`{parameter.metavar}`" if parameter.metavar else ""
        rows.append((f"{names} {value}".strip(), " ".join(_remarks(parameter))))
    return _table((noun, "meaning"), rows) if rows else ""


def _remarks(parameter: Parameter) -> Iterator[str]:
    yield parameter.help
    if parameter.choices:
        yield f"One of {', '.join(f'`{choice}`' for choice in parameter.choices)}."
    if parameter.many and parameter.names and "may be repeated" not in parameter.help:
        yield "May be repeated."
    if parameter.default:
        yield f"Default: `{parameter.default}`."
    if parameter.environment:
        yield f"Environment: `{parameter.environment}`."


def _table(head: tuple[str, str], rows: Iterable[tuple[str, str]]) -> str:
    """Return a table of two columns; characters that end a cell are escaped."""
    lines = [head, ("---", "---"), *rows]
    return "".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |\n" for line in lines)


# The grammar of completion


def grammar_of(program: Command) -> grammar.Grammar:
    """Return the grammar of a program, and the patterns of legal names."""
    return grammar.Grammar(_grammar_command(program), _PATTERNS)


def _grammar_command(command: Command) -> grammar.Command:
    return grammar.Command(
        first_sentence(command.purpose),
        tuple(
            grammar.Option(
                option.names,
                first_sentence(option.help),
                _grammar_value(option) if option.metavar else None,
                option.many,
            )
            for option in command.options
        ),
        tuple(grammar.Argument(_grammar_value(argument), argument.many) for argument in command.arguments),
        {inner.words[-1]: _grammar_command(inner) for inner in command.commands},
    )


def _grammar_value(parameter: Parameter) -> grammar.Value:
    if parameter.choices:
        return grammar.Value(parameter.choices)
    words = _WORD.findall(parameter.metavar)
    if parameter.metavar == "NAME" and parameter.names:  # the kind is in the option's name (`--group`)
        words = [parameter.names[-1].removeprefix("--").upper()]
    choices = tuple(KINDS) if "KIND" in words else ()
    return grammar.Value(choices, tuple(dict.fromkeys(kind for word in words for kind in METAVARS[word])))


def main(folder: Path) -> None:
    """Write the page to a folder, and the grammar to the place where completion reads it."""
    found = read(COMMANDS)
    (folder / "commands.md").write_text(manual(found), encoding="utf-8")
    Path(grammar.FILE).write_text(grammar.to_json(grammar_of(found)), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
