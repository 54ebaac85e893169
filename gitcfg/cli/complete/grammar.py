"""What the command line looks like: grammar.json, which `make reference` makes from the program."""

import json
import os.path
from collections.abc import Mapping
from typing import Any, NamedTuple

FILE = os.path.join(os.path.dirname(__file__), "grammar.json")  # pathlib would take as long as all of this


class Value(NamedTuple):
    """What may be written in a place: one of the choices, or a name of one of the kinds."""

    choices: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


class Option(NamedTuple):
    """An option; one without a value is a flag."""

    names: tuple[str, ...]
    help: str
    value: Value | None = None
    many: bool = False


class Argument(NamedTuple):
    """A place behind a command for one word, or for many."""

    value: Value
    many: bool = False


class Command(NamedTuple):
    """A command, or a group of commands."""

    help: str
    options: tuple[Option, ...] = ()
    arguments: tuple[Argument, ...] = ()
    commands: Mapping[str, "Command"] = {}

    def option(self, name: str) -> Option | None:
        """The option of that name."""
        return next((option for option in self.options if name in option.names), None)


class Grammar(NamedTuple):
    """The program, and by kind the pattern of its legal names."""

    program: Command
    names: Mapping[str, str]


def read() -> Grammar:
    """The grammar of this version of the program."""
    with open(FILE, "rb") as file:
        said = json.load(file)
    return Grammar(_command(said["program"]), said["names"])


def _command(said: Mapping[str, Any]) -> Command:
    return Command(
        said["help"],
        tuple(_option(option) for option in said["options"]),
        tuple(Argument(_value(place["value"]), place["many"]) for place in said["arguments"]),
        {name: _command(command) for name, command in said["commands"].items()},
    )


def _option(said: Mapping[str, Any]) -> Option:
    value = said["value"]
    return Option(tuple(said["names"]), said["help"], None if value is None else _value(value), said["many"])


def _value(said: Mapping[str, Any]) -> Value:
    return Value(tuple(said["choices"]), tuple(said["kinds"]))


def written(grammar: Grammar) -> str:
    """The text of grammar.json."""
    said = {"program": _plain(grammar.program), "names": dict(grammar.names)}
    return json.dumps(said, indent=1) + "\n"


def _plain(value: Any) -> Any:
    """Named tuples as mappings."""
    if hasattr(value, "_asdict"):
        return {key: _plain(part) for key, part in value._asdict().items()}
    if isinstance(value, Mapping):
        return {key: _plain(part) for key, part in value.items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value
