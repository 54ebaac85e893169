"""`gitcfg agent`: the program on a node, which the wheel gitcfg-agent has alone."""

from importlib.util import find_spec
from typing import Annotated

import typer

from gitcfg.cli.declaration import command
from gitcfg.cli.session import begin_long_run
from gitcfg.model import GitcfgError

EPILOG = """Examples:

  gitcfg agent run               follow the server until SIGTERM, as the systemd unit does

  gitcfg agent run --once        check in once

  gitcfg agent key               this node's line for keys/, and its fingerprint"""


@command(EPILOG, settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
def agent(
    words: Annotated[
        list[str],
        typer.Argument(
            help="run, status, key or drift, with its options.", metavar="COMMAND", show_default=False
        ),
    ],
) -> int:
    """Run the agent on a node: fetch the node's configuration and install it.

    Use --help after a command for its options: `gitcfg agent run --help`.
    """
    if find_spec("cryptography") is None:
        raise GitcfgError("The agent needs cryptography.", "pip install cryptography")
    from gitcfg.agent.main import main

    begin_long_run()
    return main(words, "gitcfg agent")
