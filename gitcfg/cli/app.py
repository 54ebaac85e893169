"""The typer application: global options, and the commands that an invocation needs."""

import os
import sys
from collections.abc import Mapping, Sequence
from datetime import date
from importlib import import_module
from keyword import iskeyword
from typing import Annotated, Any

import typer

from gitcfg import __version__
from gitcfg.cli.commands import COMMANDS, EXITS, GROUPS
from gitcfg.cli.completion import grammar
from gitcfg.cli.console import Color, Pager, pager_command, understands_color
from gitcfg.cli.declaration import Command, CommandGroup, Group
from gitcfg.cli.progress import Progress, shown
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

_USAGE: Any = typer.BadParameter.__mro__[2]  # the root of typer's usage errors, which it does not export

_REPO = typer.Option("-C", "--repo", envvar="GITCFG_REPO", help="The repository.", metavar="DIR")
_COLOR = typer.Option(
    envvar="GITCFG_COLOR", help="When to use colour; auto respects NO_COLOR and FORCE_COLOR."
)
_PAGER = typer.Option(
    "--pager",
    envvar="GITCFG_PAGER",
    help="The pager for results on a terminal; cat means none. Default: PAGER, then less.",
    metavar="COMMAND",
    show_default=False,
)
_PROGRESS = typer.Option(
    envvar="GITCFG_PROGRESS",
    help="When to show progress on stderr; auto: on a terminal, and in git's `remote:` lines.",
)
_TODAY = typer.Option(
    envvar="GITCFG_TODAY",
    help="Use this date as today, for holds, overrides and other ends.",
    metavar="YYYY-MM-DD",
)
_MORE = (
    ("gitcfg help COMMAND", "Show the options and examples of a command."),
    ("gitcfg help CODE", "Explain a finding, such as GC204."),
)


def root(
    context: typer.Context,
    repo: Annotated[str, _REPO] = ".",
    color: Annotated[Color, _COLOR] = Color.AUTO,
    pager: Annotated[str | None, _PAGER] = None,
    no_pager: Annotated[bool, typer.Option("--no-pager", help="Do not use a pager.")] = False,
    progress: Annotated[Progress, _PROGRESS] = Progress.AUTO,
    today: Annotated[str, _TODAY] = "",
    version: Annotated[bool, typer.Option("-V", "--version", help="Show the version.")] = False,
) -> None:
    """Check, explain, render and deliver the configuration of every node of a fleet, from YAML in git."""
    if version:
        typer.echo(f"gitcfg {__version__}")
        raise typer.Exit
    paged = Pager("" if no_pager else pager_command(pager, os.environ))
    try:
        day = date.fromisoformat(today) if today else None
    except ValueError:
        message = f"{today} is not a date. Use the form YYYY-MM-DD."
        raise typer.BadParameter(message, param_hint="--today") from None
    context.with_resource(
        shown(progress, sys.stderr is not None and sys.stderr.isatty() and understands_color(os.environ))
    )
    context.obj = Session(repo, color, day, context.with_resource(paged), progress)
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


class Root(CommandGroup):
    """The program itself: its help lists commands in groups, and all exit codes."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write a list of commands for each group."""
        width = max(len(name) for name in self.commands)
        for heading, names in GROUPS.items():
            with formatter.section(heading):
                formatter.write_dl(
                    (name.ljust(width), self.commands[name].short_help)
                    for name in names
                    if name in self.commands
                )

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write the exit codes, and where to find more help."""
        with formatter.section("Exit codes"):
            formatter.write_dl([(str(code), what) for code, what in EXITS.items()])
        with formatter.section("More help"):
            formatter.write_dl(_MORE)


def build(modules: Mapping[str, str]) -> typer.Typer:
    """Return the application with these commands, each declared under its name in its module.

    Without commands, nothing is to run: then all are there by name, with their purpose from the grammar,
    because importing them all takes most of a second.
    """
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True, cls=Root)(root)
    for name, module in modules.items():
        declared: Command | Group = getattr(import_module(module), name + "_" * iskeyword(name))
        declared.add_to(app, name)
    if not modules:
        for name, command in grammar.read().program.commands.items():
            app.command(name, help=command.help)(_not_loaded)
    return app


def _not_loaded() -> None:
    raise AssertionError("A command is loaded before it runs.")


def program(modules: Mapping[str, str]) -> Any:
    """Return the application as a command. Its help is like a manual: NODE, whole lines, nothing cut off."""
    command: Any = typer.main.get_command(build(modules))
    command.commands = {name: command.commands[name] for name in COMMANDS if name in command.commands}
    pending = [command]
    while pending:
        found = pending.pop()
        pending += getattr(found, "commands", {}).values()
        found.short_help = first_sentence(found.help or "")
        found.epilog = (found.epilog or "").replace("\n\n", "\n\n\b\n")
        for param in found.params:
            if param.param_type_name == "argument":
                param.metavar = param.metavar or param.name.upper()
    return command


def first_sentence(text: str) -> str:
    """Return a help text's first sentence without its full stop."""
    return " ".join(text.partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")


def invoke(arguments: Sequence[str], modules: Mapping[str, str]) -> int:
    """Run a command line and return its exit code.

    typer's own `main` is not used, because it turns closed pipes and interrupts into other exit codes.
    """
    command = program(modules)
    try:
        with command.make_context("gitcfg", list(arguments)) as context:
            code = command.invoke(context)
    except typer.Exit as end:
        return int(end.exit_code)
    except _USAGE as error:
        path = error.ctx.command_path if getattr(error, "ctx", None) else " ".join(("gitcfg", *modules))
        message = " ".join(error.format_message().replace("Value error, ", "").split())
        raise GitcfgError(message, f"Run `{path} --help` for a list of options.") from None
    return code if isinstance(code, int) else 0
