"""The options of commands that edit definitions, and the orders that they make."""

import sys
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from gitcfg.model import GitcfgError
from gitcfg.model.text import safe

if TYPE_CHECKING:
    from gitcfg.edit.orders import Order
    from gitcfg.edit.yaml.changes import Given

Texts = list[str] | None


class Editable(StrEnum):
    """The kinds of definitions that can be edited."""

    FEATURE = "feature"
    GROUP = "group"
    NODE = "node"
    NODESET = "nodeset"
    OVERRIDE = "override"
    HOLD = "hold"
    SECRET = "secret"
    SUBSYSTEM = "subsystem"
    PARAMETER = "parameter"
    RULE = "rule"
    ALLOCATION = "allocation"


class Part(StrEnum):
    """The parts of an order that options fill."""

    ADD = "add"
    REMOVE = "remove"
    PUT = "put"
    TAKE = "take"
    FIELDS = "fields"
    DROP = "drop"


class Option(msgspec.Struct, frozen=True):
    """An option that may be repeated, and what it fills: of a part of an order, what is under a key."""

    part: Part
    key: str
    name: str
    help: str
    metavar: str

    @property
    def variable(self) -> str:
        """The name of what typer hands over."""
        return self.name.removeprefix("--").replace("-", "_")

    @property
    def parameter(self) -> Parameter:
        """The parameter of a command's signature."""
        type_ = Annotated[Texts, typer.Option(self.name, help=self.help, metavar=self.metavar)]
        return Parameter(self.variable, Parameter.KEYWORD_ONLY, default=None, annotation=type_)


OPTIONS = (
    Option(Part.ADD, "include", "--include", "A feature to include.", "FEATURE"),
    Option(Part.REMOVE, "include", "--no-include", "One not to include.", "FEATURE"),
    Option(Part.ADD, "depends", "--depends", "A feature or parameter to depend on.", "FEATURE|PARAM"),
    Option(Part.REMOVE, "depends", "--no-depends", "One not to depend on.", "FEATURE|PARAM"),
    Option(Part.ADD, "conflicts", "--conflict", "A feature or parameter to conflict with.", "FEATURE|PARAM"),
    Option(Part.REMOVE, "conflicts", "--no-conflict", "One not to conflict with.", "FEATURE|PARAM"),
    Option(Part.ADD, "after", "--after", "A feature that becomes active before.", "FEATURE"),
    Option(Part.REMOVE, "after", "--no-after", "One not to wait for.", "FEATURE"),
    Option(Part.ADD, "features", "--feature", "A feature to install.", "FEATURE"),
    Option(Part.REMOVE, "features", "--no-feature", "One not to install.", "FEATURE"),
    Option(Part.ADD, "without", "--without", "A feature to do without.", "FEATURE"),
    Option(Part.REMOVE, "without", "--no-without", "One to have after all.", "FEATURE"),
    Option(Part.ADD, "groups", "--group", "A group to be a member of.", "GROUP"),
    Option(Part.REMOVE, "groups", "--no-group", "A group to leave.", "GROUP"),
    Option(Part.ADD, "nodes", "--node", "Nodes to be members of the group.", "NODES"),
    Option(Part.REMOVE, "nodes", "--no-node", "Nodes to leave the group.", "NODES"),
    Option(Part.ADD, "labels", "--label", "A label to carry.", "TEXT"),
    Option(Part.REMOVE, "labels", "--no-label", "A label to drop.", "TEXT"),
    Option(Part.PUT, "params", "--set", "A parameter and its value in YAML.", "PARAM=TEXT"),
    Option(Part.TAKE, "params", "--unset", "A parameter not to bind here.", "PARAM"),
    Option(Part.PUT, "files", "--file", "A file on nodes and what it is, in YAML.", "PATH=TEXT"),
    Option(Part.TAKE, "files", "--no-file", "A file to say nothing of.", "PATH"),
    Option(Part.PUT, "facts", "--fact", "A fact and its value in YAML.", "TEXT=TEXT"),
    Option(Part.TAKE, "facts", "--no-fact", "A fact to say nothing of.", "TEXT"),
    Option(Part.FIELDS, "", "--field", "Any other key and its value in YAML.", "TEXT=TEXT"),
    Option(Part.DROP, "", "--no-field", "A key to say nothing of.", "TEXT"),
)

At = Annotated[
    int | None, typer.Option("--at", help="The position of what is added; 0 is highest.", metavar="N")
]
Description = Annotated[str | None, typer.Option("--description", help="What it is.", metavar="TEXT")]
From = Annotated[
    str | None, typer.Option("--from", help="Edits as JSON, one a line; - is stdin.", metavar="FILE")
]
Force = Annotated[bool, typer.Option("--force", help="Write it even if it adds errors.")]
Solve = Annotated[
    bool, typer.Option("--solve", help="Decide what rules leave open then, in the same change.")
]
Commit = Annotated[bool, typer.Option("--commit", help="Commit the files that are written.")]
Message = Annotated[str | None, typer.Option("-m", "--message", help="The commit's message.", metavar="TEXT")]


def with_options(options: Iterable[Option]) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command options of the table in place of its `**entries`, before all that is keyword-only."""

    def give(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def taker(**given: object) -> int:
            return command(**given)

        own = [one for one in signature(command).parameters.values() if one.kind is not Parameter.VAR_KEYWORD]
        later = [one for one in own if one.kind is Parameter.KEYWORD_ONLY]
        parameters = (*own[: len(own) - len(later)], *(option.parameter for option in options), *later)
        taker.__dict__["__signature__"] = Signature(parameters, return_annotation=int)
        return taker

    return give


def fill_order(order: "Order", description: str | None, entries: Mapping[str, Texts]) -> "Order":
    """Return the order with what options of the table say. Raise GitcfgError if a value is no YAML."""
    parts: dict[Part, list[tuple[Option, list[str]]]] = {part: [] for part in Part}
    for option in OPTIONS:
        if texts := entries.get(option.variable):
            parts[option.part].append((option, texts))
    return msgspec.structs.replace(
        order,
        add={option.key: _given(texts, option.key) for option, texts in parts[Part.ADD]},
        remove={option.key: _given(texts, option.key) for option, texts in parts[Part.REMOVE]},
        put={option.key: _pairs(texts, option.name) for option, texts in parts[Part.PUT]},
        take={option.key: tuple(texts) for option, texts in parts[Part.TAKE]},
        fields=_fields(description, parts[Part.FIELDS]),
        drop=tuple(text for _, texts in parts[Part.DROP] for text in texts),
    )


def _fields(description: str | None, others: Iterable[tuple[Option, list[str]]]) -> dict[str, "Given"]:
    """Return whole keys with their values; a description is text, whatever it looks like."""
    from gitcfg.edit.yaml.changes import Given

    found = {} if description is None else {"description": Given(description)}
    for option, texts in others:
        found |= _pairs(texts, option.name)
    return found


def _given(texts: Iterable[str], what: str) -> tuple["Given", ...]:
    """Read values as they were typed. Raise GitcfgError if one is no YAML."""
    from gitcfg.edit.yaml.changes import Given
    from gitcfg.edit.yaml.tree import parse_value

    return tuple(Given(parse_value(text, what), text) for text in texts)


def _pairs(texts: Iterable[str], option: str) -> dict[str, "Given"]:
    """Read `NAME=VALUE` as they were typed. Raise GitcfgError if one has no `=`."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise GitcfgError(
                f"{option} takes NAME=VALUE, not {safe(text)}.", "VALUE is YAML; `null` is one."
            )
        found[name] = _given((value,), name)[0]
    return found


def read_lines(name: str) -> list[bytes]:
    """Read the lines of a file; - is stdin."""
    return sys.stdin.buffer.readlines() if name == "-" else Path(name).read_bytes().splitlines()
