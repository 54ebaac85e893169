"""The typer application: global options, and the commands that an invocation needs."""

from collections.abc import Mapping, Sequence
from datetime import date
from importlib import import_module
from typing import Annotated, Any

import typer

from gitcfg import __version__
from gitcfg.cli.session import Color, Session
from gitcfg.model.errors import GitcfgError

_USAGE: Any = typer.BadParameter.__mro__[2]  # the root of typer's usage errors, which it does not export

EPILOG = "Exit codes: 0 done, 1 findings or differences, 2 wrong usage, 70 a fault of gitcfg's own."


def root(
    context: typer.Context,
    repo: Annotated[str, typer.Option("-C", "--repo", envvar="GITCFG_REPO", help="The repository.")] = ".",
    color: Annotated[Color, typer.Option(envvar="GITCFG_COLOR", help="Colour the output.")] = Color.AUTO,
    today: Annotated[
        str, typer.Option(envvar="GITCFG_TODAY", help="The date for what has an end.", metavar="YYYY-MM-DD")
    ] = "",
    version: Annotated[bool, typer.Option("-V", "--version", help="Show the version.")] = False,
) -> None:
    """Semantic GitOps for fleets: check, render and explain every node's configuration."""
    if version:
        typer.echo(f"gitcfg {__version__}")
        raise typer.Exit
    context.obj = Session(repo, color, _date(today))
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())
        raise typer.Exit(2)


def _date(text: str) -> date | None:
    try:
        return date.fromisoformat(text) if text else None
    except ValueError:
        raise typer.BadParameter(f"{text} is no date; write YYYY-MM-DD.", param_hint="--today") from None


def build(modules: Mapping[str, str]) -> typer.Typer:
    """The application with these commands."""
    app = typer.Typer(
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    )
    app.callback(invoke_without_command=True, epilog=EPILOG)(root)
    for name, module in modules.items():
        import_module(module).register(app, name)
    return app


def invoke(arguments: Sequence[str], modules: Mapping[str, str]) -> int:
    """Run a command line and return its exit code.

    typer's own `main` would turn closed pipes and interrupts into exit codes of its choice.
    """
    program = typer.main.get_command(build(modules))
    try:
        with program.make_context("gitcfg", list(arguments)) as context:
            code = program.invoke(context)
    except typer.Exit as asked:
        return int(asked.exit_code)
    except _USAGE as error:
        command = error.ctx.command_path if getattr(error, "ctx", None) else "gitcfg"
        raise GitcfgError(error.format_message(), f"`{command} --help` shows what there is.") from None
    return code if isinstance(code, int) else 0
