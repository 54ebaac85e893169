"""`gitcfg secret rotate`: a content that nobody has seen, in place of the old one."""

from typing import Annotated

import typer

from gitcfg.cli import editing
from gitcfg.cli.secrets import say
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError

EPILOG = """No private key is needed for that. Nodes get the new content with the commit that has it.

Examples:

  gitcfg secret rotate pool-password

  gitcfg secret rotate pool-password --length 64 --commit -m 'Bob has left'

  gitcfg secret rotate tls-key --from new.pem"""

_LETTERS = typer.Option("--length", help="So many random letters and digits.", metavar="N", min=8, max=4096)
_USUAL = 32


def command(
    context: typer.Context,
    name: say.Name,
    length: Annotated[int | None, _LETTERS] = None,
    file: say.From = None,
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
) -> int:
    """Give a secret a new content: random letters and digits, 32 of them, unless one is handed in."""
    from gitcfg.cli.edited import wish
    from gitcfg.cli.secrets.content import asked_for, refuse_arguments
    from gitcfg.cli.secrets.written import last_version, refuse_early, write_content
    from gitcfg.edit.secrets import SecretOptions
    from gitcfg.secrets.content import password
    from gitcfg.secrets.dumps import no_core_dumps

    session: Session = context.obj
    no_core_dumps()
    refuse_arguments(context.args)
    if file is not None and length is not None:
        raise GitcfgError("A content is made here, or comes from a file.", "Say --length or --from.")
    wished = wish(force, commit, message, f"Rotate the secret {name}")
    _refuse_new(session, name)
    refuse_early(session, name, SecretOptions())
    text = password(length or _USUAL) if file is None else asked_for(name, file)
    return write_content(session, name, SecretOptions(last=last_version(session, name)), text, wished)


def _refuse_new(session: Session, name: str) -> None:
    """GitcfgError: there is no such secret."""
    from gitcfg.cli.secrets.found import known

    with session.fleet(None) as fleet:
        known(fleet.model, name)
