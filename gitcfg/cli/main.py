"""The entry point: finds the command, and is the one boundary where errors become exit codes."""

import os
import sys
from collections.abc import Sequence
from typing import TYPE_CHECKING

from gitcfg import __version__

if TYPE_CHECKING:
    from gitcfg.model import GitcfgError

COMMANDS = {
    "check": "gitcfg.cli.check",
    "render": "gitcfg.cli.render",
    "explain": "gitcfg.cli.explain",
    "diff": "gitcfg.cli.diff",
    "init": "gitcfg.cli.init",
    "import": "gitcfg.cli.imports",
    "help": "gitcfg.cli.help",
}
_TAKES_VALUE = frozenset({"-C", "--repo", "--color", "--today"})

FAULT = 70
INTERRUPTED = 130
CLOSED_PIPE = 141


def main() -> None:
    """Run gitcfg with the arguments of this process, and exit."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):  # before anything is imported: scripts ask this often
        print(f"gitcfg {__version__}")
        return
    sys.exit(run(arguments))


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; whatever goes wrong is told on stderr."""
    from gitcfg.model import GitcfgError

    try:
        from gitcfg.cli.app import invoke

        code = invoke(arguments, _modules(arguments))
        sys.stdout.flush()
        return code
    except GitcfgError as error:
        _tell(error)
        return error.code
    except BrokenPipeError:
        # What is still buffered has no reader; without this Python complains when it exits.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return CLOSED_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        _tell(GitcfgError(f"{error.filename or 'The system'}: {error.strerror or error}."))
        return 2
    except Exception:
        return _fault(arguments)


def _modules(arguments: Sequence[str]) -> dict[str, str]:
    """The command that is asked for, or all of them: importing each takes time."""
    words = iter(arguments)
    for word in words:
        if word in _TAKES_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return {word: COMMANDS[word]} if word in COMMANDS else COMMANDS
    return COMMANDS


def _tell(error: "GitcfgError") -> None:
    print(f"error: {error.message}", file=sys.stderr)
    for hint in error.hints:
        if hint:
            print(f"hint: {hint}", file=sys.stderr)


def _fault(arguments: Sequence[str]) -> int:
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile("w", prefix="gitcfg-fault-", suffix=".txt", delete=False) as report:
        report.write(f"gitcfg {__version__}, Python {sys.version}\narguments: {list(arguments)}\n\n")
        report.write(traceback.format_exc())
    print("error: gitcfg itself has failed; nothing was changed.", file=sys.stderr)
    print(f"hint: The report is in {report.name}; please send it along.", file=sys.stderr)
    return FAULT
