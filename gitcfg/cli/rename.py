"""`gitcfg rename`: a definition under another name, with everything that refers to it."""

from typing import Annotated

import typer

from gitcfg.cli import editing as say
from gitcfg.cli.session import Session

EPILOG = """Lists and bindings follow; in templates `params.NAME` and `params["NAME"]`, where that is certain.
Where the old name still stands (comments, globs, expressions, other templates) is listed and left as it is.

Examples:

  gitcfg rename feature GpuNode Gpu

  gitcfg rename parameter OLD_NAME NEW_NAME --commit

  gitcfg rename group rack3 rack-a3 --commit -m 'Racks have letters now'"""


def register(app: typer.Typer, name: str) -> None:
    """Make the command known."""
    app.command(name, epilog=EPILOG)(command)


def command(
    context: typer.Context,
    kind: Annotated[say.Editable, typer.Argument(help="Of what kind it is.", metavar="KIND")],
    old: Annotated[str, typer.Argument(help="Its name.", metavar="NAME")],
    new: Annotated[str, typer.Argument(help="Its name from now on.", metavar="NAME")],
    force: say.Force = False,
    commit: say.Commit = False,
    message: say.Message = None,
) -> int:
    """Rename a definition, its file, and what refers to it; what is left is listed."""
    from gitcfg.cli.edited import carry, tell_left, wish
    from gitcfg.edit.renamed import rename
    from gitcfg.model import Origin

    session: Session = context.obj
    left: list[Origin] = []
    wished = wish(force, commit, message, f"Rename {kind.value} {old} to {new}", (old, new))
    code = carry(session, lambda draft: left.extend(rename(draft, kind.value, old, new)), wished)
    if code == 0:
        tell_left(session, old, left)
    return code
