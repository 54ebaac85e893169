"""`gitcfg help`: the help of a command, or the meaning of a finding's code."""

from typing import Annotated

import typer

from gitcfg.cli.app import invoke
from gitcfg.cli.commands import COMMANDS, find_hints
from gitcfg.cli.declaration import command
from gitcfg.cli.session import Session
from gitcfg.model import GitcfgError
from gitcfg.model.names import shown

EPILOG = """Examples:

  gitcfg help diff           the options and examples of a command, as `gitcfg diff --help`

  gitcfg help GC204          a finding's code, explained with an example

  gitcfg help codes          the list of codes"""


@command(EPILOG)
def help(
    context: typer.Context,
    topic: Annotated[
        list[str] | None,
        typer.Argument(
            help="A command, such as `hold add`, a code, as at the head of a finding, or `codes`.",
            metavar="TOPIC",
        ),
    ] = None,
) -> int:
    """Show the help of a command, explain the code of a finding, or list all codes."""
    session: Session = context.obj
    match topic or []:
        case []:
            return invoke(["--help"], {})
        case ["codes"]:
            from gitcfg.check.findings import CODES

            session.write("".join(f"{known.name}  {known.title}\n" for known in CODES.values()))
        case [str(name), *rest] if name in COMMANDS and not any(word.startswith("-") for word in rest):
            return invoke([name, *rest, "--help"], {name: COMMANDS[name]})
        case [str(code)] if code.upper().startswith("GC"):
            _explain(session, code)
        case words:
            message = f"{shown(' '.join(words))} is not a command or the code of a finding."
            raise GitcfgError(message, *find_hints(words[:1]), "Run `gitcfg help codes` for a list of codes.")
    return 0


def _explain(session: Session, code: str) -> None:
    """Write the explanation of a finding's code."""
    from gitcfg.check.findings import above_blocks, explanation

    text = explanation(code)
    if session.has_color(session.pager.stdout):
        from rich.markdown import Markdown

        session.console().print(Markdown(above_blocks(text)), soft_wrap=False)
    else:
        session.write(text)
