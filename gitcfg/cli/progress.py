"""Progress of a long command: one line on a terminal, or lines that git shows as `remote:`."""

import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from enum import StrEnum
from typing import TextIO

import gitcfg.progress as progress
from gitcfg.model.text import safe
from gitcfg.progress import Step

_AFTER = 1.0  # seconds: most commands end earlier
_EVERY = 0.1
_MOST = 10.0  # seconds between lines that stay
_COUNTED = 100  # fewer steps of an unknown total are not counted
_ERASE = "\r\x1b[K"


class Progress(StrEnum):
    """When to show progress."""

    AUTO = "auto"
    ALWAYS = "always"
    NEVER = "never"


def describe(step: Step) -> tuple[str, str]:
    """Return the name of a step, and its progress."""
    doing = safe(f"{step.doing} {step.name}".strip())
    if step.total > 1:
        count = f" ({step.done:,} of {step.total:,})"
    else:
        count = f" ({step.done:,})" if step.done >= _COUNTED else ""
    return doing[:1].upper() + doing[1:], count


class ProgressLine:
    """One line on a terminal that is drawn again and again, and removed at the end.

    Any other output on the terminal clears it first.
    """

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._due = clock() + _AFTER
        self._drawn = False

    def __call__(self, step: Step) -> None:
        now = self._clock()
        if now < self._due and not step.blocks:
            return
        self._due = now + _EVERY
        doing, count = describe(step)
        room = shutil.get_terminal_size().columns - 1 - len(count)
        text = doing if len(doing) <= room else doing[: max(room - 3, 0)] + "..."
        self._write(f"{_ERASE}{text}{count}")
        self._drawn = True

    def clear(self) -> None:
        """Erase the line; draw the next one after a second at the earliest."""
        self._due = self._clock() + _AFTER
        if self._drawn:
            self._write(_ERASE)
            self._drawn = False

    def _write(self, text: str) -> None:
        with suppress(OSError, ValueError):  # a closed terminal does not end a command
            self._stream.write(text)
            self._stream.flush()


class ProgressLines:
    """Lines that stay, with growing intervals, if there is no terminal."""

    def __init__(self, stream: TextIO, clock: Callable[[], float] = time.monotonic) -> None:
        self._stream = stream
        self._clock = clock
        self._wait = _AFTER
        self._due = clock() + 2 * _AFTER

    def __call__(self, step: Step) -> None:
        now = self._clock()
        if now < self._due:
            return
        self._wait = min(2 * self._wait, _MOST)
        self._due = now + self._wait
        with suppress(OSError, ValueError):
            self._stream.write("".join((*describe(step), "\n")))
            self._stream.flush()

    def clear(self) -> None:
        """Do nothing, because written lines stay."""


_view: ProgressLine | ProgressLines | None = None


@contextmanager
def shown(when: Progress, terminal: bool) -> Iterator[None]:
    """Show progress on stderr until there are results; `terminal` is whether it can be drawn on."""
    global _view
    if when is not Progress.NEVER and terminal:
        _view = ProgressLine(sys.stderr)
    elif when is Progress.ALWAYS:
        _view = ProgressLines(sys.stderr)
    progress.listen(_view)
    try:
        yield
    finally:
        stop()


def stop() -> None:
    """Show no more progress: results are shown instead, or a long-running program begins."""
    global _view
    clear()
    _view = None
    progress.listen(None)


def clear() -> None:
    """Clear the line for other output, or start counting time again after an answer."""
    if _view is not None:
        _view.clear()


def lines_of_hook(when: Progress) -> ProgressLines | None:
    """Return the progress of a hook, whose stderr git relays as `remote:`; None if it is not shown."""
    return None if when is Progress.NEVER else ProgressLines(sys.stderr)
