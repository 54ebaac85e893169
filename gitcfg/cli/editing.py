"""The options by which `gitcfg new` and `modify` say what a definition shall hold."""

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.plain import safe
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from gitcfg.edit.orders import Given

Texts = list[str] | None


class Editable(StrEnum):
    """The kinds of definitions that can be edited."""

    FEATURE = "feature"
    GROUP = "group"
    NODE = "node"
    NODESET = "nodeset"
    OVERRIDE = "override"
    SUBSYSTEM = "subsystem"
    PARAMETER = "parameter"


At = Annotated[
    int | None, typer.Option("--at", help="The position of what is added; 0 is highest.", metavar="N")
]
Description = Annotated[str | None, typer.Option("--description", help="What it is.", metavar="TEXT")]
Include = Annotated[Texts, typer.Option("--include", help="A feature to include.", metavar="FEATURE")]
Depends = Annotated[
    Texts, typer.Option("--depends", help="A feature or parameter to depend on.", metavar="FEATURE|PARAM")
]
Conflict = Annotated[
    Texts,
    typer.Option("--conflict", help="A feature or parameter to conflict with.", metavar="FEATURE|PARAM"),
]
After = Annotated[
    Texts, typer.Option("--after", help="A feature that becomes active before.", metavar="FEATURE")
]
Install = Annotated[Texts, typer.Option("--feature", help="A feature to install.", metavar="FEATURE")]
Without = Annotated[Texts, typer.Option("--without", help="A feature to do without.", metavar="FEATURE")]
Join = Annotated[Texts, typer.Option("--group", help="A group to be a member of.", metavar="GROUP")]
Member = Annotated[Texts, typer.Option("--node", help="Nodes to be members of the group.", metavar="NODES")]
Label = Annotated[Texts, typer.Option("--label", help="A label to carry.", metavar="TEXT")]
Bind = Annotated[
    Texts, typer.Option("--set", help="A parameter and its value in YAML.", metavar="PARAM=TEXT")
]
Carry = Annotated[
    Texts, typer.Option("--file", help="A file on nodes and what it is, in YAML.", metavar="PATH=TEXT")
]
Fact = Annotated[Texts, typer.Option("--fact", help="A fact and its value in YAML.", metavar="TEXT=TEXT")]
Field = Annotated[
    Texts, typer.Option("--field", help="Any other key and its value in YAML.", metavar="TEXT=TEXT")
]

NoInclude = Annotated[Texts, typer.Option("--no-include", help="One not to include.", metavar="FEATURE")]
NoDepends = Annotated[
    Texts, typer.Option("--no-depends", help="One not to depend on.", metavar="FEATURE|PARAM")
]
NoConflict = Annotated[
    Texts, typer.Option("--no-conflict", help="One not to conflict with.", metavar="FEATURE|PARAM")
]
NoAfter = Annotated[Texts, typer.Option("--no-after", help="One not to wait for.", metavar="FEATURE")]
NoFeature = Annotated[Texts, typer.Option("--no-feature", help="One not to install.", metavar="FEATURE")]
NoWithout = Annotated[Texts, typer.Option("--no-without", help="One to have after all.", metavar="FEATURE")]
NoGroup = Annotated[Texts, typer.Option("--no-group", help="A group to leave.", metavar="GROUP")]
NoNode = Annotated[Texts, typer.Option("--no-node", help="Nodes to leave the group.", metavar="NODES")]
NoLabel = Annotated[Texts, typer.Option("--no-label", help="A label to drop.", metavar="TEXT")]
Unset = Annotated[Texts, typer.Option("--unset", help="A parameter not to bind here.", metavar="PARAM")]
NoFile = Annotated[Texts, typer.Option("--no-file", help="A file to say nothing of.", metavar="PATH")]
NoFact = Annotated[Texts, typer.Option("--no-fact", help="A fact to say nothing of.", metavar="TEXT")]
NoField = Annotated[Texts, typer.Option("--no-field", help="A key to say nothing of.", metavar="TEXT")]

From = Annotated[
    str | None, typer.Option("--from", help="Edits as JSON, one a line; - is stdin.", metavar="FILE")
]
Force = Annotated[bool, typer.Option("--force", help="Write it even if it adds errors.")]
Commit = Annotated[bool, typer.Option("--commit", help="Commit the files that are written.")]
Message = Annotated[str | None, typer.Option("-m", "--message", help="The commit's message.", metavar="TEXT")]


def items(**lists: Texts) -> dict[str, tuple["Given", ...]]:
    """What was said of lists, by key."""
    return {key: given(texts, key) for key, texts in lists.items() if texts}


def entries(**maps: Texts) -> dict[str, dict[str, "Given"]]:
    """What was said of entries of mappings, by key."""
    options = {"params": "--set", "files": "--file", "facts": "--fact"}
    return {key: pairs(texts, options[key]) for key, texts in maps.items() if texts}


def names(**maps: Texts) -> dict[str, tuple[str, ...]]:
    """Which entries of mappings are to be gone, by key."""
    return {key: tuple(texts) for key, texts in maps.items() if texts}


def fields(description: str | None, others: Texts) -> dict[str, "Given"]:
    """Whole keys with their values; a description is text, whatever it looks like."""
    from gitcfg.edit.orders import Given

    told = {} if description is None else {"description": Given(description)}
    return {**told, **pairs(others or (), "--field")}


def given(texts: Iterable[str], what: str) -> tuple["Given", ...]:
    """Values as they were typed. GitcfgError: one is no YAML."""
    from gitcfg.edit.orders import Given
    from gitcfg.edit.written import read_value

    return tuple(Given(read_value(text, what), text) for text in texts)


def pairs(texts: Iterable[str], option: str) -> dict[str, "Given"]:
    """`NAME=VALUE` as they were typed. GitcfgError: one has no `=`."""
    found = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise GitcfgError(
                f"{option} takes NAME=VALUE, not {safe(text)}.", "VALUE is YAML; `null` is one."
            )
        found[name] = given((value,), name)[0]
    return found


def lines(name: str) -> list[bytes]:
    """The lines of a file; - is stdin."""
    return sys.stdin.buffer.readlines() if name == "-" else Path(name).read_bytes().splitlines()
