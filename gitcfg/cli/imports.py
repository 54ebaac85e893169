"""`gitcfg import`: a repository from what another program has."""

from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli import import_condor
from gitcfg.cli.session import Session

EPILOG = """Examples:

  gitcfg import wallaby dump.yaml pool         a repository in the folder pool

  wallaby dump | gitcfg import wallaby - pool

  gitcfg import wallaby dump.yaml pool && cd pool && gitcfg check"""


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    group = typer.Typer(rich_markup_mode=None, help="Make a repository from another program's.")
    group.command("wallaby", epilog=EPILOG)(wallaby)
    group.command("condor", epilog=import_condor.EPILOG)(import_condor.condor)
    group.callback()(_group)
    app.add_typer(group, name=name)


def _group() -> None:
    """Make a repository from another program's."""


def wallaby(
    context: typer.Context,
    file: Annotated[typer.FileBinaryRead, typer.Argument(help="What `wallaby dump` wrote; - is stdin.")],
    folder: Annotated[Path, typer.Argument(help="Where; made if it is not there.", metavar="DIR")] = Path(),
    all_places: Annotated[bool, import_condor.ALL_PLACES] = False,
) -> None:
    """Turn a Wallaby dump into a repository; what cannot be carried over faithfully is listed."""
    from gitcfg.cli.hook_install import hooked
    from gitcfg.cli.notes import show
    from gitcfg.convert.wallaby.repository import import_wallaby
    from gitcfg.edit.create import create_repository

    session: Session = context.obj
    imported = import_wallaby(file.read())
    made = create_repository(folder, imported.files, "Import a Wallaby dump")
    console = session.console(stderr=True)
    show(console, imported.notes, all_places)
    hooked(console, made.folder)
    console.print(f"A repository of {made.files} files is in {made.folder}.")
    console.print(f"Next: cd {made.folder} && gitcfg check")
