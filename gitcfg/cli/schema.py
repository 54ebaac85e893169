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

EPILOG = """Editors complete names, show descriptions and mark mistakes by them; docs/editor.md says how.

Examples:

  gitcfg schema                          after a change: into .gitcfg/schema

  gitcfg schema --modelines --vscode     and let editors know, once

  gitcfg schema --check                  is it up to date?"""


@command(EPILOG)
def schema(
    context: typer.Context,
    out: Annotated[
        Path | None, typer.Option(help="Where to, instead of .gitcfg/schema.", metavar="DIR")
    ] = None,
    lines: Annotated[
        bool, typer.Option("--modelines", help="Begin each file with the line that names its schema.")
    ] = False,
    vscode: Annotated[bool, typer.Option("--vscode", help="Name them in .vscode/settings.json.")] = False,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit with 1 if something would be.")
    ] = False,
) -> None:
    """Write JSON Schemas of this repository, with its names and values, for editors."""
    from gitcfg.editor.settings import find_stale, write_files
    from gitcfg.model.text import counted

    session: Session = context.obj
    source = session.open()
    root = source.repository.root
    with source.worktree() as fleet:
        wanted = list(_wanted(fleet, root, out, lines, vscode))
    behind = find_stale(wanted)

    def tell(file: "TargetFile") -> None:
        session.write(f"{os.path.relpath(file.place, root)}\n")

    console = session.console(stderr=True)
    if check:
        for file in behind:
            tell(file)
        said = f"{counted(len(behind), 'file')} would be written." if behind else "Everything is up to date."
        console.print(said)
        raise typer.Exit(int(bool(behind)))
    write_files(behind, tell)
    console.print(
        f"{counted(len(behind), 'file')} written, {counted(len(wanted) - len(behind), 'file')} as before."
    )


def _wanted(
    fleet: "Fleet", root: Path, out: Path | None, lines: bool, vscode: bool
) -> Iterator["TargetFile"]:
    """Every file as it is to be. GitcfgError: files cannot name schemas outside the repository."""
    from gitcfg.editor.modelines import FOLDER
    from gitcfg.editor.settings import plan_modelines as with_lines
    from gitcfg.editor.settings import plan_schemas, plan_settings

    folder = root / FOLDER if out is None else out.resolve()
    inside = _inside(folder, root) if lines or vscode else ""
    yield from plan_schemas(fleet.model, root, folder)
    if lines:
        yield from with_lines(fleet.tree, root, inside)
    if vscode:
        yield plan_settings(root, inside)


def _inside(folder: Path, root: Path) -> str:
    from gitcfg.model import GitcfgError

    if not folder.is_relative_to(root) or folder == root:
        raise GitcfgError(
            f"{folder} is no folder inside {root}, so files cannot name it.",
            "Leave out --modelines and --vscode, or --out.",
        )
    return folder.relative_to(root).as_posix()
