"""The commands as data, read from the application itself: what they are for, take, and have for examples."""

import inspect
import re
from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any, get_args, get_type_hints

import msgspec

from gitcfg.cli.app import program

_EXAMPLE = re.compile(r"(?P<line>\S+(?: \S+)*)(?: {2,}(?P<remark>\S.*))?")


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
    """A command line, and what it is an example of."""

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

    def all(self) -> Iterator["Command"]:
        """This command and all in it."""
        yield self
        for command in self.commands:
            yield from command.all()


def read(modules: Mapping[str, str]) -> Command:
    """The program with these commands."""
    command = program(modules)
    return _command(command, command.make_context("gitcfg", [], resilient_parsing=True))


def _command(command: Any, context: Any) -> Command:
    hints = get_type_hints(inspect.unwrap(command.callback)) if command.callback else {}  # a group has none
    found = [param for param in command.get_params(context) if not getattr(param, "hidden", False)]
    notes, examples = _epilog(command.epilog.replace("\b\n", ""))
    return Command(
        tuple(context.command_path.split()),
        " ".join((command.help or "").split()),
        tuple(_parameter(param, hints) for param in found if param.param_type_name == "argument"),
        tuple(_parameter(param, hints) for param in found if param.param_type_name == "option"),
        notes,
        examples,
        tuple(
            _command(inner, inner.make_context(name, [], parent=context, resilient_parsing=True))
            for name, inner in getattr(command, "commands", {}).items()
            if not inner.hidden
        ),
    )


def _parameter(param: Any, hints: Mapping[str, Any]) -> Parameter:
    flag = bool(getattr(param, "is_flag", False))
    option = param.param_type_name == "option"
    return Parameter(
        "" if flag else param.metavar or param.name.rstrip("_").upper(),
        param.help or "",
        _names(param) if option else (),
        () if flag else _choices(hints.get(param.name)),
        _default(param),
        param.envvar or "",
        param.required,
        param.nargs != 1 or bool(getattr(param, "multiple", False)),
    )


def _names(option: Any) -> tuple[str, ...]:
    """Its names, the short one first: of `--help` they come in the order of a set."""
    return (*sorted(option.opts, key=lambda name: name.startswith("--")), *option.secondary_opts)


def _choices(hint: Any) -> tuple[str, ...]:
    """The members of the enumeration that is somewhere in a type."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return tuple(str(member.value) for member in hint)
    return next((found for part in get_args(hint) if (found := _choices(part))), ())


def _default(param: Any) -> str:
    """What holds where nothing is said, if that is something."""
    default = param.default.value if isinstance(param.default, Enum) else param.default
    if not getattr(param, "show_default", True) or default is None or default is False or callable(default):
        return ""
    if default is True and param.secondary_opts:
        return str(param.opts[0])
    return str(default)


def _epilog(text: str) -> tuple[tuple[str, ...], tuple[Example, ...]]:
    """What an epilog says besides, and its examples, a paragraph each."""
    said, _, rest = text.partition("Examples:")
    notes = tuple(filter(None, (part.strip() for part in said.split("\n\n"))))
    return notes, tuple(_example(line.strip()) for line in rest.splitlines() if line.strip())


def _example(text: str) -> Example:
    found = _EXAMPLE.fullmatch(text)
    return Example(found["line"], found["remark"] or "") if found else Example(text, "")
