"""The command line of gitcfg-agent."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import argparse
    from argparse import ArgumentParser, Namespace

_END = """exit codes: 0 done, 1 files were changed by hand (drift), 2 wrong usage or settings,
3 an installation was taken back or failed, 4 refused (policy, lock, a node that is not accepted
yet), 5 no server in reach, or all are busy, 70 a fault of the agent's own, 141 nobody reads on,
130 and 143 ended by SIGINT and SIGTERM before a round was over"""


def arguments(said: Sequence[str], program: str, version: str) -> Namespace:
    """What is asked for; argparse ends the process with 2 where that makes no sense."""
    import argparse

    parser = argparse.ArgumentParser(
        program,
        description="Fetches this node's configuration from its gitcfg server and puts it in force.",
        epilog=_END,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"{program} {version}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    run = _command(commands, "run", "report, fetch what this node shall run, and put it in force")
    run.add_argument("--once", action="store_true", help="one round, then end; else until SIGTERM")
    status = _command(commands, "status", "what runs here, and what came of the last commit")
    status.add_argument("-o", "--output", choices=("text", "json"), default="text", help="json: for programs")
    _command(commands, "key", "this node's line for keys/ and its fingerprint")
    _command(commands, "drift", "which files were changed by hand, with differences")
    return parser.parse_args(said)


def _formatter(prog: str) -> argparse.HelpFormatter:
    """One with a width of its own: to ask the terminal argparse imports shutil, which takes 5 ms."""
    import argparse

    return argparse.RawDescriptionHelpFormatter(prog, width=100)


def _whole(root: str) -> str:
    """From the root on, for commands that run elsewhere; with only one way to say "/"."""
    return "/" + os.path.abspath(root).lstrip("/")


def _command(commands: argparse._SubParsersAction[ArgumentParser], name: str, purpose: str) -> ArgumentParser:
    told = f"{purpose[0].upper()}{purpose[1:]}."
    parser = commands.add_parser(name, help=purpose, description=told, formatter_class=_formatter)
    parser.add_argument(
        "--root", type=_whole, default="/", metavar="DIR", help="all of the node's files are below DIR"
    )
    parser.add_argument("--config", default="", metavar="FILE", help="instead of DIR/etc/gitcfg/agent.toml")
    return parser
