"""The entry point, which finds the command and is the only place that turns errors into exit codes."""

import errno
import gc
import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from gitcfg import __version__
from gitcfg.cli.commands import CLOSED_PIPE, COMMANDS, FAULT, INTERRUPTED

if TYPE_CHECKING:
    from types import FrameType

    from gitcfg.model import GitcfgError

_DEPLOY = "gitcfg.cli.deploy.run"
_BY_SIGNAL = 128
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)
_TAKES_VALUE = frozenset({"-C", "--repo", "--color", "--pager", "--progress", "--today"})


def main() -> None:
    """Run gitcfg with the arguments of this process, and exit."""
    arguments = sys.argv[1:]
    if arguments in (["--version"], ["-V"]):  # before anything is imported, because scripts call this often
        with suppress(OSError, AttributeError):  # there may be no stdout; then `run` reports it
            sys.stdout.write(f"gitcfg {__version__}\n")
            sys.stdout.flush()
            return
    # Nearly everything that a command reads is kept until it ends: garbage collection took a third of its
    # time.
    gc.disable()
    import signal

    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is signal.SIG_DFL:  # not under nohup
            signal.signal(number, _exit_on_signal)
    sys.exit(complete(arguments[1:]) if arguments[:1] == ["--complete"] else run(arguments))


def _exit_on_signal(number: int, frame: "FrameType | None") -> None:
    """Exit as usual, so that guarded processes remove their folders. The next signal does not wait."""
    import signal

    signal.signal(number, signal.SIG_DFL)
    sys.exit(_BY_SIGNAL + number)


def run(arguments: Sequence[str]) -> int:
    """Run a command and return its exit code; errors go to stderr."""
    from gitcfg.model import GitcfgError

    try:
        if sys.stdout is None:  # its number would be used by the next file that is opened
            raise GitcfgError("Stdout is closed.", "To discard the output, redirect it to /dev/null.")
        _check_encoding(arguments, os.environ)
        from gitcfg.cli.app import invoke

        code = invoke(arguments, _named_command(arguments))
        sys.stdout.flush()
        return code
    except GitcfgError as error:
        _print_error(error, arguments)
        return error.code
    except BrokenPipeError:
        _discard_output()
        return CLOSED_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:
        if _is_output_error(error):
            _discard_output()
            done = _DEPLOY in sys.modules and "--dry-run" not in arguments
            hint = "Run `gitcfg deploys last` to see what was done." if done else ""
            _print_error(GitcfgError(f"Cannot write the output: {error.strerror}.", hint), arguments)
        else:
            _print_error(
                GitcfgError(f"{error.filename or 'The system'}: {error.strerror or error}."), arguments
            )
        return 2
    except Exception:
        return _fault(arguments)


def _check_encoding(arguments: Sequence[str], environment: Mapping[str, str]) -> None:
    """Raise GitcfgError if an argument or setting is not UTF-8, as names in repositories and output are."""
    from gitcfg.model import GitcfgError

    texts = [("The argument", word) for word in arguments]
    texts += [(f"{name} in the environment", text) for name, text in environment.items() if "GITCFG_" in name]
    for what, text in texts:
        try:
            text.encode()
        except UnicodeEncodeError:
            shown = os.fsencode(text).decode("utf-8", "backslashreplace")
            raise GitcfgError(f"{what} is not UTF-8: {shown}") from None


def _is_output_error(error: OSError) -> bool:
    """Return whether the error is about stdout, whose buffer is lost then.

    If the buffer is empty, a large text was written at once: an error without a file's name is about stdout.
    """
    if error.filename is not None:
        return False
    try:
        sys.stdout.flush()
    except OSError as again:
        return again.errno == error.errno
    return error.errno in _NO_ROOM


def _discard_output() -> None:
    """Discard the buffered output, because otherwise Python complains at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def complete(arguments: Sequence[str]) -> int:
    """Write the candidates at the shell's cursor. Nothing goes to stderr, which would disturb the line."""
    try:
        from gitcfg.cli.completion.shells import complete as answer

        sys.stdout.buffer.write(answer(arguments, os.environ).encode("utf-8", "backslashreplace"))
        sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception:
        return FAULT
    return 0


def _named_command(arguments: Sequence[str]) -> dict[str, str]:
    """Return the command in arguments with its module, which is to be imported; {} if there is none."""
    words = iter(arguments)
    for word in words:
        if word in _TAKES_VALUE:
            next(words, None)
        elif not word.startswith("-"):
            return {word: COMMANDS[word]} if word in COMMANDS else {}
    return {}


def _print_error(error: "GitcfgError", arguments: Sequence[str]) -> None:
    from gitcfg.cli.console import color_of, uses_color

    colors = uses_color(color_of(arguments, os.environ), os.environ, sys.stderr.isatty())
    red, cyan, plain = ("\x1b[1;31m", "\x1b[36m", "\x1b[0m") if colors else ("", "", "")
    with suppress(OSError):  # if stderr cannot be written, the exit code remains
        print(f"{red}error:{plain} {error.message}", file=sys.stderr)
        for hint in filter(None, error.hints):
            print(f"{cyan}hint:{plain} {hint}", file=sys.stderr)


def _fault(arguments: Sequence[str]) -> int:
    """Write a report. If secrets were open, leave out the text of exceptions, which may quote one."""
    import tempfile
    from traceback import format_exc, format_tb

    kind, _, trace = sys.exc_info()
    text = "".join(format_tb(trace)) + f"{kind}\n" if "pyrage" in sys.modules else format_exc()
    with tempfile.NamedTemporaryFile(
        "w", prefix="gitcfg-fault-", suffix=".txt", delete=False, encoding="utf-8", errors="backslashreplace"
    ) as report:
        report.write(f"gitcfg {__version__}, Python {sys.version}\narguments: {list(arguments)}\n\n{text}")
    outcome = "run `gitcfg deploys` to see what was done" if _DEPLOY in sys.modules else "nothing was changed"
    print(f"error: Internal error in gitcfg; {outcome}.", file=sys.stderr)
    print(f"hint: The report is in {report.name}. Send it with a bug report.", file=sys.stderr)
    return FAULT
