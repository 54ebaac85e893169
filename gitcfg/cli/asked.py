"""The options of commands that commit once it is known what that does."""

import sys
from typing import Annotated

import msgspec
import typer

from gitcfg.model import GitcfgError

Message = Annotated[
    str | None,
    typer.Option("-m", "--message", help="What the commit's message says at its end.", metavar="TEXT"),
]
Yes = Annotated[bool, typer.Option("-y", "--yes", help="Do not ask.")]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Only show what would change, and what would be wrong.")
]
Force = Annotated[bool, typer.Option("--force", help="Even if there are errors then that HEAD has not.")]
NoVerify = Annotated[bool, typer.Option("--no-verify", help="Go around the hooks pre-commit and commit-msg.")]


class ProposalOptions(msgspec.Struct, frozen=True):
    """What the options say."""

    yes: bool
    dry_run: bool
    force: bool
    no_verify: bool

    @property
    def interactive(self) -> bool:
        """Is somebody to be asked?"""
        return not self.yes and not self.dry_run

    def refuse_unasked(self, command: str) -> None:
        """GitcfgError: somebody is to be asked, and there is no terminal to do it on."""
        if self.interactive and not (sys.stdin.isatty() and sys.stderr.isatty()):
            message = f"`{command}` asks before it commits, and there is no terminal to ask on."
            raise GitcfgError(message, "--yes answers beforehand; --dry-run only shows what would be.")
