"""Where in a command line the cursor is: what may be written there."""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from gitcfg.cli.complete.grammar import Command, Option, Value


class Place(NamedTuple):
    """What may stand at the cursor, behind `head`, which is there already (`--at=`)."""

    command: Command
    value: Value | None = None
    """None: a command, or an option."""
    head: str = ""
    before: tuple[str, ...] = ()
    """The arguments before it."""
    said: frozenset[str] = frozenset()
    """The options before it."""
    repo: str | None = None


_NOTHING = Value()


def find(program: Command, words: Sequence[str]) -> Place:
    """The place of the last word."""
    reader = _Reader(program)
    for word in words[:-1]:
        reader.read(word)
    return reader.place(words[-1])


class _Reader:
    """Reads words as the program would; what it would refuse is passed over."""

    def __init__(self, program: Command) -> None:
        self.command = program
        self.arguments: list[str] = []
        self.said: set[str] = set()
        self.awaited: Option | None = None
        self.ended = False
        self.repo: str | None = None

    def read(self, word: str) -> None:
        if self.awaited is not None:
            self.take(self.awaited, word)
            self.awaited = None
        elif self.ended or not word.startswith("-") or word == "-":
            self.argument(word)
        elif word == "--":
            self.ended = True
        else:
            self.option(word)

    def argument(self, word: str) -> None:
        if self.command.commands:
            self.command = self.command.commands.get(word, Command(""))
            self.said = set()
        else:
            self.arguments.append(word)

    def option(self, word: str) -> None:
        for option, attached in parts(self.command, word):
            self.said.update(option.names)
            if option.value is None:
                continue
            if attached is None:
                self.awaited = option
            else:
                self.take(option, attached)

    def take(self, option: Option, value: str) -> None:
        if "--repo" in option.names:
            self.repo = value

    def place(self, word: str) -> Place:
        here = Place(self.command, None, "", tuple(self.arguments), frozenset(self.said), self.repo)
        if self.awaited is not None:
            return here._replace(value=self.awaited.value)
        if word.startswith("-") and not self.ended:
            return self.in_option(here, word)
        if self.command.commands:
            return here
        return here._replace(value=self.expected())

    def in_option(self, here: Place, word: str) -> Place:
        """An option's name, or the value that is written on to it."""
        for option, attached in parts(self.command, word):
            if option.value is not None and attached is not None:
                return here._replace(value=option.value, head=word[: len(word) - len(attached)])
        return here

    def expected(self) -> Value | None:
        """What the next argument may be; None: there is none, so only options come."""
        places = self.command.arguments
        number = len(self.arguments)
        if number < len(places):
            return places[number].value
        if places and places[-1].many:
            return places[-1].value
        return _NOTHING if self.ended else None


def parts(command: Command, word: str) -> Iterable[tuple[Option, str | None]]:
    """The options that a word holds, with the value that is written on to them: `--at=x`, `-ox`, `-Vh`."""
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
