"""Colors, the pager for results on a terminal, and rich's console.

This module does not import rich, because many commands end without it.
"""

import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Literal, TextIO

if TYPE_CHECKING:
    from rich.console import Console

_SETTINGS = {"LESS": "FRX", "LV": "-c"}
"""As in git: less ends by itself if all fits on the screen, shows colors, and leaves its text there."""


class Color(StrEnum):
    """When to use colors."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def uses_color(color: Color, environ: Mapping[str, str], terminal: bool) -> bool:
    """Return whether to use colors.

    `--color` decides first, then NO_COLOR, then FORCE_COLOR, and then whether there is a terminal.
    """
    if color is not Color.AUTO:
        return color is Color.ALWAYS
    if environ.get("NO_COLOR"):
        return False
    return bool(environ.get("FORCE_COLOR")) or (terminal and understands_color(environ))


def understands_color(environ: Mapping[str, str]) -> bool:
    """Return whether the terminal, if there is one, understands more than text."""
    return environ.get("TERM", "") not in ("dumb", "unknown")


def color_of(arguments: Sequence[str], environ: Mapping[str, str]) -> Color:
    """Return the color option of a command line that may be wrong, for its errors."""
    words = [environ.get("GITCFG_COLOR", "")]
    for word, following in zip(arguments, [*arguments[1:], ""], strict=True):
        if word == "--color":
            words.append(following)
        elif word.startswith("--color="):
            words.append(word.partition("=")[2])
    return next((Color(word) for word in reversed(words) if word in set(Color)), Color.AUTO)


def pager_command(option: str | None, environ: Mapping[str, str]) -> str:
    """Return the pager's command line, empty for none: the option, then GITCFG_PAGER, PAGER, less."""
    settings = (option, environ.get("GITCFG_PAGER"), environ.get("PAGER"))
    chosen = next((text for text in settings if text is not None), None)
    if chosen is None:
        chosen = "less" if understands_color(environ) and shutil.which("less") else ""
    return "" if chosen.strip() == "cat" else chosen.strip()


class DelayedOutput(io.StringIO):
    """Output for a terminal that is kept until the pager has ended."""

    def __init__(self, terminal: TextIO) -> None:
        super().__init__()
        self._terminal = terminal

    def isatty(self) -> bool:
        return True

    def release(self) -> TextIO:
        """Write what was kept, and return the terminal."""
        self._terminal.write(self.getvalue())
        return self._terminal


class Pipe(io.RawIOBase):
    """A pipe to a pager, which starts with the first byte."""

    def __init__(self, start: Callable[[], IO[bytes]]) -> None:
        self._start = start
        self._target: IO[bytes] | None = None
        self._ended = False

    def isatty(self) -> bool:
        return True

    def writable(self) -> bool:
        return True

    def write(self, data: Any) -> int:
        if self._ended:
            return len(data)
        self._target = self._target or self._start()
        try:
            return self._target.write(data)
        except BrokenPipeError:
            self.end()
            raise

    def end(self) -> None:
        """Ignore all further output."""
        self._ended = True


class Pager:
    """An output for results through a pager, which starts with the first of them.

    While it runs, output for a terminal's stderr is kept, and written when it has ended: between the pages it
    would be lost.
    """

    def __init__(self, command: str) -> None:
        self.command = command if command and sys.stdout.isatty() else ""
        self._pipe = Pipe(self._start)
        self._stream: TextIO | None = None
        self._process: subprocess.Popen[bytes] | None = None
        self._hint = ""

    @property
    def stdout(self) -> TextIO:
        """The output for results. A pipe to a pager counts as the terminal that the pager writes to."""
        if not self.command:
            return sys.stdout
        if self._stream is None:
            raw: Any = self._pipe  # typeshed lets BufferedWriter take only files
            buffered = io.BufferedWriter(raw)
            self._stream = io.TextIOWrapper(buffered, "utf-8", "backslashreplace", write_through=True)
        return self._stream

    def _start(self) -> IO[bytes]:
        if not _is_there(self.command):
            self._hint = (
                f"The pager {self.command!r} does not exist. Set another with GITCFG_PAGER or --pager."
            )
            return sys.stdout.buffer
        self._process = subprocess.Popen(
            ["/bin/sh", "-c", self.command], stdin=subprocess.PIPE, bufsize=0, env=_SETTINGS | os.environ
        )
        if sys.stderr.isatty():
            sys.stderr = DelayedOutput(sys.stderr)
        assert self._process.stdin is not None
        return self._process.stdin

    def __enter__(self) -> "Pager":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Wait until the pager has ended. Raise BrokenPipeError if the user left before the end."""
        try:
            if self._stream is not None:
                self._stream.close()
        except BrokenPipeError:
            if error is None:
                raise
        finally:
            self._pipe.end()
            if self._process is not None:
                _wait(self._process)
            if isinstance(sys.stderr, DelayedOutput):
                sys.stderr = sys.stderr.release()
            if self._hint:
                sys.stdout.flush()
                print(f"hint: {self._hint}", file=sys.stderr)


def _is_there(command: str) -> bool:
    """Return whether the program of a command line exists, after assignments of variables."""
    try:
        words = shlex.split(command)
    except ValueError:
        return False
    name = next((word for word in words if "=" not in word), "")
    return shutil.which(name) is not None


def _wait(process: subprocess.Popen[bytes]) -> None:
    """Wait until the pager has ended; an interrupt meanwhile is for the pager."""
    assert process.stdin is not None
    process.stdin.close()
    while True:
        try:
            process.wait()
        except KeyboardInterrupt:
            continue
        return


def text_width() -> int:
    """Return the number of columns for lines for people: those of the terminal, otherwise 100."""
    return shutil.get_terminal_size((100, 24)).columns


def rich_console(
    stream: TextIO | None, colors: bool, terminal: bool, before: Callable[[], None] = lambda: None
) -> "Console":
    """Return a console that never cuts or wraps a text. A stream of None is the current stderr.

    `before` is called before anything is printed on a terminal.

    rich's own console would exit if the output is closed; `main` handles closed pipes.
    """
    from rich.console import Console

    class Boundless(Console):
        def print(self, *objects: Any, **options: Any) -> None:
            if terminal:
                before()
            super().print(*objects, **options)

        def on_broken_pipe(self) -> None:
            raise BrokenPipeError

    system: Literal["auto", "standard"] = "auto" if terminal and understands_color(os.environ) else "standard"
    return Boundless(
        file=stream,
        stderr=stream is None,
        soft_wrap=True,
        highlight=False,
        markup=False,
        emoji=False,
        no_color=not colors,
        force_terminal=colors,
        color_system=system if colors else None,
    )
