"""`gitcfg export`: what a repository says, for people and programs elsewhere."""

from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli.session import Session

EPILOG = """Nothing but files that gitcfg wrote, and nobody changed since, is replaced or removed.

Examples:

  gitcfg export docs --out docs/site                 Markdown, for a forge

  gitcfg export docs --html site.html --at main      one page, for browsers

  gitcfg export docs --out site --html site.html --title 'The pool'"""
_OUT = typer.Option(help="Bring a folder of Markdown up to date.", metavar="DIR")
_HTML = typer.Option("--html", help="Write one page that needs nothing else.", metavar="FILE")
_FORCE = typer.Option("--force", help="Also replace files that are not as gitcfg wrote them.")


def register(app: typer.Typer, name: str) -> None:
    """Make the commands known."""
    group = typer.Typer(rich_markup_mode=None, help="Write what a repository says for people elsewhere.")
    group.command("docs", epilog=EPILOG)(docs)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Write what a repository says for people elsewhere."""


def docs(
    context: typer.Context,
    out: Annotated[Path | None, _OUT] = None,
    html: Annotated[Path | None, _HTML] = None,
    at: Annotated[str | None, typer.Option(help="A commit instead of the work tree.", metavar="REV")] = None,
    title: Annotated[str, typer.Option(help="What stands on top.", metavar="TEXT")] = "Configuration",
    force: Annotated[bool, _FORCE] = False,
) -> None:
    """Write a reference of this site: features, groups, parameters, subsystems, and who uses what."""
    from gitcfg.cli.exported import Request, deliver

    session: Session = context.obj
    deliver(session, Request(out, html, at, title, force))
