"""The grammar of the command line, and the place of the cursor in it.

`make reference` makes grammar.json from the program, because the program itself would have to import typer.
"""

import json
import os.path
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

FILE = os.path.join(os.path.dirname(__file__), "grammar.json")  # pathlib takes as long as all of this


class Value(NamedTuple):
    """The possible words in a place: one of the choices, or a name of one of the kinds."""

    choices: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()


class Option(NamedTuple):
    """An option; one without a value is a flag."""

    names: tuple[str, ...]
    help: str
    value: Value | None = None
    many: bool = False


class Argument(NamedTuple):
    """A place after a command for one word, or for many."""

    value: Value
    many: bool = False


class Command(NamedTuple):
    """A command, or a group of commands."""

    help: str
    options: tuple[Option, ...] = ()
    arguments: tuple[Argument, ...] = ()
    commands: Mapping[str, "Command"] = {}

    def option(self, name: str) -> Option | None:
        """Return the option of that name."""
        return next((option for option in self.options if name in option.names), None)


class Grammar(NamedTuple):
    """The program, and by kind the pattern of legal names."""

    program: Command
    names: Mapping[str, str]


def read() -> Grammar:
    """Return the grammar of this version of the program."""
    with open(FILE, "rb") as file:
        data = json.load(file)
    return Grammar(_command(data["program"]), data["names"])


def _command(data: Any) -> Command:
    help, options, arguments, commands = data
    return Command(
        help,
        tuple(Option(tuple(names), what, _value(value), many) for names, what, value, many in options),
        tuple(Argument(_value(value) or Value(), many) for value, many in arguments),
        {name: _command(command) for name, command in commands.items()},
    )


def _value(data: Any) -> Value | None:
    return None if data is None else Value(tuple(data[0]), tuple(data[1]))


def to_json(grammar: Grammar) -> str:
    """Return the text of grammar.json: a line for each command, tuples as lists."""
    help, options, arguments, commands = grammar.program
    head = json.dumps([help, options, arguments])[:-1]
    lines = ",\n".join(f"{json.dumps(name)}: {json.dumps(command)}" for name, command in commands.items())
    return f'{{"names": {json.dumps(grammar.names)},\n"program": {head}, {{\n{lines}}}]}}\n'


class Place(NamedTuple):
    """What is possible at the cursor, after `head`, which is already written (`--at=`)."""

    command: Command
    value: Value | None = None
    """None: a command, or an option."""
    head: str = ""
    before: tuple[str, ...] = ()
    """The arguments before it."""
    options: frozenset[str] = frozenset()
    """The options before it."""
    repo: str | None = None


_NOTHING = Value()


def find_place(program: Command, words: Sequence[str]) -> Place:
    """Return the place of the last word."""
    reader = _Reader(program)
    for word in words[:-1]:
        reader.read(word)
    return reader.place(words[-1])


class _Reader:
    """Reader of words as the program would read them; it ignores what the program rejects."""

    def __init__(self, program: Command) -> None:
        self.command = program
        self.arguments: list[str] = []
        self.options: set[str] = set()
        self.pending: Option | None = None
        self.ended = False
        self.repo: str | None = None

    def read(self, word: str) -> None:
        if self.pending is not None:
            self.take(self.pending, word)
            self.pending = None
        elif self.ended or not word.startswith("-") or word == "-":
            self.argument(word)
        elif word == "--":
            self.ended = True
        else:
            self.option(word)

    def argument(self, word: str) -> None:
        if self.command.commands:
            self.command = self.command.commands.get(word, Command(""))
            self.options = set()
        else:
            self.arguments.append(word)

    def option(self, word: str) -> None:
        for option, attached in parts(self.command, word):
            self.options.update(option.names)
            if option.value is None:
                continue
            if attached is None:
                self.pending = option
            else:
                self.take(option, attached)

    def take(self, option: Option, value: str) -> None:
        if "--repo" in option.names:
            self.repo = value

    def place(self, word: str) -> Place:
        here = Place(self.command, None, "", tuple(self.arguments), frozenset(self.options), self.repo)
        if self.pending is not None:
            return here._replace(value=self.pending.value)
        if word.startswith("-") and not self.ended:
            return self.in_option(here, word)
        if self.command.commands:
            return here
        return here._replace(value=self.expected())

    def in_option(self, here: Place, word: str) -> Place:
        """Return the place after an option's name, or inside the value that is attached to it."""
        for option, attached in parts(self.command, word):
            if option.value is not None and attached is not None:
                return here._replace(value=option.value, head=word[: len(word) - len(attached)])
        return here

    def expected(self) -> Value | None:
        """Return what the next argument may be; None if there is none, so only options can follow."""
        places = self.command.arguments
        number = len(self.arguments)
        if number < len(places):
            return places[number].value
        if places and places[-1].many:
            return places[-1].value
        return _NOTHING if self.ended else None


def parts(command: Command, word: str) -> Iterable[tuple[Option, str | None]]:
    """Yield the options in a word, with the value that is attached to them: `--at=x`, `-ox`, `-Vh`."""
    if word.startswith("--"):
        name, equals, value = word.partition("=")
        option = command.option(name)
        return [(option, value if equals else None)] if option is not None else []
    found: list[tuple[Option, str | None]] = []
    for index, letter in enumerate(word[1:], 2):
        option = command.option(f"-{letter}")
        if option is None:
            break
        takes = option.value is not None
        found.append((option, word[index:] or None if takes else None))
        if takes:
            break
    return found
