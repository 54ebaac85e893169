"""`gitcfg secret show`: what is known of a secret, or its content to who asks for that."""

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from gitcfg.cli.secrets import say
from gitcfg.cli.session import Output, Session
from gitcfg.model import GitcfgError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gitcfg.library import Fleet

EPILOG = """--reveal needs a private key that is a recipient's; all else needs none.

Examples:

  gitcfg secret show pool-password

  gitcfg secret show pool-password --reveal

  gitcfg secret show pool-password --at HEAD~3 --reveal --identity ~/keys/age.txt"""

_REVEAL = typer.Option("--reveal", help="Print the content, and nothing else.")


def command(
    context: typer.Context,
    name: say.Name,
    reveal: Annotated[bool, _REVEAL] = False,
    identity: say.Identity = None,
    at: say.At = None,
    output: Annotated[Output, typer.Option("-o", "--output", help="What to write.")] = Output.TEXT,
    folded: say.Folded = False,
) -> int:
    """Show what a secret is, who may have it and who can read it; its content only with --reveal."""
    from gitcfg.cli.secrets.found import looked_up

    session: Session = context.obj
    if reveal and output is not Output.TEXT:
        raise GitcfgError("--reveal prints the content as it is.", "Leave -o out.")
    with looked_up(session, at) as fleet:
        if reveal:
            _reveal(session, fleet, name, identity)
            return 0
        from gitcfg.cli.secrets.told import tell, whole

        tell(session, fleet, [name], (output, folded), whole)
    return 0


def _reveal(session: Session, fleet: "Fleet", name: str, identity: "Sequence[str] | None") -> None:
    """Print a content: past the pager, which might keep it, and to the byte; a terminal gets a line end."""
    from gitcfg.cli.secrets.found import known
    from gitcfg.cli.secrets.keys import held
    from gitcfg.secrets import opened
    from gitcfg.secrets.dumps import no_core_dumps

    no_core_dumps()
    text = opened(fleet.tree, known(fleet.model, name), held(session, identity))
    end = "\n" if sys.stdout.isatty() and not text.endswith("\n") else ""
    sys.stdout.buffer.write(f"{text}{end}".encode())
