"""`gitcfg schema`: JSON Schemas of this repository, for editors."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.declaration import command
from gitcfg.cli.session import Session

if TYPE_CHECKING:
    from gitcfg.editor.settings import TargetFile
    from gitcfg.library import Fleet

EPILOG = """With schemas, editors complete names, show descriptions and mark mistakes: see docs/editor.md.

Examples:

  gitcfg schema                          after a change: into .gitcfg/schema

  gitcfg schema --modelines --vscode     and let editors know, once

  gitcfg schema --check                  is it up to date?"""


@command(EPILOG)
def schema(
    context: typer.Context,
    out: Annotated[
        Path | None, typer.Option(help="The folder to write to, instead of .gitcfg/schema.", metavar="DIR")
    ] = None,
    lines: Annotated[
        bool, typer.Option("--modelines", help="Add the line that names the schema to the top of each file.")
    ] = False,
    vscode: Annotated[
        bool, typer.Option("--vscode", help="Add the schemas to .vscode/settings.json.")
    ] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if a file is out of date.")
    ] = False,
) -> None:
    """Write JSON Schemas for editors, with the names and values of this repository."""
    from gitcfg.editor.settings import find_stale, write_files
    from gitcfg.model.text import counted

    session: Session = context.obj
    source = session.open()
    root = source.repository.root
    with source.worktree() as fleet:
        targets = list(_plan_files(fleet, root, out, lines, vscode))
    stale = find_stale(targets)

    def print_path(file: "TargetFile") -> None:
        session.write(f"{os.path.relpath(file.place, root)}\n")

    console = session.console(stderr=True)
    if check:
        for file in stale:
            print_path(file)
        result = f"{counted(len(stale), 'file')} would be written." if stale else "Everything is up to date."
        console.print(result)
        raise typer.Exit(int(bool(stale)))
    write_files(stale, print_path)
    same = len(targets) - len(stale)
    console.print(f"{counted(len(stale), 'file')} written, {counted(same, 'file')} as before.")


def _plan_files(
    fleet: "Fleet", root: Path, out: Path | None, lines: bool, vscode: bool
) -> Iterator["TargetFile"]:
    """Yield every file with its new content.

    Raise GitcfgError if files would name schemas outside the root.
    """
    from gitcfg.editor.settings import FOLDER, plan_modelines, plan_schemas, plan_settings
    from gitcfg.model import GitcfgError

    folder = root / FOLDER if out is None else out.resolve()
    if (lines or vscode) and (folder == root or not folder.is_relative_to(root)):
        message = f"{folder} is not inside {root}, so files cannot refer to it."
        raise GitcfgError(message, "Remove --modelines and --vscode, or --out.")
    yield from plan_schemas(fleet.model, root, folder)
    if lines:
        yield from plan_modelines(fleet.tree, root, folder.relative_to(root).as_posix())
    if vscode:
        yield plan_settings(root, folder.relative_to(root).as_posix())
