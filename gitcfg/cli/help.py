"""`gitcfg help`: what a finding's code means."""

from typing import Annotated

import typer

from gitcfg.cli.declaration import command
from gitcfg.cli.session import Session

EPILOG = """Examples:

  gitcfg help                the list of codes

  gitcfg help GC204          one of them, with an example

  gitcfg help gc301 | less"""


@command(EPILOG)
def help(
    context: typer.Context,
    code: Annotated[
        str | None, typer.Argument(help="A code, as at the head of a finding.", metavar="CODE")
    ] = None,
) -> None:
    """Explain a finding's code, or list them all."""
    from gitcfg.check.findings import CODES, above_blocks, explanation

    session: Session = context.obj
    if code is None:
        session.write("".join(f"{known.name}  {known.title}\n" for known in CODES.values()))
        return
    text = explanation(code)
    if session.has_color(session.pager.stdout):
        from rich.markdown import Markdown

        session.console().print(Markdown(above_blocks(text)), soft_wrap=False)
    else:
        session.write(text)
