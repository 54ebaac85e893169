"""The program gitcfg-agent: its command line, its commands, and the exit codes of errors."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeVar

from .. import __version__
from ..install.outcome import InstallError
from .errors import REFUSED, AgentError

if TYPE_CHECKING:
    import argparse
    from argparse import ArgumentParser, Namespace
    from types import TracebackType

    from ..install.store import Place

T = TypeVar("T")

_END = """exit codes: 0 done, 1 files were changed by hand (drift), 2 wrong usage or settings,
3 an installation was rolled back or failed, 4 refused (policy, lock, a node that is not accepted
yet), 5 no server is reachable or all are busy, 70 an internal error of the agent,
141 the output pipe was closed, 130 and 143 ended by SIGINT and SIGTERM during a round"""


def parse_arguments(line: Sequence[str], program: str, version: str) -> Namespace:
    """Return the parsed options; on wrong usage, argparse ends the process with 2."""
    import argparse

    parser = argparse.ArgumentParser(
        program,
        description="Fetch this node's configuration from its gitcfg server and install it.",
        epilog=_END,
        formatter_class=_formatter,
    )
    parser.add_argument("--version", action="version", version=f"{program} {version}")
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", required=True)
    run = _add_command(
        commands, "run", "report to the server, fetch this node's configuration and install it"
    )
    run.add_argument(
        "--once", action="store_true", help="run one round, then exit; without it, run until SIGTERM"
    )
    status = _add_command(commands, "status", "show the installed commit and the result of the last one")
    status.add_argument("-o", "--output", choices=("text", "json"), default="text", help="output format")
    _add_command(commands, "key", "print this node's line for keys/ and its fingerprint")
    _add_command(commands, "drift", "list the files that were changed by hand, with differences")
    return parser.parse_args(line)


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Return a formatter of fixed width: to ask the terminal, argparse imports shutil, which takes 5 ms."""
    import argparse

    return argparse.RawDescriptionHelpFormatter(prog, width=100)


def _absolute(root: str) -> str:
    """Return the absolute path, for commands that run in another folder, with only one spelling of "/"."""
    return "/" + os.path.abspath(root).lstrip("/")


def _add_command(
    commands: argparse._SubParsersAction[ArgumentParser], name: str, purpose: str
) -> ArgumentParser:
    sentence = f"{purpose[0].upper()}{purpose[1:]}."
    parser = commands.add_parser(name, help=purpose, description=sentence, formatter_class=_formatter)
    parser.add_argument(
        "--root", type=_absolute, default="/", metavar="DIR", help="use DIR as the root of the node's files"
    )
    parser.add_argument(
        "--config", default="", metavar="FILE", help="use FILE instead of DIR/etc/gitcfg/agent.toml"
    )
    return parser


# The commands. Each returns its exit code.

PROGRAM = "gitcfg-agent"
_DIFF, _LOCK_WAIT = 4096, 10.0


def _run(options: Namespace) -> int:
    from ..install.commands import forbid_core_dumps
    from .process import Signals

    forbid_core_dumps()
    signals = Signals()
    signals.listen()  # before anything that takes time: a hangup without a handler ends the process
    from .process import hold_agent_lock, make_notifier
    from .rounds import run_forever, run_once, start_agent
    from .update import settle_memory, settle_without_settings

    notify = make_notifier(os.environ.get("NOTIFY_SOCKET", ""))

    def say(line: str) -> None:
        text = printable(line, sys.stderr.encoding)
        sys.stderr.write(f"{text}\n")
        sys.stderr.flush()
        notify(f"STATUS={text.partition(os.linesep)[0]}")

    try:
        agent = start_agent(options.root, options.config, _place(options), say, __version__)
    except (AgentError, InstallError, OSError):
        settle_without_settings(_place(options))
        raise
    agent.signals = signals
    with hold_agent_lock(agent.place):
        settle_memory(agent)
        notify("READY=1")
        if options.once:
            return run_once(agent)
        run_forever(agent)
        return 0


def _key(options: Namespace) -> int:
    from .config import load_settings
    from .keys import load_identity

    who = load_identity(_place(options), load_settings(options.root, options.config).node)
    print_lines([who.line])
    sys.stderr.write(f"{who.fingerprint}\n")
    return 0


def _status(options: Namespace) -> int:
    from ..install.record import read_debts, read_installed
    from .config import load_settings
    from .keys import load_identity
    from .memory import Memory, load_memory
    from .status import format_status, make_status

    place, settings = _place(options), load_settings(options.root, options.config)
    who = load_identity(place, settings.node)
    unreadable: list[str] = []

    def read(function: Callable[[Place], T], default: T) -> T:
        try:
            return function(place)
        except InstallError as error:
            unreadable.append(str(error))
            return default

    memory, package = read(load_memory, Memory()), read(read_installed, None)
    status = make_status(settings, who, memory, package, unreadable, read(read_debts, ()))
    if options.output == "json":
        import json

        print_lines([json.dumps(status, indent=2)])
    else:
        print_lines(format_status(status))
    return 0


def _drift(options: Namespace) -> int:
    from ..install.drift import find_drift
    from .status import format_drift

    drift = find_drift(_place(options))
    print_lines(format_drift(drift))
    return 1 if drift else 0


COMMANDS: Mapping[str, Callable[[Namespace], int]] = {
    "run": _run,
    "key": _key,
    "status": _status,
    "drift": _drift,
}


def _place(options: Namespace) -> Place:
    from ..install.store import Limits, Place

    return Place(options.root, who=PROGRAM, limits=Limits(lock_wait=_LOCK_WAIT, diff=_DIFF))


def print_lines(lines: Iterable[str]) -> None:
    """Write lines to stdout."""
    sys.stdout.writelines(f"{printable(line, sys.stdout.encoding)}\n" for line in lines)
    sys.stdout.flush()


# The entry point, and the only place where an error becomes an exit code.

FAULT = 70
CLOSED_PIPE = 141
"""The exit code that a shell gives for SIGPIPE: the reader is gone, and no message is printed."""


def program() -> None:
    """Run with the arguments of this process, and exit."""
    sys.excepthook = _fault
    sys.exit(main(sys.argv[1:]))


def main(line: Sequence[str], name: str = PROGRAM) -> int:
    """Run a command line and return its exit code."""
    try:
        if list(line) == ["--version"]:  # before argparse is imported: scripts call this often
            print_lines([f"{name} {__version__}"])
            return 0
        try:
            options = parse_arguments(line, name, __version__)
        finally:
            sys.stdout.flush()  # --help ends the process in parse_arguments
        return _run_command(options)
    except BrokenPipeError:
        # The buffered output has no reader; without this, Python complains when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE


def _run_command(options: Namespace) -> int:
    try:
        return COMMANDS[options.command](options)
    except (AgentError, InstallError) as error:
        lines = [f"error: {error.message}\n", *(f"hint: {hint}\n" for hint in error.hints)]
        sys.stderr.write(printable("".join(lines), sys.stderr.encoding))
        return error.code if isinstance(error, AgentError) else REFUSED
    except BrokenPipeError:
        raise
    except OSError as error:
        # Not USAGE: a full disk may have room again later, and systemd must then restart the agent.
        hint = "hint: Run it as root.\n" if isinstance(error, PermissionError) and os.geteuid() else ""
        sys.stderr.write(f"error: {_where(error, options.root)}: {error.strerror or error}.\n{hint}")
        return REFUSED


def _where(error: OSError, root: str) -> str:
    """Return the path of an error; a name without a folder is in the state folder."""
    from ..install.store import Place

    name = error.filename
    if not isinstance(name, str) or not name:
        return "The system"
    return os.path.join(root, Place(root).folder[1:], name)


def _fault(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.__excepthook__(kind, error, trace)
    sys.stderr.write(f"error: {PROGRAM} has an internal error. Report it with the lines above.\n")
    sys.stderr.flush()
    os._exit(130 if issubclass(kind, KeyboardInterrupt) else FAULT)


_ODD = (*range(9), *range(0x0B, 0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A))
"""Control characters except tab and newline, and characters that change the text direction."""
_SHOWN = dict.fromkeys(_ODD, "\N{REPLACEMENT CHARACTER}")


def printable(text: str, encoding: str | None) -> str:
    """Return the text without characters that a terminal obeys, and escape those that the encoding lacks."""
    code = encoding or "utf-8"
    return text.translate(_SHOWN).encode(code, "backslashreplace").decode(code)
