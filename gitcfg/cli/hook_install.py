"""`gitcfg hook install` and `remove`: what makes git call gitcfg."""

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.session import Session

if TYPE_CHECKING:
    from rich.console import Console

    from gitcfg.gate.policy import Administrator
    from gitcfg.git.repository import Repository

INSTALL = """Hooks that are there already run first, and are kept under their names and `.before-gitcfg`.

Examples:

  gitcfg hook install                       check each commit of this repository

  gitcfg hook install --server pool.git     judge what is pushed to that one

  gitcfg -C sites/north hook install        gitcfg.yaml may lie anywhere in a work tree"""
REMOVE = """Examples:

  gitcfg hook remove                        commits are no longer checked

  gitcfg hook remove --server pool.git      pushes are no longer judged

  gitcfg -C sites/north hook remove"""

_SERVER = typer.Option(help="A repository that is pushed to, instead of a work tree's.", metavar="DIR")


def program() -> tuple[str, ...]:
    """The words that call this gitcfg from anywhere: PATH may be another's when git runs a hook."""
    called = Path(os.path.abspath(sys.argv[0]))
    for place in (called, Path(sys.executable).with_name("gitcfg")):
        if place.name == "gitcfg" and place.is_file() and os.access(place, os.X_OK):
            return (str(place),)
    return (sys.executable, "-m", "gitcfg")


def install(context: typer.Context, server: Annotated[Path | None, _SERVER] = None) -> None:
    """Have git check each commit, or with --server judge each push. Twice does no more than once."""
    from gitcfg.cli.installed import tell, tell_protection
    from gitcfg.edit import hooks
    from gitcfg.git.repository import Repository

    session: Session = context.obj
    if server is None:
        tell(session, hooks.install(Repository.open(session.repo), program()))
        return
    from gitcfg.git.hooks import open_exactly

    repository = open_exactly(server)
    said = _administrator(repository)  # before anything is done: it may be wrong
    tell(session, hooks.install_server(repository, program()))
    tell_protection(session, server, said)


def hooked(console: "Console", folder: Path) -> bool:
    """Is each commit of a new repository checked first? What stands in the way, or moves, is told."""
    from gitcfg.cli.installed import line
    from gitcfg.edit.hooks import Action, install_in_new
    from gitcfg.git.repository import Repository
    from gitcfg.model import GitcfgError
    from gitcfg.model.text import safe

    try:
        done = install_in_new(Repository.open(folder), program())
    except GitcfgError as error:
        console.print(f"warning: {safe(error.message)}", style="yellow")
        for hint in error.hints:
            console.print(f"hint: {safe(hint)}", style="cyan")
        return False
    for step in done.steps:
        if step.deed is Action.KEEP:
            console.print(safe(line(step)))
    return True


def _administrator(repository: "Repository") -> "Administrator":
    from gitcfg.gate.policy import load_administrator
    from gitcfg.git.repository import Config

    return load_administrator(Config(repository))


def remove(context: typer.Context, server: Annotated[Path | None, _SERVER] = None) -> None:
    """Take gitcfg's hooks out again, and put back what was there before, as it was."""
    from gitcfg.cli.installed import tell
    from gitcfg.edit import hooks
    from gitcfg.git.hooks import open_exactly
    from gitcfg.git.repository import Repository

    session: Session = context.obj
    if server is None:
        tell(session, hooks.remove(Repository.served(session.repo)))
    else:
        tell(session, hooks.remove_server(open_exactly(server)))
