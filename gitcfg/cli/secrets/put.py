"""`gitcfg secret set`: a secret, or a new content of one."""

from typing import Annotated

import typer

from gitcfg.cli import editing
from gitcfg.cli.secrets import say
from gitcfg.cli.session import Session

EPILOG = """The content comes from a file, from stdin, or is typed and not shown; never from an argument.
The end of a single line is not part of it. Nodes get the new content because its version is higher.

Examples:

  gitcfg secret set pool-password --for '"ExecuteNode" in node.features' --recipient ~/.ssh/id_ed25519.pub

  gitcfg secret set tls-key --from key.pem --commit -m 'The key that was signed today'

  pwgen 40 1 | gitcfg secret set db-password"""

_PLACE = typer.Option("--in", help="The folder of a new one; else secrets.", metavar="DIR")


def command(
    context: typer.Context,
    name: say.New,
    file: say.From = None,
    where: say.For = None,
    recipient: say.Readers = None,
    description: editing.Description = None,
    place: Annotated[str, _PLACE] = "",
    force: editing.Force = False,
    commit: editing.Commit = False,
    message: editing.Message = None,
) -> int:
    """Make a secret, or give one a new content and the next version."""
    from gitcfg.cli.edited import wish
    from gitcfg.cli.secrets.content import asked_for, refuse_arguments
    from gitcfg.cli.secrets.keys import readers
    from gitcfg.cli.secrets.written import last_version, refuse_early, write_content
    from gitcfg.edit.secrets import SecretOptions
    from gitcfg.secrets.dumps import no_core_dumps

    session: Session = context.obj
    no_core_dumps()
    refuse_arguments(context.args)
    wished = wish(force, commit, message, f"Set the secret {name}")
    wanted = readers(recipient) if recipient else None
    refuse_early(session, name, SecretOptions(where, description, wanted, place))
    said = SecretOptions(where, description, wanted, place, last_version(session, name))
    return write_content(session, name, said, asked_for(name, file), wished)
