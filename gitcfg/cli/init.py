"""`gitcfg init`: a new repository."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli.declaration import command
from gitcfg.cli.session import Session

EPILOG = """Examples:

  gitcfg init fleet                      a repository without nodes, and commented examples

  gitcfg init site --from web            a web service: twenty hosts behind two load balancers

  gitcfg init pool --from htcondor       a small HTCondor pool"""


class Pack(StrEnum):
    """What a new repository starts from."""

    EMPTY = "empty"
    WEB = "web"
    HTCONDOR = "htcondor"


@command(EPILOG)
def init(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(help="Folder of the repository; created if missing.", metavar="DIR")
    ] = Path(),
    pack: Annotated[Pack, typer.Option("--from", help="Initial content.")] = Pack.EMPTY,
) -> None:
    """Create a repository with a hook that checks every commit."""
    from gitcfg.bundled import read_pack
    from gitcfg.cli.hook import install_in_new_repository
    from gitcfg.edit.transaction import create_repository

    session: Session = context.obj
    made = create_repository(folder, read_pack(pack), f"Start from gitcfg's pack {pack}")
    console = session.console(stderr=True)
    checks = "; pre-commit checks every commit" if install_in_new_repository(console, made.folder) else ""
    console.print(f"Created a repository of {made.files} files in {made.folder}{checks}.")
    if made.uncommitted:
        console.print(f"hint: {made.uncommitted}", style="cyan")
    console.print(f"Next: cd {made.folder} && gitcfg check")
