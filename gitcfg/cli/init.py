"""`gitcfg init`: a new repository."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli.declaration import OutputOption, command
from gitcfg.cli.edits import EDIT, EditResult, write_result
from gitcfg.cli.session import Output, Session

EPILOG = """Examples:

  gitcfg init fleet                      a repository without nodes, and commented examples

  gitcfg init site --from web            a web service: twenty hosts behind two load balancers

  gitcfg init pool --from htcondor       a small HTCondor pool"""


class Pack(StrEnum):
    """The initial content of a new repository."""

    EMPTY = "empty"
    WEB = "web"
    HTCONDOR = "htcondor"


@command(EPILOG, EDIT)
def init(
    context: typer.Context,
    folder: Annotated[
        Path, typer.Argument(help="Folder of the repository; created if missing.", metavar="DIR")
    ] = Path(),
    pack: Annotated[Pack, typer.Option("--from", help="Initial content.")] = Pack.EMPTY,
    output: OutputOption = Output.TEXT,
) -> None:
    """Create a repository with a hook that checks every commit."""
    from gitcfg.bundled import read_pack
    from gitcfg.cli.hook import install_in_new_repository
    from gitcfg.edit.transaction import create_repository
    from gitcfg.git.commit import PathChange

    session: Session = context.obj
    made = create_repository(folder, read_pack(pack), f"Start from gitcfg's pack {pack}")
    console = session.console(stderr=True)
    hook = install_in_new_repository(console, made.folder)
    if output is not Output.TEXT:
        done = EditResult(dict.fromkeys(made.files, PathChange.CREATED), True, made.commit)
        write_result(session, done, output, {"folder": str(made.folder), "hook": hook})
        return
    checks = "; pre-commit checks every commit" if hook else ""
    console.print(f"Created a repository of {len(made.files)} files in {made.folder}{checks}.")
    if made.uncommitted:
        console.print(f"hint: {made.uncommitted}", style="cyan")
    console.print(f"Next: cd {made.folder} && gitcfg check")
