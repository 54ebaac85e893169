"""`gitcfg completion`: scripts that make a shell complete commands, options and names."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli.declaration import command

EPILOG = """Examples:

  eval "$(gitcfg completion bash)"       for this shell; in ~/.bashrc for all shells

  eval "$(gitcfg completion zsh)"        the same for zsh; in ~/.zshrc after compinit

  gitcfg completion fish > ~/.config/fish/completions/gitcfg.fish"""

_SCRIPTS = Path(__file__).parent / "scripts"


class Shell(StrEnum):
    """The shells with scripts."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@command(EPILOG)
def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell.", metavar="SHELL")],
) -> None:
    """Print a script that completes commands, options, and the names of the repository in a shell."""
    sys.stdout.write((_SCRIPTS / f"gitcfg.{shell}").read_text())
