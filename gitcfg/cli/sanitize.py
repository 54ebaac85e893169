"""`gitcfg sanitize`: the same repository with every name and value replaced."""

from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli.session import Session
from gitcfg.convert.sanitize.keep import Keep

EPILOG = """Examples:

  gitcfg sanitize ../report                              the work tree, for a bug report

  gitcfg sanitize ../report --at main~3 --keep parameters

  gitcfg sanitize ../report --key ../key --mapping ../names.json"""
_KEEP = typer.Option(help="What else stays; may be said again.")
_NAMES = typer.Option(
    help="A parameter whose name stays, with its words everywhere; may be said again.", metavar="PARAM"
)
_KEY = typer.Option(
    help="What decides all names; made if it is not there. Without it, by chance.", metavar="FILE"
)
_MAPPING = typer.Option(help="Also write what was replaced by what, for your eyes alone.", metavar="FILE")


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    folder: Annotated[Path, typer.Argument(help="Where; there must be nothing yet.", metavar="DIR")],
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    keep: Annotated[list[Keep] | None, _KEEP] = None,
    keep_names: Annotated[list[str] | None, _NAMES] = None,
    key: Annotated[Path | None, _KEY] = None,
    mapping: Annotated[Path | None, _MAPPING] = None,
) -> int:
    """Write a repository with other names and values, but the same findings. Exits 1 if some differ."""
    from gitcfg.cli.sanitized import Request, answered

    session: Session = context.obj
    request = Request(folder, at, frozenset(keep_names or ()), frozenset(keep or ()), key, mapping)
    return answered(session, request)
