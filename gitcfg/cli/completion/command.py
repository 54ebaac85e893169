"""`gitcfg completion`: what a shell needs to complete commands, options and names."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from gitcfg.cli.declaration import command

EPILOG = """Examples:

  eval "$(gitcfg completion bash)"       for this shell; in ~/.bashrc, for every one

  eval "$(gitcfg completion zsh)"        the same; in ~/.zshrc, behind compinit

  gitcfg completion fish > ~/.config/fish/completions/gitcfg.fish"""

_SCRIPTS = Path(__file__).parent / "scripts"


class Shell(StrEnum):
    """The shells that there are scripts for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


@command(EPILOG)
def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell that is to complete.", metavar="SHELL")],
) -> None:
    """Print the script that lets a shell complete commands, options, and the repository's names."""
    sys.stdout.write((_SCRIPTS / f"gitcfg.{shell}").read_text())
