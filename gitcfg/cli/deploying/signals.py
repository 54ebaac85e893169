"""Ctrl-C in a deploy: once, nobody else is begun; twice, nobody is waited for; then as ever.

So do SIGTERM, and SIGHUP where it is the first. A terminal that goes sends up to three of these (its end, the
shell's, that of the shell itself), and nobody who leaves means that nodes are to be left in the middle.
"""

import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_MOST = 2


@contextmanager
def interrupting(interrupt: Callable[[], None]) -> Iterator[None]:
    """Until the end, signals interrupt a deploy; after the second they end the program again."""
    before = {number: signal.getsignal(number) for number in _SIGNALS}
    count = 0

    def heard(number: int, frame: FrameType | None) -> None:
        nonlocal count
        if number == signal.SIGHUP and count:
            return
        count += 1
        interrupt()
        if count == _MOST:
            _restore(before)

    for number in _SIGNALS:
        if before[number] is not signal.SIG_IGN:  # who starts it with nohup means it
            signal.signal(number, heard)
    try:
        yield
    finally:
        _restore(before)


def _restore(before: Mapping[signal.Signals, object]) -> None:
    for number, handler in before.items():
        if handler is not None:
            signal.signal(number, handler)  # type: ignore[arg-type]
