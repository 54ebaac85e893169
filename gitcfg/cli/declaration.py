"""The declaration of a command, which records as lines, completion and the reference use.

Options that several commands have are declared here, too.
"""

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple

import typer
from typer.core import TyperGroup

from gitcfg.cli.records import ITEMS, Items
from gitcfg.cli.session import Output
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

OutputOption = Annotated[Output, typer.Option("-o", "--output", help="The output format.")]
AtOption = Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")]
NodesArgument = Annotated[list[str] | None, typer.Argument(help="Nodes: names, exec[001-100], @group.")]
WhereOption = Annotated[
    str | None, typer.Option(help="Only nodes for which this condition is true.", metavar="CEL")
]
FoldedOption = Annotated[
    bool, typer.Option("--folded", help="In JSON, write node sets instead of lists of nodes.")
]
YesOption = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask for confirmation.")]

METAVARS: Mapping[str, tuple[str, ...]] = {
    "NODE": ("node",),
    "NODES": ("node", "members"),
    "GROUP": ("group",),
    "FEATURE": ("feature",),
    "PARAM": ("parameter",),
    "PARAMS": ("parameter",),
    "PATH": ("path",),
    "REV": ("revision",),
    "REF": ("revision",),
    "NAME": ("named",),
    "FILE": ("file",),
    "DIR": ("folder",),
    "TOPIC": ("topic",),
    "WHAT": ("file",),
    "ENTITY": ("entity",),
    "SNAPSHOT": ("snapshot",),
    "HOLD": ("hold",),
    "OVERRIDE": ("override",),
    "SECRET": ("secret",),
    "RUN": ("run",),
    **dict.fromkeys(("KIND", "N", "CEL", "COMMAND", "TEXT", "TEXTS", "NEW", "WHO", "KEY", "FINGERPRINT"), ()),
    **dict.fromkeys(("DAYS", "COLUMN", "HOST", "PORT", "ADDRESS", "URL", "TIME", "YYYY-MM-DD", "VALUE"), ()),
}
"""The words of metavars, each with the kinds of names that complete it; empty if there are none."""


class Command(NamedTuple):
    """A command: its function with its options; the examples in its help; the records that it writes."""

    run: Callable[..., Any]
    epilog: str
    records: tuple[Items, ...] = ()
    settings: Mapping[str, Any] | None = None
    help: str | None = None
    """The purpose, if the docstring of the function does not say it."""

    def add_to(self, app: typer.Typer, name: str) -> None:
        """Add the command to an application, under a name."""
        settings = dict(self.settings) if self.settings is not None else None
        app.command(name, help=self.help, epilog=self.epilog, context_settings=settings)(self.run)


class CommandGroup(TyperGroup):
    """Commands after a common word."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Return the command at the beginning of arguments. Raise GitcfgError with hints if there is none."""
        if args[0] in self.commands:
            return super().resolve_command(ctx, args)
        from gitcfg.cli.commands import find_hints

        words = [*ctx.command_path.split()[1:], args[0]]
        raise GitcfgError(f"`gitcfg {shown(' '.join(words))}` is not a command.", *find_hints(words))


class Group(NamedTuple):
    """Commands after a common word. A function that runs without any of them has an epilog of its own."""

    purpose: str
    commands: Mapping[str, "Command | Group"]
    run: Callable[..., Any] | None = None
    epilog: str = ""

    def add_to(self, app: typer.Typer, name: str) -> None:
        """Add the commands to an application."""
        group = typer.Typer(cls=CommandGroup, rich_markup_mode=None, help=self.purpose)
        if self.run is not None:
            group.callback(invoke_without_command=True, epilog=self.epilog)(self.run)
        for word, command in self.commands.items():
            command.add_to(group, word)
        app.add_typer(group, name=name)


def command(
    epilog: str, *records: Items, settings: Mapping[str, Any] | None = None
) -> Callable[[Callable[..., Any]], Command]:
    """Declare a function as a command of the same name; its docstring is the command's purpose."""
    ITEMS.update((items.schema, items) for items in records)
    return lambda run: Command(run, epilog, records, settings)
